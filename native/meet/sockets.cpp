// SPDX-License-Identifier: Apache-2.0
#include "meet/sockets.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <csignal>
#include <ctime>
#include <sstream>
#include <utility>

#include "common/system.hpp"

namespace tare {

namespace {

constexpr std::string_view listening = "0A";    // TCP_LISTEN of include/net/tcp_states.h
constexpr std::string_view unconnected = "07";  // TCP_CLOSE, which every UDP socket without a peer has

sigset_t child_signal() {
    sigset_t signals{};
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    return signals;
}

}  // namespace

sockaddr_in internet_address(in_addr_t number, std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = number;
    address.sin_port = htons(port);
    return address;
}

const sockaddr* generic(const sockaddr_in& address) {
    return reinterpret_cast<const sockaddr*>(&address);  // NOLINT(*-reinterpret-cast): the API's own way
}

FileDescriptor internet_socket(int type) {
    FileDescriptor socket{::socket(AF_INET, type | SOCK_CLOEXEC, 0)};
    if (!socket) {
        throw_errno("cannot make a socket");
    }
    return socket;
}

FileDescriptor listen_on(std::uint16_t port, int backlog) {
    FileDescriptor listener = internet_socket(SOCK_STREAM);
    const int yes = 1;
    static_cast<void>(::setsockopt(listener.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes));
    const auto address = internet_address(htonl(INADDR_ANY), port);
    if (::bind(listener.number(), generic(address), sizeof address) != 0 ||
        ::listen(listener.number(), backlog) != 0) {
        throw_errno("cannot listen on port " + std::to_string(port));
    }
    return listener;
}

bool is_listener(std::string_view line, std::uint16_t port) {
    std::istringstream words{std::string{line}};
    std::string slot;
    std::string local;
    std::string remote;
    std::string state;
    words >> slot >> local >> remote >> state;
    const auto colon = local.rfind(':');
    if (colon == std::string::npos || (state != listening && state != unconnected)) {
        return false;
    }
    std::istringstream digits{local.substr(colon + 1)};
    unsigned number = 0;
    digits >> std::hex >> number;
    return !digits.fail() && number == port;
}

bool listens(std::uint16_t port) {
    for (const auto* const path : {"/proc/net/tcp", "/proc/net/udp", "/proc/net/tcp6", "/proc/net/udp6"}) {
        std::istringstream lines{read_text(path).value_or("")};
        for (std::string line; std::getline(lines, line);) {
            if (is_listener(line, port)) {
                return true;
            }
        }
    }
    return false;
}

std::string address_of(std::string_view host, std::string_view hosts) {
    in_addr number{};
    if (std::string text{host}; ::inet_pton(AF_INET, text.c_str(), &number) == 1) {
        return text;
    }
    std::istringstream lines{std::string{hosts}};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words{line.substr(0, line.find('#'))};
        std::string address;
        words >> address;
        for (std::string name; words >> name;) {
            if (name == host && ::inet_pton(AF_INET, address.c_str(), &number) == 1) {
                return address;
            }
        }
    }
    return {};
}

std::string address_of_node(std::string_view host) {
    return address_of(host, read_text("/etc/hosts").value_or(""));
}

FileDescriptor accept_one(std::uint16_t port, std::chrono::milliseconds limit) {
    const FileDescriptor listener = listen_on(port, 1);
    pollfd waiting{.fd = listener.number(), .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, static_cast<int>(limit.count())) <= 0) {
        return FileDescriptor{};
    }
    return FileDescriptor{::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC)};
}

FileDescriptor connect_to(const std::string& host, std::uint16_t port) {
    const std::string number = address_of_node(host);
    if (number.empty()) {
        return FileDescriptor{};
    }
    auto socket = internet_socket(SOCK_STREAM);
    const auto address = internet_address(::inet_addr(number.c_str()), port);
    const bool connected = ::connect(socket.number(), generic(address), sizeof address) == 0;
    return connected ? std::move(socket) : FileDescriptor{};
}

bool wait_for_end(const FileDescriptor& connection) {
    sigset_t signals{};
    sigprocmask(SIG_SETMASK, nullptr, &signals);
    sigdelset(&signals, SIGCHLD);
    pollfd waiting{.fd = connection.number(), .events = POLLIN, .revents = 0};
    return ::ppoll(&waiting, 1, nullptr, &signals) > 0;  // nothing is ever sent, so it is the end
}

void block_child_signal() {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    ::sigaction(SIGCHLD, &action, nullptr);
    const auto signals = child_signal();
    sigprocmask(SIG_BLOCK, &signals, nullptr);
}

void unblock_child_signal() {
    const auto signals = child_signal();
    sigprocmask(SIG_UNBLOCK, &signals, nullptr);
}

}  // namespace tare
