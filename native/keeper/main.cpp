// SPDX-License-Identifier: Apache-2.0
// Keeps one guest on the host: starts its VMM (or connects to where one listens), says READY when the guest
// has, and serves `enter`. When either ends, so does the other; the last line on standard error says why.
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "common/exec.hpp"
#include "common/system.hpp"
#include "keeper/keeper.hpp"
#include "keeper/options.hpp"
#include "keeper/unix_socket.hpp"
#include "keeper/vmm.hpp"

namespace {

using namespace tare;

/// Removes the socket's file with the program's end.
class Listening {
  public:
    explicit Listening(const std::string& path) : path_{path}, socket_{keeper::listen_at(path)} {}
    Listening(const Listening&) = delete;
    Listening(Listening&&) = delete;
    Listening& operator=(const Listening&) = delete;
    Listening& operator=(Listening&&) = delete;
    ~Listening() { ::unlink(path_.c_str()); }

    FileDescriptor take() { return std::move(socket_); }

  private:
    std::string path_;
    FileDescriptor socket_;
};

FileDescriptor ending_signals() {
    static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
    sigset_t awaited;
    ::sigemptyset(&awaited);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
        ::sigaddset(&awaited, number);
    }
    ::sigprocmask(SIG_SETMASK, &awaited, nullptr);
    FileDescriptor signals{::signalfd(-1, &awaited, SFD_CLOEXEC | SFD_NONBLOCK)};
    if (!signals) {
        throw_errno("cannot wait for signals");
    }
    return signals;
}

/// Each client takes up to five descriptors. The VMM, started before, keeps the limit it was given.
void allow_many_files() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
    }
}

struct Guest {
    channel::Line line;
    std::unique_ptr<keeper::Vmm> vmm;
};

Guest start_vmm(const keeper::Options& options) {
    std::array<int, 2> numbers{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, numbers.data()) != 0) {
        throw_errno("cannot make the channel");
    }
    FileDescriptor ours{numbers[0]};
    const FileDescriptor theirs{numbers[1]};
    auto vmm = std::make_unique<keeper::Vmm>(options.vmm, theirs, options.descriptor);
    keeper::write_pid_file(options.pid_file, vmm->process());
    return {.line = channel::Line{std::move(ours)}, .vmm = std::move(vmm)};
}

/// Whoever runs the guest may still be about to listen.
Guest connect_to_guest(const keeper::Options& options) {
    constexpr std::chrono::milliseconds pause{20};
    const auto end = keeper::Clock::now() + options.ready_limit;
    for (;;) {
        try {
            // The guest may have begun to speak before.
            return {.line = channel::Line{keeper::connect_to(options.connect, SOCK_STREAM),
                                          channel::Decoder{channel::Decoder::Begin::at_hello}},
                    .vmm = nullptr};
        } catch (const std::system_error& error) {
            const int number = error.code().value();
            if ((number != ENOENT && number != ECONNREFUSED) || keeper::Clock::now() >= end) {
                throw;
            }
        }
        std::this_thread::sleep_for(pause);
    }
}

int keep(const keeper::Options& options) {
    auto signals = ending_signals();
    Listening listening{options.socket};
    auto guest = options.connect.empty() ? start_vmm(options) : connect_to_guest(options);
    allow_many_files();
    keeper::Keeper keeper{{.signals = std::move(signals),
                           .listening = listening.take(),
                           .line = std::move(guest.line),
                           .vmm = std::move(guest.vmm)},
                          options.ready_limit};
    return keeper.run();
}

}  // namespace

int main(int argc, char** argv) {
    const auto arguments = std::span<char* const>{argv, static_cast<std::size_t>(argc)}.subspan(1);
    try {
        return keep(keeper::parse_options(arguments));
    } catch (const keeper::WrongUse& error) {
        complain("keeper", error.what());
        return exit_wrong_use;
    } catch (const std::exception& error) {
        complain("keeper", error.what());
        return 1;
    }
}
