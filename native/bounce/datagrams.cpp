// SPDX-License-Identifier: Apache-2.0
#include "bounce/datagrams.hpp"

#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>

#include "common/json.hpp"
#include "common/system.hpp"
#include "meet/sockets.hpp"

namespace tare::bounce {

namespace {

constexpr int most_lost_in_a_row = 20;
constexpr double nanoseconds = 1e9;  // in a second

/// What one size did.
struct Figures {
    double best_ns = std::numeric_limits<double>::infinity();
    std::uint64_t answered = 0;
    std::uint64_t lost = 0;
};

class Client {
  public:
    Client(const sockaddr_in& server, std::chrono::milliseconds patience)
        : socket_{internet_socket(SOCK_DGRAM)}, patience_{patience} {
        const auto whole = std::chrono::duration_cast<std::chrono::seconds>(patience);
        const timeval limit{.tv_sec = whole.count(),
                            .tv_usec = std::chrono::microseconds{patience - whole}.count()};
        if (::setsockopt(socket_.number(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0 ||
            ::connect(socket_.number(), generic(server), sizeof server) != 0) {
            throw_errno("cannot send datagrams to the server");
        }
    }

    Figures measure(std::size_t size_byte, Trips wanted) {
        constexpr std::size_t factor = 131;
        sent_.resize(size_byte);
        for (std::size_t place = 0; place < size_byte; ++place) {
            sent_[place] = static_cast<unsigned char>(place * factor + size_byte);
        }
        Figures figures;
        for (std::uint64_t round = 0; round < wanted.rounds; ++round) {
            double sum_ns = 0;
            for (std::uint64_t trip = 0; trip < wanted.trips; ++trip) {
                sum_ns += static_cast<double>(certain_trip(figures));
            }
            figures.best_ns = std::min(figures.best_ns, sum_ns / static_cast<double>(wanted.trips) / 2);
        }
        return figures;
    }

  private:
    /// The time of one that was answered, after as many as were lost.
    std::int64_t certain_trip(Figures& figures) {
        for (int attempt = 0; attempt < most_lost_in_a_row; ++attempt) {
            if (const auto time_ns = trip()) {
                ++figures.answered;
                return *time_ns;
            }
            ++figures.lost;
        }
        throw std::runtime_error("none of " + std::to_string(most_lost_in_a_row) + " datagrams of " +
                                 std::to_string(sent_.size()) + " bytes in a row was answered");
    }

    /// The time there and back; nothing if no answer came in time.
    std::optional<std::int64_t> trip() {
        ++number_;
        std::memcpy(sent_.data(), &number_, mark_byte());
        const std::int64_t begin_ns = monotonic_raw_ns();
        if (::send(socket_.number(), sent_.data(), sent_.size(), 0) < 0) {
            throw_errno("cannot send a datagram of " + std::to_string(sent_.size()) + " bytes");
        }
        if (!answer_came(begin_ns)) {
            return std::nullopt;
        }
        const std::int64_t time_ns = monotonic_raw_ns() - begin_ns;
        if (std::memcmp(sent_.data(), received_.data(), sent_.size()) != 0) {
            throw std::runtime_error("an answer of " + std::to_string(sent_.size()) +
                                     " bytes is not what was sent");
        }
        return time_ns;
    }

    /// Passes over late answers to datagrams that were given up: theirs is another size or mark.
    bool answer_came(std::int64_t begin_ns) {
        do {
            const ssize_t count = ::recv(socket_.number(), received_.data(), received_.size(), 0);
            if (count < 0 && !would_wait()) {
                throw_errno("no answer to a datagram of " + std::to_string(sent_.size()) + " bytes");
            }
            if (count == static_cast<ssize_t>(sent_.size()) &&
                std::memcmp(sent_.data(), received_.data(), mark_byte()) == 0) {
                return true;
            }
        } while (monotonic_raw_ns() - begin_ns < patience_.count());
        return false;
    }

    /// As much of its number as a datagram has room for.
    [[nodiscard]] std::size_t mark_byte() const { return std::min(sent_.size(), sizeof number_); }

    FileDescriptor socket_;
    std::chrono::nanoseconds patience_;
    std::uint64_t number_ = 0;
    std::vector<unsigned char> sent_;
    std::vector<unsigned char> received_ = std::vector<unsigned char>(most_datagram_byte);
};

}  // namespace

void serve_datagrams(std::uint16_t port) {
    const FileDescriptor socket = internet_socket(SOCK_DGRAM);
    const auto own = internet_address(htonl(INADDR_ANY), port);
    if (::bind(socket.number(), generic(own), sizeof own) != 0) {
        throw_errno("cannot await datagrams on port " + std::to_string(port));
    }
    std::vector<unsigned char> buffer(most_datagram_byte);
    while (true) {
        sockaddr_in sender{};
        socklen_t length = sizeof sender;
        auto* const place = const_cast<sockaddr*>(generic(sender));  // NOLINT(*-const-cast): filled in
        const ssize_t count = ::recvfrom(socket.number(), buffer.data(), buffer.size(), 0, place, &length);
        if (count < 0 && errno != EINTR) {
            throw_errno("cannot receive a datagram");
        }
        if (count >= 0) {  // what cannot be sent is lost, and the client counts it
            static_cast<void>(
                ::sendto(socket.number(), buffer.data(), static_cast<std::size_t>(count), 0, place, length));
        }
    }
}

std::string time_datagrams(const sockaddr_in& server, Trips wanted,
                           const std::vector<std::size_t>& sizes_byte) {
    Client client{server, wanted.patience};
    std::vector<JsonObject> points;
    for (const std::size_t size_byte : sizes_byte) {
        const Figures figures = client.measure(size_byte, wanted);
        points.push_back(JsonObject{}
                             .add("size_byte", size_byte)
                             .add("time_s", figures.best_ns / nanoseconds)
                             .add("answered", figures.answered)
                             .add("lost", figures.lost));
    }
    return JsonObject{}.add("program", "bounce").add("points", points).text() + '\n';
}

}  // namespace tare::bounce
