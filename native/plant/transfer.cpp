// SPDX-License-Identifier: Apache-2.0
#include "plant/transfer.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <numeric>
#include <span>
#include <utility>

#include "common/file_descriptor.hpp"
#include "common/system.hpp"

namespace tare::plant {

namespace {

constexpr std::size_t chunk_byte = std::size_t{64} * 1024;
using Chunk = std::array<unsigned char, chunk_byte>;

/// The two ends of one connection.
struct Connection {
    FileDescriptor sender;
    FileDescriptor receiver;
};

FileDescriptor checked(int descriptor, const char* what) {
    if (descriptor < 0) {
        throw_errno(what);
    }
    return FileDescriptor{descriptor};
}

void check(int result, const char* what) {
    if (result < 0) {
        throw_errno(what);
    }
}

/// The listener's queue takes the connection before anybody accepts it, so that one process can make both
/// ends.
Connection connect_to_itself() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const general =
        reinterpret_cast<sockaddr*>(&address);  // NOLINT(*-reinterpret-cast): the API's own way
    const auto listener = checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "cannot make a socket");
    check(::bind(listener.number(), general, length), "cannot bind to the loopback device");
    check(::listen(listener.number(), 1), "cannot listen");
    check(::getsockname(listener.number(), general, &length), "cannot tell the port");
    auto sender = checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "cannot make a socket");
    check(::connect(sender.number(), general, length), "cannot connect over the loopback device");
    auto receiver =
        checked(::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC), "cannot take the connection");
    return {std::move(sender), std::move(receiver)};
}

/// In the child: writes it all and ends; a short read on the other side tells of a failure.
[[noreturn]] void send_all(int descriptor, std::size_t size_byte, pid_t parent) {
    static_cast<void>(::prctl(PR_SET_PDEATHSIG, SIGKILL));
    if (::getppid() != parent) {
        ::_exit(1);
    }
    Chunk chunk{};
    std::iota(chunk.begin(), chunk.end(), static_cast<unsigned char>(0));
    for (std::size_t sent = 0; sent < size_byte;) {
        const auto rest = std::span{chunk}.subspan(sent % chunk_byte);
        const auto written =
            ::send(descriptor, rest.data(), std::min(rest.size(), size_byte - sent), MSG_NOSIGNAL);
        if (written < 0 && errno != EINTR) {
            ::_exit(1);
        }
        sent += static_cast<std::size_t>(std::max<ssize_t>(written, 0));
    }
    ::_exit(0);
}

Received receive_all(int descriptor) {
    Received received{0, 0};
    Chunk chunk{};
    for (;;) {
        const auto count = ::read(descriptor, chunk.data(), chunk.size());
        if (count == 0) {
            return received;
        }
        if (count < 0) {
            if (errno == EINTR) {
                continue;
            }
            throw_errno("the connection broke");
        }
        const std::span<const unsigned char> bytes{chunk.data(), static_cast<std::size_t>(count)};
        received.checksum = std::accumulate(bytes.begin(), bytes.end(), received.checksum);
        received.size_byte += bytes.size();
    }
}

}  // namespace

Received transfer(std::size_t size_byte) {
    auto connection = connect_to_itself();
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) {
        throw_errno("cannot start a process");
    }
    if (child == 0) {
        connection.receiver = FileDescriptor{};
        send_all(connection.sender.number(), size_byte, parent);
    }
    connection.sender = FileDescriptor{};
    const auto received = receive_all(connection.receiver.number());
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return received;
}

}  // namespace tare::plant
