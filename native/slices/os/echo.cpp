// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <bit>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "common/system.hpp"
#include "slices/os/operations.hpp"
#include "slices/os/partner.hpp"

namespace tare::slices {

namespace {

/// Both directions of one side.
struct Side {
    FileDescriptor from;
    FileDescriptor to;
};

using Sides = std::pair<Side, Side>;

Sides pipes() {
    Pipe there = make_pipe();
    Pipe back = make_pipe();
    return {Side{.from = std::move(back.out), .to = std::move(there.in)},
            Side{.from = std::move(there.out), .to = std::move(back.in)}};
}

Side both_ways(FileDescriptor socket) {
    FileDescriptor copy{::fcntl(socket.number(), F_DUPFD_CLOEXEC, 0)};
    if (!copy) {
        throw_errno("cannot duplicate a socket");
    }
    return {.from = std::move(copy), .to = std::move(socket)};
}

Sides unix_sockets() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        throw_errno("cannot make a pair of Unix sockets");
    }
    return {both_ways(FileDescriptor{ends[0]}), both_ways(FileDescriptor{ends[1]})};
}

FileDescriptor tcp_socket() {
    FileDescriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (!socket) {
        throw_errno("cannot make a TCP socket");
    }
    return socket;
}

/// Without it a small message may wait for the next (tcp(7)).
void send_at_once(const FileDescriptor& socket) {
    const int yes = 1;
    if (::setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0) {
        throw_errno("cannot have TCP send at once");
    }
}

Sides tcp_sockets() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const named =
        reinterpret_cast<sockaddr*>(&address);  // NOLINT(*-reinterpret-cast): as bind(2) has it
    const FileDescriptor door = tcp_socket();
    FileDescriptor caller = tcp_socket();
    if (::bind(door.number(), named, size) != 0 || ::listen(door.number(), 1) != 0 ||
        ::getsockname(door.number(), named, &size) != 0 || ::connect(caller.number(), named, size) != 0) {
        throw_errno("cannot connect to the loopback device");
    }
    FileDescriptor called{::accept4(door.number(), nullptr, nullptr, SOCK_CLOEXEC)};
    if (!called) {
        throw_errno("cannot accept a connection from the loopback device");
    }
    send_at_once(caller);
    send_at_once(called);
    return {both_ways(std::move(caller)), both_ways(std::move(called))};
}

using Message = std::array<std::byte, sizeof(std::uint64_t)>;

void answer_words(const Side& side) {
    Message word{};
    while (receive(side.from, word)) {
        send(side.to, std::bit_cast<Message>(std::bit_cast<std::uint64_t>(word) + 1));
    }
}

class Echo final : public Piece {
  public:
    explicit Echo(Sides sides) : own_{std::move(sides.first)} {
        const OnOneProcessor same;
        partner_.emplace([this, &sides] {
            own_ = Side{};  // else it would never see the end of its input
            answer_words(sides.second);
        });
    }

    void prepare(std::uint64_t /*count*/) override { same_.emplace(); }
    void finish() override { same_.reset(); }

    void work(std::uint64_t count) override {
        std::uint64_t answered = 0;
        for (std::uint64_t unit = 0; unit < count; ++unit) {
            auto word = std::bit_cast<Message>(unit);
            send(own_.to, word);
            if (!receive(own_.from, word) || std::bit_cast<std::uint64_t>(word) != unit + 1) {
                throw std::runtime_error("a word came back wrong, or not at all");
            }
            ++answered;
        }
        answered_ = answered;
    }

    [[nodiscard]] std::uint64_t checksum() const override { return answered_; }
    [[nodiscard]] std::int64_t partners_cpu_ns() const override { return partner_->cpu_ns(); }

  private:
    Side own_;
    std::optional<Partner> partner_;
    std::optional<OnOneProcessor> same_;
    std::uint64_t answered_ = 0;
};

}  // namespace

std::unique_ptr<Piece> make_pipe_round_trip() { return std::make_unique<Echo>(pipes()); }
std::unique_ptr<Piece> make_unix_round_trip() { return std::make_unique<Echo>(unix_sockets()); }
std::unique_ptr<Piece> make_tcp_round_trip() { return std::make_unique<Echo>(tcp_sockets()); }

}  // namespace tare::slices
