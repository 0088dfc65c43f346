// SPDX-License-Identifier: Apache-2.0
#include "bounce/connections.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <exception>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

#include "bounce/percentile.hpp"
#include "common/json.hpp"
#include "common/number.hpp"
#include "common/system.hpp"
#include "meet/sockets.hpp"

namespace tare::bounce {

namespace {

using Byte = unsigned char;
using Times = std::vector<std::int64_t>;

constexpr std::uint64_t warm_up = 100;
constexpr timeval connection_patience{.tv_sec = 10, .tv_usec = 0};
constexpr int backlog = 1024;
constexpr double second_ns = 1e9;
constexpr Byte how_many = 0;  // asks for the number of answers; any other byte is answered by its complement
constexpr unsigned byte_values = 255;

void limit_waiting(const FileDescriptor& socket) {
    for (const int direction : {SO_RCVTIMEO, SO_SNDTIMEO}) {
        if (::setsockopt(socket.number(), SOL_SOCKET, direction, &connection_patience,
                         sizeof connection_patience) != 0) {
            throw_errno("cannot limit a socket's waiting");
        }
    }
}

/// What came, up to the end of `buffer`; as ::recv, which a signal may interrupt.
ssize_t received(const FileDescriptor& socket, std::span<char> buffer) {
    ssize_t count = 0;
    do {
        count = ::recv(socket.number(), buffer.data(), buffer.size(), 0);
    } while (count < 0 && errno == EINTR);
    return count;
}

void answer(const FileDescriptor& connection, std::atomic<std::uint64_t>& answered) {
    std::array<char, 1> byte{};
    if (received(connection, byte) != 1) {
        return;
    }
    if (static_cast<Byte>(byte[0]) == how_many) {
        const std::string count = std::to_string(answered);
        static_cast<void>(::send(connection.number(), count.data(), count.size(), MSG_NOSIGNAL));
        return;
    }
    ++answered;  // before the client can ask
    byte[0] = static_cast<char>(~byte[0]);
    if (::send(connection.number(), byte.data(), byte.size(), MSG_NOSIGNAL) == 1) {
        static_cast<void>(received(connection, byte));  // the client closes first
    }
}

void serve(const FileDescriptor& listener, std::atomic<std::uint64_t>& answered) {
    while (true) {
        const FileDescriptor connection{::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC)};
        if (connection) {
            limit_waiting(connection);
            answer(connection, answered);
        } else if (errno != EINTR && errno != ECONNABORTED && errno != EAGAIN) {
            throw_errno("cannot accept a connection");
        }
    }
}

/// A socket whose end is a reset (RFC 9293, 3.10.4): nothing of it is left in TIME-WAIT, which would keep its
/// port for a minute, so that ports never run out, and no run begins with what the one before has left.
FileDescriptor resetting_socket() {
    FileDescriptor socket = internet_socket(SOCK_STREAM);
    const linger reset{.l_onoff = 1, .l_linger = 0};
    if (::setsockopt(socket.number(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset) != 0) {
        throw_errno("cannot have a connection end by a reset");
    }
    limit_waiting(socket);
    return socket;
}

void open(const FileDescriptor& socket, const sockaddr_in& server) {
    if (::connect(socket.number(), generic(server), sizeof server) != 0) {
        errno = errno == EINPROGRESS ? ETIMEDOUT : errno;  // the limit of its waiting was reached
        throw_errno("cannot open a connection");
    }
}

void send_byte(const FileDescriptor& socket, Byte byte) {
    if (::send(socket.number(), &byte, sizeof byte, MSG_NOSIGNAL) != 1) {
        throw_errno("cannot send a byte");
    }
}

/// One connection: opened, a byte there and back, closed. The time it took.
std::int64_t connect_once(const sockaddr_in& server, Byte byte) {
    std::array<char, 1> answered{};
    FileDescriptor socket = resetting_socket();
    const std::int64_t begin_ns = monotonic_raw_ns();
    open(socket, server);
    send_byte(socket, byte);
    const ssize_t count = received(socket, answered);
    if (count < 0) {
        throw_errno("no answer came over a connection");
    }
    socket = FileDescriptor{};
    const std::int64_t time_ns = monotonic_raw_ns() - begin_ns;
    if (count == 0 || answered[0] != static_cast<char>(~byte)) {
        throw std::runtime_error("a connection brought another byte than the answer, or none");
    }
    return time_ns;
}

Times connect_often(const sockaddr_in& server, std::uint64_t connections) {
    Times times_ns;
    times_ns.reserve(connections);
    for (std::uint64_t number = 0; number < connections; ++number) {
        times_ns.push_back(connect_once(server, static_cast<Byte>(1 + number % byte_values)));
    }
    return times_ns;
}

/// Each thread opens its share, one after the other; all of their times.
Times connect_in_threads(const sockaddr_in& server, std::uint64_t connections, unsigned threads) {
    std::vector<Times> parts(threads);
    std::vector<std::exception_ptr> failures(threads);
    {
        std::vector<std::jthread> running;
        for (unsigned number = 0; number < threads; ++number) {
            running.emplace_back([&, number] {
                try {
                    const std::uint64_t rest = number < connections % threads ? 1 : 0;
                    parts[number] = connect_often(server, connections / threads + rest);
                } catch (...) {
                    failures[number] = std::current_exception();
                }
            });
        }
    }
    Times all_ns;
    for (unsigned number = 0; number < threads; ++number) {
        if (failures[number]) {
            std::rethrow_exception(failures[number]);
        }
        all_ns.insert(all_ns.end(), parts[number].begin(), parts[number].end());
    }
    return all_ns;
}

std::uint64_t answered_by(const sockaddr_in& server) {
    constexpr std::size_t most_digits = 32;
    const FileDescriptor socket = resetting_socket();
    open(socket, server);
    send_byte(socket, how_many);
    std::array<char, most_digits> text{};
    std::size_t length = 0;
    ssize_t count = 0;
    while (length < text.size() && (count = received(socket, std::span{text}.subspan(length))) > 0) {
        length += static_cast<std::size_t>(count);
    }
    const auto number = parse_number<std::uint64_t>(std::string_view{text.data(), length});
    if (!number) {
        throw std::runtime_error("the server does not say how many connections it has answered");
    }
    return *number;
}

}  // namespace

void serve_connections(std::uint16_t port, unsigned threads) {
    const FileDescriptor listener = listen_on(port, backlog);
    std::atomic<std::uint64_t> answered{0};
    std::vector<std::jthread> others;
    for (unsigned number = 1; number < threads; ++number) {
        others.emplace_back([&] { serve(listener, answered); });
    }
    serve(listener, answered);
    std::terminate();
}

std::string time_connections(const sockaddr_in& server, std::uint64_t connections, unsigned threads) {
    static_cast<void>(connect_often(server, warm_up));
    const std::int64_t begin_ns = monotonic_raw_ns();
    Times times_ns = connect_in_threads(server, connections, threads);
    const std::int64_t wall_ns = monotonic_raw_ns() - begin_ns;
    const std::uint64_t answered = answered_by(server) - warm_up;
    if (answered != connections) {
        throw std::runtime_error("the server answered " + std::to_string(answered) + " connections of " +
                                 std::to_string(connections));
    }
    std::sort(times_ns.begin(), times_ns.end());
    JsonObject json;
    json.add("program", "bounce").add("connections", times_ns.size()).add("answered", answered);
    json.add("threads", threads).add("wall_s", static_cast<double>(wall_ns) / second_ns);
    const auto sum_ns =
        static_cast<double>(std::accumulate(times_ns.begin(), times_ns.end(), std::int64_t{0}));
    json.add("mean_s", sum_ns / static_cast<double>(times_ns.size()) / second_ns);
    constexpr std::array<std::pair<const char*, std::uint64_t>, 5> percentiles{
        {{"p50_s", 500}, {"p90_s", 900}, {"p99_s", 990}, {"p99_9_s", 999}, {"most_s", 1000}}};
    for (const auto& [name, per_mille] : percentiles) {
        json.add(name, static_cast<double>(percentile(times_ns, per_mille)) / second_ns);
    }
    return json.text() + '\n';
}

}  // namespace tare::bounce
