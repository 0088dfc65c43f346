// SPDX-License-Identifier: Apache-2.0
#include "slices/mpi/messages.hpp"

#include <mpi.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "slices/mpi/world.hpp"

namespace tare::slices {

namespace {

constexpr int message_tag = 2;

/// Who has received a message adds 1 to its first word and sends it on: each transfer shows in the checksum.
class PingPong final : public Piece {
  public:
    explicit PingPong(std::size_t size_byte) : words_(size_byte / sizeof(std::uint64_t)) {}

    void work(std::uint64_t count) override {
        const int rank = rank_in(MPI_COMM_WORLD);
        const int partner = rank ^ 1;  // NOLINT(*-signed-bitwise): of numbers from 0 on
        std::iota(words_.begin(), words_.end(), std::uint64_t{0});
        if (partner >= size_of(MPI_COMM_WORLD)) {
            return;
        }
        for (std::uint64_t unit = 0; unit < count; ++unit) {
            if (rank < partner) {
                send(partner);
                receive(partner);
            } else {
                receive(partner);
                send(partner);
            }
        }
    }

    [[nodiscard]] std::uint64_t checksum() const override {
        return std::accumulate(words_.begin(), words_.end(), std::uint64_t{0});
    }

  private:
    void send(int partner) {
        MPI_Send(words_.data(), static_cast<int>(words_.size()), MPI_UINT64_T, partner, message_tag,
                 MPI_COMM_WORLD);
    }

    void receive(int partner) {
        MPI_Recv(words_.data(), static_cast<int>(words_.size()), MPI_UINT64_T, partner, message_tag,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        ++words_.front();
    }

    std::vector<std::uint64_t> words_;
};

class Allreduce final : public Piece {
  public:
    void work(std::uint64_t count) override {
        constexpr std::uint64_t prime = 1'000'000'007;
        value_ = 1 + static_cast<std::uint64_t>(rank_in(MPI_COMM_WORLD));
        for (std::uint64_t unit = 0; unit < count; ++unit) {
            std::uint64_t sum = 0;
            MPI_Allreduce(&value_, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
            value_ = (value_ + sum) % prime;
        }
    }

    [[nodiscard]] std::uint64_t checksum() const override { return value_; }

  private:
    std::uint64_t value_ = 0;
};

}  // namespace

std::unique_ptr<Piece> make_ping_pong(std::size_t size_byte) { return std::make_unique<PingPong>(size_byte); }

std::unique_ptr<Piece> make_allreduce() { return std::make_unique<Allreduce>(); }

}  // namespace tare::slices
