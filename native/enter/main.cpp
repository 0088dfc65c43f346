// SPDX-License-Identifier: Apache-2.0
// Runs a command in a guest as if it were here: enter SOCKET [OPTION]... -- COMMAND ARGUMENT...
//
// The keeper at the socket gets the three standard files and copies their bytes itself; what it has read of
// the input is gone for whoever reads it next. Signals that end or tell something are passed on, and this
// program ends as the command did. Its own failures have the exit codes of env(1): 125 when there is no guest
// to ask, 126 when the command cannot be run, 127 when it is not there.
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <system_error>

#include "channel/frame.hpp"
#include "common/exec.hpp"
#include "common/file_descriptor.hpp"
#include "common/system.hpp"
#include "enter/options.hpp"
#include "keeper/unix_socket.hpp"

namespace {

using namespace tare;

constexpr std::string_view program = "enter";
constexpr int exit_no_guest = 125;
constexpr int exit_signalled = 128;  // as of the shell (POSIX XCU 2.8.2)
constexpr std::array standard_files{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};

/// Whoever started us may have left out a standard file, whose number another file would take.
void complete_standard_files() {
    for (const int file : standard_files) {
        if (::fcntl(file, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) < 0) {
            throw_errno("cannot open /dev/null");
        }
    }
}

/// From now on they come as bytes, not as interruptions.
FileDescriptor signals_to_pass_on() {
    sigset_t passed;
    ::sigemptyset(&passed);
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
        ::sigaddset(&passed, number);
    }
    ::sigprocmask(SIG_BLOCK, &passed, nullptr);
    FileDescriptor signals{::signalfd(-1, &passed, SFD_CLOEXEC | SFD_NONBLOCK)};
    if (!signals) {
        throw_errno("cannot wait for signals");
    }
    return signals;
}

void pass_on_signal(const FileDescriptor& signals, const FileDescriptor& connection) {
    signalfd_siginfo info{};
    if (::read(signals.number(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
        static_cast<void>(keeper::send_message(connection.number(), std::to_string(info.ssi_signo)));
    }
}

/// How the command ended; nothing when the keeper went without a word.
std::optional<channel::Exit> wait_for_end(const FileDescriptor& signals, const FileDescriptor& connection) {
    for (;;) {
        std::array polled{pollfd{.fd = connection.number(), .events = POLLIN, .revents = 0},
                          pollfd{.fd = signals.number(), .events = POLLIN, .revents = 0}};
        ::poll(polled.data(), polled.size(), -1);  // as long as the command runs: its caller has the limit
        const auto message =
            polled[0].revents != 0 ? keeper::receive_message(connection.number()) : std::nullopt;
        if (message) {
            return message->bytes.empty() ? std::nullopt
                                          : std::optional{channel::decode_exit(message->bytes)};
        }
        if (polled[1].revents != 0) {
            pass_on_signal(signals, connection);
        }
    }
}

/// Ends by the same signal, so that the caller sees what it would see of the command itself; without a core
/// file, which would be ours. Returns where the signal does not end this program.
int end_by(int signal) {
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    static_cast<void>(::setrlimit(RLIMIT_CORE, &none));
    static_cast<void>(std::signal(signal, SIG_DFL));
    sigset_t only;
    ::sigemptyset(&only);
    ::sigaddset(&only, signal);
    ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
    static_cast<void>(::raise(signal));
    return exit_signalled + signal;
}

int end_as(const channel::Exit& exit) {
    if (exit.how == channel::Exit::How::code) {
        return exit.number;
    }
    if (exit.how == channel::Exit::How::signal) {
        return end_by(exit.number);
    }
    complain(program, exit.text);
    if (exit.number == keeper::guest_gone) {
        return exit_no_guest;
    }
    return exit.number == ENOENT ? exit_cannot_execute : exit_cannot_prepare;
}

std::optional<FileDescriptor> connect_to_keeper(const std::string& socket) {
    try {
        return keeper::connect_to(socket, SOCK_SEQPACKET);
    } catch (const std::system_error& error) {
        complain(program, std::string{"no guest to ask: "} + error.what());
        return std::nullopt;
    }
}

int run(const enter::Options& options) {
    complete_standard_files();
    const auto request = channel::encode_execute(options.command);
    if (request.size() > channel::largest_payload) {
        complain(program, "the command is longer than " + std::to_string(channel::largest_payload) + " byte");
        return exit_cannot_prepare;
    }
    const auto signals = signals_to_pass_on();
    const auto connection = connect_to_keeper(options.socket);
    if (!connection) {
        return exit_no_guest;
    }
    if (!keeper::send_message(connection->number(), request, standard_files)) {
        complain(program, "cannot ask the guest's keeper: " + error_text(errno));
        return exit_no_guest;
    }
    if (const auto exit = wait_for_end(signals, *connection)) {
        return end_as(*exit);
    }
    complain(program, "the guest's keeper ended");
    return exit_no_guest;
}

}  // namespace

int main(int argc, char** argv) {
    const auto arguments = std::span<char* const>{argv, static_cast<std::size_t>(argc)}.subspan(1);
    try {
        return run(enter::parse_options(arguments));
    } catch (const enter::WrongUse& error) {
        complain(program, error.what());
        return exit_wrong_use;
    } catch (const std::exception& error) {
        complain(program, error.what());
        return exit_cannot_prepare;
    }
}
