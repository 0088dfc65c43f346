// SPDX-License-Identifier: Apache-2.0
// Messages between neighbours: a pair, or a closed chain.
#include <mpi.h>

#include <array>
#include <stdexcept>
#include <vector>

#include "collective/buffer.hpp"
#include "collective/calls.hpp"

namespace tare::collective {

namespace {

constexpr int to_right_tag = 1;
constexpr int to_left_tag = 2;

/// A message to send, and one buffer for each neighbour that sends one.
class Neighbours : public Call {
  public:
    Neighbours(const Member& member, std::size_t size_byte, std::vector<int> senders)
        : member_{member}, sent_(size_byte), senders_{std::move(senders)} {
        received_.resize(senders_.size(), Buffer<Byte>(size_byte));
        write_message(sent_, member.message(member.rank));
    }

    void spoil(std::uint64_t /*turn*/) override {
        for (std::size_t place = 0; place < senders_.size(); ++place) {
            spoil_message(received_[place], member_.message(senders_[place]));
        }
    }

    [[nodiscard]] bool is_right(std::uint64_t /*turn*/) const override {
        for (std::size_t place = 0; place < senders_.size(); ++place) {
            if (!holds_message(received_[place], member_.message(senders_[place]))) {
                return false;
            }
        }
        return true;
    }

  protected:
    [[nodiscard]] const Member& member() const { return member_; }
    [[nodiscard]] int count() const { return static_cast<int>(sent_.size()); }
    [[nodiscard]] const Byte* sent() const { return sent_.data(); }
    [[nodiscard]] Byte* received(std::size_t place) { return received_[place].data(); }

  private:
    Member member_;
    Buffer<Byte> sent_;
    std::vector<int> senders_;
    std::vector<Buffer<Byte>> received_;
};

class PingPong final : public Neighbours {
  public:
    PingPong(const Member& member, std::size_t size_byte) : Neighbours{member, size_byte, {member.right()}} {}

    void run(std::uint64_t /*turn*/) override {
        if (member().rank == 0) {
            send();
            receive();
        } else {
            receive();
            send();
        }
    }

    [[nodiscard]] int messages() const override { return 2; }

  private:
    void send() { MPI_Send(sent(), count(), MPI_BYTE, member().right(), to_right_tag, member().group); }

    void receive() {
        MPI_Recv(received(0), count(), MPI_BYTE, member().right(), to_right_tag, member().group,
                 MPI_STATUS_IGNORE);
    }
};

class Sendrecv final : public Neighbours {
  public:
    Sendrecv(const Member& member, std::size_t size_byte) : Neighbours{member, size_byte, {member.left()}} {}

    void run(std::uint64_t /*turn*/) override {
        MPI_Sendrecv(sent(), count(), MPI_BYTE, member().right(), to_right_tag, received(0), count(),
                     MPI_BYTE, member().left(), to_right_tag, member().group, MPI_STATUS_IGNORE);
    }
};

class Exchange final : public Neighbours {
  public:
    Exchange(const Member& member, std::size_t size_byte)
        : Neighbours{member, size_byte, {member.left(), member.right()}} {}

    void run(std::uint64_t /*turn*/) override {
        const Member& own = member();
        MPI_Isend(sent(), count(), MPI_BYTE, own.right(), to_right_tag, own.group, requests_.data());
        MPI_Isend(sent(), count(), MPI_BYTE, own.left(), to_left_tag, own.group, &requests_[1]);
        MPI_Recv(received(0), count(), MPI_BYTE, own.left(), to_right_tag, own.group, MPI_STATUS_IGNORE);
        MPI_Recv(received(1), count(), MPI_BYTE, own.right(), to_left_tag, own.group, MPI_STATUS_IGNORE);
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    }

  private:
    std::array<MPI_Request, 2> requests_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

}  // namespace

std::unique_ptr<Call> make_ping_pong(const Member& member, std::size_t size_byte) {
    if (member.ranks != 2) {
        throw std::invalid_argument("pingpong is between 2 ranks, and a group has " +
                                    std::to_string(member.ranks) + "; write --group-ranks 2");
    }
    return std::make_unique<PingPong>(member, size_byte);
}

std::unique_ptr<Call> make_sendrecv(const Member& member, std::size_t size_byte) {
    return std::make_unique<Sendrecv>(member, size_byte);
}

std::unique_ptr<Call> make_exchange(const Member& member, std::size_t size_byte) {
    return std::make_unique<Exchange>(member, size_byte);
}

}  // namespace tare::collective
