// SPDX-License-Identifier: Apache-2.0
#include "init/start.hpp"

#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

#include "common/exec.hpp"

namespace tare::init {

namespace {

/// What posix_spawn(3) does in the child before it executes the command.
class Actions {
  public:
    Actions(const std::string& directory, std::span<const FileDescriptor> files) {
        ::posix_spawn_file_actions_init(&actions_);
        int place = STDIN_FILENO;
        for (const FileDescriptor& file : files) {
            ::posix_spawn_file_actions_adddup2(&actions_, file.number(), place++);
        }
        ::posix_spawn_file_actions_addchdir_np(&actions_, directory.c_str());
    }
    Actions(const Actions&) = delete;
    Actions& operator=(const Actions&) = delete;
    Actions(Actions&&) = delete;
    Actions& operator=(Actions&&) = delete;
    ~Actions() { ::posix_spawn_file_actions_destroy(&actions_); }

    [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

  private:
    posix_spawn_file_actions_t actions_{};
};

class Attributes {
  public:
    Attributes() {
        sigset_t none;
        ::sigemptyset(&none);
        sigset_t every;
        ::sigfillset(&every);
        ::posix_spawnattr_init(&attributes_);
        ::posix_spawnattr_setsigmask(&attributes_, &none);
        ::posix_spawnattr_setsigdefault(&attributes_, &every);
        constexpr int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID;
        ::posix_spawnattr_setflags(&attributes_, static_cast<short>(flags));
    }
    Attributes(const Attributes&) = delete;
    Attributes& operator=(const Attributes&) = delete;
    Attributes(Attributes&&) = delete;
    Attributes& operator=(Attributes&&) = delete;
    ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }

    [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

  private:
    posix_spawnattr_t attributes_{};
};

}  // namespace

pid_t start(const channel::Execute& command, std::span<const FileDescriptor> files) {
    auto words = command.arguments;
    auto settings = command.variables;
    const auto arguments = pointers_to(words);
    const auto variables = pointers_to(settings);
    const Actions actions{command.directory, files};
    const Attributes attributes;
    pid_t process = 0;
    char** const ours = environ;
    environ = const_cast<char**>(variables.data());  // NOLINT: posix_spawnp(3) searches the caller's PATH
    const int error = ::posix_spawnp(&process, arguments.front(), actions.get(), attributes.get(),
                                     arguments.data(), variables.data());
    environ = ours;
    errno = error;
    return error == 0 ? process : -1;
}

}  // namespace tare::init
