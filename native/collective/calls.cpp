// SPDX-License-Identifier: Apache-2.0
// Calls in which a whole group takes part.
#include "collective/calls.hpp"

#include <mpi.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "collective/buffer.hpp"
#include "common/system.hpp"

namespace tare::collective {

namespace {

/// The root changes from call to call; it sends from one buffer, and the others receive into another.
class Bcast final : public Call {
  public:
    Bcast(const Member& member, std::size_t size_byte)
        : member_{member}, sent_(size_byte), received_(size_byte) {
        write_message(sent_, member.message(member.rank));
    }

    void spoil(std::uint64_t turn) override { spoil_message(received_, member_.message(root(turn))); }

    void run(std::uint64_t turn) override {
        Buffer<Byte>& buffer = root(turn) == member_.rank ? sent_ : received_;
        MPI_Bcast(buffer.data(), static_cast<int>(buffer.size()), MPI_BYTE, root(turn), member_.group);
    }

    [[nodiscard]] bool is_right(std::uint64_t turn) const override {
        const Buffer<Byte>& buffer = root(turn) == member_.rank ? sent_ : received_;
        return holds_message(buffer, member_.message(root(turn)));
    }

  private:
    [[nodiscard]] int root(std::uint64_t turn) const {
        return static_cast<int>(turn % static_cast<std::uint64_t>(member_.ranks));
    }

    Member member_;
    Buffer<Byte> sent_;
    Buffer<Byte> received_;
};

/// Sums of small whole numbers, which a float holds exactly in any order of the additions.
class Allreduce final : public Call {
  public:
    Allreduce(const Member& member, std::size_t size_byte)
        : member_{member}, sent_(size_byte / sizeof(float)), received_(sent_.size()) {
        for (std::size_t position = 0; position < sent_.size(); ++position) {
            sent_[position] = of_rank(member.rank) + of_position(position);
        }
        for (int rank = 0; rank < member.ranks; ++rank) {
            of_all_ranks_ += of_rank(rank);
        }
    }

    void spoil(std::uint64_t /*turn*/) override {
        constexpr float never = -1;
        received_.assign(received_.size(), never);
    }

    void run(std::uint64_t /*turn*/) override {
        MPI_Allreduce(sent_.data(), received_.data(), static_cast<int>(sent_.size()), MPI_FLOAT, MPI_SUM,
                      member_.group);
    }

    [[nodiscard]] bool is_right(std::uint64_t /*turn*/) const override {
        for (std::size_t position = 0; position < received_.size(); ++position) {
            if (received_[position] !=
                of_all_ranks_ + static_cast<float>(member_.ranks) * of_position(position)) {
                return false;
            }
        }
        return true;
    }

  private:
    [[nodiscard]] float of_rank(int rank) const {
        constexpr int different = 61;
        return static_cast<float>((member_.group_number + rank) % different + 1);
    }

    [[nodiscard]] static float of_position(std::size_t position) {
        constexpr std::size_t different = 7;
        return static_cast<float>(position % different);
    }

    Member member_;
    Buffer<float> sent_;
    Buffer<float> received_;
    float of_all_ranks_ = 0;
};

/// A message from every rank to every rank, itself included.
class Alltoall final : public Call {
  public:
    Alltoall(const Member& member, std::size_t size_byte)
        : member_{member},
          size_byte_{size_byte},
          sent_(size_byte * static_cast<std::size_t>(member.ranks)),
          received_(sent_.size()) {
        for (int rank = 0; rank < member.ranks; ++rank) {
            write_message(message(sent_, rank), member.message(member.rank, rank));
        }
    }

    void spoil(std::uint64_t /*turn*/) override {
        for (int rank = 0; rank < member_.ranks; ++rank) {
            spoil_message(message(received_, rank), member_.message(rank, member_.rank));
        }
    }

    void run(std::uint64_t /*turn*/) override {
        const int count = static_cast<int>(size_byte_);
        MPI_Alltoall(sent_.data(), count, MPI_BYTE, received_.data(), count, MPI_BYTE, member_.group);
    }

    [[nodiscard]] bool is_right(std::uint64_t /*turn*/) const override {
        for (int rank = 0; rank < member_.ranks; ++rank) {
            const auto start = static_cast<std::size_t>(rank) * size_byte_;
            if (!holds_message(std::span{received_}.subspan(start, size_byte_),
                               member_.message(rank, member_.rank))) {
                return false;
            }
        }
        return true;
    }

  private:
    [[nodiscard]] std::span<Byte> message(Buffer<Byte>& all, int rank) const {
        return std::span{all}.subspan(static_cast<std::size_t>(rank) * size_byte_, size_byte_);
    }

    Member member_;
    std::size_t size_byte_;
    Buffer<Byte> sent_;
    Buffer<Byte> received_;
};

/// Its message is time: nobody may leave before the last has entered.
class Barrier final : public Call {
  public:
    explicit Barrier(const Member& member) : member_{member} {}

    void spoil(std::uint64_t /*turn*/) override {}
    void run(std::uint64_t /*turn*/) override { MPI_Barrier(member_.group); }
    [[nodiscard]] bool is_right(std::uint64_t /*turn*/) const override { return true; }

    /// The last rank enters late, after all others have begun to count the time.
    [[nodiscard]] bool try_once(std::uint64_t turn) override {
        constexpr std::chrono::milliseconds late{2};
        constexpr std::chrono::milliseconds least{1};  // the two clocks differ a little
        const auto last = static_cast<int>(turn % static_cast<std::uint64_t>(member_.ranks));
        const std::int64_t start_ns = monotonic_raw_ns();
        int begun = 1;
        int all_begun = 0;
        MPI_Reduce(&begun, &all_begun, 1, MPI_INT, MPI_SUM, last, member_.group);
        if (member_.rank == last) {
            std::this_thread::sleep_for(late);
        }
        MPI_Barrier(member_.group);
        const std::chrono::nanoseconds spent{monotonic_raw_ns() - start_ns};
        return spent >= least && (member_.rank != last || all_begun == member_.ranks);
    }

  private:
    Member member_;
};

}  // namespace

std::unique_ptr<Call> make_call(Benchmark benchmark, const Member& member, std::size_t size_byte) {
    switch (benchmark) {
        case Benchmark::pingpong:
            return make_ping_pong(member, size_byte);
        case Benchmark::sendrecv:
            return make_sendrecv(member, size_byte);
        case Benchmark::exchange:
            return make_exchange(member, size_byte);
        case Benchmark::bcast:
            return std::make_unique<Bcast>(member, size_byte);
        case Benchmark::allreduce:
            return std::make_unique<Allreduce>(member, size_byte);
        case Benchmark::alltoall:
            return std::make_unique<Alltoall>(member, size_byte);
        case Benchmark::barrier:
            return std::make_unique<Barrier>(member);
    }
    throw std::invalid_argument("no such benchmark");
}

}  // namespace tare::collective
