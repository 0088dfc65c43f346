// SPDX-License-Identifier: Apache-2.0
#include "stopwatch/launch.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "common/exec.hpp"
#include "common/system.hpp"

namespace tare::stopwatch {

namespace {

constexpr std::size_t stack_byte = std::size_t{64} * 1024;
constexpr mode_t output_mode = 0644;

FileDescriptor open_file(const std::string& path, int flags) {
    FileDescriptor file{::open(path.c_str(), flags | O_CLOEXEC, output_mode)};
    if (!file) {
        throw_errno("cannot open '" + path + "'");
    }
    return file;
}

FileDescriptor open_output(const std::string& path) { return open_file(path, O_WRONLY | O_CREAT | O_TRUNC); }

/// Both outputs to one file share its position, so that neither overwrites the other.
FileDescriptor duplicate(const FileDescriptor& file) {
    FileDescriptor copy{::fcntl(file.number(), F_DUPFD_CLOEXEC, 0)};
    if (!copy) {
        throw_errno("cannot duplicate an output file");
    }
    return copy;
}

/// Devices, such as /dev/null, are everybody's already.
void give(const FileDescriptor& file, const User& owner) {
    struct stat status {};
    if (::fstat(file.number(), &status) != 0 ||
        (!S_ISCHR(status.st_mode) && ::fchown(file.number(), owner.user, owner.group) != 0)) {
        throw_errno("cannot give the command's user its files");
    }
}

}  // namespace

std::vector<std::string> candidate_paths(const std::string& command,
                                         const std::vector<std::string>& variables) {
    constexpr std::string_view label = "PATH=";
    if (command.empty() || command.find('/') != std::string::npos) {
        return {command};
    }
    std::string_view folders = "/bin:/usr/bin";
    for (const std::string& variable : variables) {
        if (variable.starts_with(label)) {
            folders = std::string_view{variable}.substr(label.size());
        }
    }
    std::vector<std::string> paths;
    for (;;) {
        const auto colon = folders.find(':');
        const auto folder = folders.substr(0, colon);
        paths.push_back(std::string{folder.empty() ? "." : folder} + '/' + command);
        if (colon == std::string_view::npos) {
            return paths;
        }
        folders.remove_prefix(colon + 1);
    }
}

Launch::Launch(const Options& options)
    : name_{options.command.front()},
      stdin_file_{options.stdin_file},
      paths_{candidate_paths(name_, options.variables)},
      arguments_{options.command},
      variables_{options.variables},
      argument_pointers_{pointers_to(arguments_)},
      variable_pointers_{pointers_to(variables_)},
      file_limit_byte_{options.file_limit_byte},
      restrictions_{options.restrictions},
      stack_(stack_byte) {
    if (!options.directory.empty() && ::chdir(options.directory.c_str()) != 0) {
        throw_errno("cannot enter the directory '" + options.directory + "'");
    }
    stdout_ = open_output(options.stdout_file);
    const bool same = options.stderr_file == options.stdout_file;
    stderr_ = same ? duplicate(stdout_) : open_output(options.stderr_file);
    if (options.turns) {
        redirect_to_turns();
    }
    give_files();
    if (!options.processors.empty()) {
        processors_.emplace(options.processors);
    }
}

void Launch::redirect_to_turns() {
    turns_.emplace(std::move(stdout_), file_limit_byte_);
    stdin_ = turns_->take_command_input();
    stdout_ = turns_->take_command_output();
}

void Launch::give_files() const {
    const auto owner = restrictions_.owner();
    if (!owner) {
        return;
    }
    // Programs open /dev/stdout anew, which takes the rights to the file behind it.
    if (turns_) {
        give(stdin_, *owner);
    }
    give(stdout_, *owner);
    give(stderr_, *owner);
}

/// Only then do pipes end with the command.
void Launch::close_redirected() {
    stdin_ = FileDescriptor{};
    stdout_ = FileDescriptor{};
}

pid_t Launch::start() {
    progress_ = {};
    // As posix_spawn(3) does it: the parent sleeps until the child executes, so nothing is copied.
    const pid_t child =
        ::clone(run_child, std::to_address(stack_.end()), CLONE_VM | CLONE_VFORK | SIGCHLD, this);
    if (child < 0) {
        throw_errno("cannot start a process");
    }
    close_redirected();
    if (progress_.error_number != 0) {
        throw std::runtime_error(failure());
    }
    return child;
}

int Launch::run_child(void* launch) {
    auto& self = *static_cast<Launch*>(launch);
    self.prepare_child();
    if (self.progress_.error_number == 0) {
        self.execute();
    }
    ::_exit(1);
}

void Launch::prepare_child() {
    const auto attempt = [this](const char* step, int result) {
        if (result < 0 && progress_.error_number == 0) {
            progress_ = {.step = step, .error_number = errno};
        }
    };
    attempt("make a process group", ::setpgid(0, 0));
    attempt("redirect its output", ::dup2(stdout_.number(), STDOUT_FILENO));
    attempt("redirect its error output", ::dup2(stderr_.number(), STDERR_FILENO));
    if (processors_) {
        attempt("use the processors asked for", processors_->bind_caller());
    }
    if (file_limit_byte_) {
        const rlimit limit{.rlim_cur = *file_limit_byte_, .rlim_max = *file_limit_byte_};
        attempt("limit the size of its files", ::setrlimit(RLIMIT_FSIZE, &limit));
    }
    if (const char* const step = restrictions_.apply()) {
        attempt(step, -1);
    }
    attempt("open its input", take_input());
    // Another user's process would have forgotten it (prctl(2)).
    attempt("be tied to the stopwatch's life", ::prctl(PR_SET_PDEATHSIG, SIGKILL));
    sigset_t none;
    ::sigemptyset(&none);
    attempt("unblock its signals", ::sigprocmask(SIG_SETMASK, &none, nullptr));
}

/// A file is opened here, as the command's own user: the stopwatch may be root, and lends nobody its rights.
int Launch::take_input() const {
    const int input = turns_ ? stdin_.number() : ::open(stdin_file_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    return input < 0 ? input : ::dup2(input, STDIN_FILENO);
}

void Launch::execute() {
    bool denied = false;
    for (const std::string& path : paths_) {
        ::execve(path.c_str(), argument_pointers_.data(), variable_pointers_.data());
        denied = denied || errno == EACCES;
        if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) {
            break;
        }
    }
    // execvp(3): a file that was found but may not be executed is the better reason.
    progress_.error_number = denied ? EACCES : errno;
}

std::string Launch::failure() const {
    const std::string reason = error_text(progress_.error_number);
    if (progress_.step == nullptr) {
        return "cannot execute '" + name_ + "': " + reason;
    }
    return "'" + name_ + "' cannot " + progress_.step + ": " + reason;
}

}  // namespace tare::stopwatch
