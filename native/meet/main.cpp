// SPDX-License-Identifier: Apache-2.0
// Lets a client meet a server that nothing but a signal ends, each started by one launch:
//   meet serve MEETING_PORT SERVICE_PORT COMMAND...   runs the server until the client has ended
//   meet call HOST MEETING_PORT COMMAND...            runs the client once the server listens; a word
//   {server} of the
//                                                     command becomes the host's address
// They hold a connection for as long as the client runs, and either ends if the other does too early.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/exec.hpp"
#include "common/number.hpp"
#include "common/system.hpp"
#include "meet/sockets.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view program = "meet";
constexpr std::chrono::milliseconds pause_between{10};
constexpr std::chrono::seconds patience{30};
constexpr std::chrono::seconds grace{5};
constexpr int exit_lost = 1;
constexpr int exit_signalled = 128;  // as of the shell (POSIX XCU 2.8.2)

/// A command that ends with this program at the latest.
class Child {
  public:
    explicit Child(std::span<char* const> command) : number_{started(command)} {}
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    Child(Child&&) = delete;
    Child& operator=(Child&&) = delete;
    ~Child() {
        if (!ended()) {
            ::kill(number_, SIGKILL);
            while (::waitpid(number_, nullptr, 0) < 0 && errno == EINTR) {
            }
        }
    }

    [[nodiscard]] bool ended() {
        if (!ended_ && ::waitpid(number_, &status_, WNOHANG) == number_) {
            ended_ = true;
        }
        return ended_;
    }

    /// Of a command that has ended.
    [[nodiscard]] int code() const {
        return WIFSIGNALED(status_) ? exit_signalled + WTERMSIG(status_) : WEXITSTATUS(status_);
    }

    /// Asks it to end, and insists after a while.
    void stop() {
        ::kill(number_, SIGTERM);
        const auto end = Clock::now() + grace;
        while (!ended() && Clock::now() < end) {
            std::this_thread::sleep_for(pause_between);
        }
    }

  private:
    static pid_t started(std::span<char* const> command) {
        const pid_t parent = ::getpid();
        const pid_t number = ::fork();
        if (number < 0) {
            tare::throw_errno("cannot start a process");
        }
        if (number == 0) {
            static_cast<void>(::prctl(PR_SET_PDEATHSIG, SIGKILL));
            tare::unblock_child_signal();
            ::_exit(::getppid() == parent ? tare::become(program, command) : tare::exit_cannot_prepare);
        }
        return number;
    }

    pid_t number_;
    int status_ = 0;
    bool ended_ = false;
};

int lost(std::string_view what) {
    tare::complain(program, what);
    return exit_lost;
}

int serve(std::uint16_t meeting_port, std::uint16_t service_port, std::span<char* const> command) {
    Child server{command};
    const auto end = Clock::now() + patience;
    while (!tare::listens(service_port)) {
        if (server.ended() || Clock::now() > end) {
            return lost("the server does not listen on port " + std::to_string(service_port));
        }
        std::this_thread::sleep_for(pause_between);
    }
    const auto meeting = tare::accept_one(meeting_port, patience);
    if (!meeting) {
        return lost("no client came");
    }
    while (!server.ended()) {
        if (tare::wait_for_end(meeting)) {
            server.stop();
            return 0;
        }
    }
    return lost("the server ended before its client, with exit code " + std::to_string(server.code()));
}

std::vector<std::string> with_address(std::span<char* const> command, const std::string& address) {
    std::vector<std::string> words{command.begin(), command.end()};
    std::replace(words.begin(), words.end(), std::string{"{server}"}, address);
    return words;
}

int call(const std::string& host, std::uint16_t meeting_port, std::span<char* const> command) {
    const auto end = Clock::now() + patience;
    auto meeting = tare::connect_to(host, meeting_port);
    while (!meeting) {
        if (Clock::now() > end) {
            return lost("no server came to " + host);
        }
        std::this_thread::sleep_for(pause_between);
        meeting = tare::connect_to(host, meeting_port);
    }
    auto words = with_address(command, tare::address_of_node(host));
    auto pointers = tare::pointers_to(words);
    Child client{std::span{pointers}.first(words.size())};
    while (!client.ended()) {
        if (tare::wait_for_end(meeting)) {
            return lost("the server ended before its client");
        }
    }
    return client.code();
}

std::uint16_t parse_port(std::string_view text) {
    const auto port = tare::parse_number<std::uint16_t>(text);
    if (!port || *port == 0) {
        throw std::invalid_argument("'" + std::string{text} + "' is not a port");
    }
    return *port;
}

}  // namespace

int main(int argc, char** argv) {
    constexpr std::size_t command_at = 4;
    const std::span<char* const> arguments{argv, static_cast<std::size_t>(argc)};
    const std::string_view role = arguments.size() > command_at ? arguments[1] : "";
    if (role != "serve" && role != "call") {
        tare::complain(program,
                       "write: meet serve PORT SERVICE_PORT COMMAND... or meet call HOST PORT COMMAND...");
        return tare::exit_wrong_use;
    }
    const auto command = arguments.subspan(command_at);
    try {
        tare::block_child_signal();
        return role == "serve" ? serve(parse_port(arguments[2]), parse_port(arguments[3]), command)
                               : call(arguments[2], parse_port(arguments[3]), command);
    } catch (const std::invalid_argument& error) {
        tare::complain(program, error.what());
        return tare::exit_wrong_use;
    } catch (const std::exception& error) {
        tare::complain(program, error.what());
        return tare::exit_cannot_prepare;
    }
}
