// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "collective/contents.hpp"
#include "collective/options.hpp"
#include "common/mpi.hpp"

namespace tare::collective {

/// This rank's place in its group.
struct Member {
    MPI_Comm group = MPI_COMM_NULL;
    int group_number = 0;
    int rank = 0;
    int ranks = 1;

    [[nodiscard]] int left() const { return (rank + ranks - 1) % ranks; }
    [[nodiscard]] int right() const { return (rank + 1) % ranks; }
    /// Tells a message from a rank of this group from all others of the run.
    [[nodiscard]] std::uint64_t message(int sender, int receiver = 0) const {
        return message_of((group_number * ranks) + sender, receiver);
    }
};

/// One way to communicate with messages of one size, with its buffers. All ranks of a group do each step
/// alike.
class Call {
  public:
    Call() = default;
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    Call(Call&&) = delete;
    Call& operator=(Call&&) = delete;
    virtual ~Call() = default;

    /// Makes the receive buffers wrong everywhere before `turn`.
    virtual void spoil(std::uint64_t turn) = 0;
    /// What is timed. `turn` chooses the root, where there is one.
    virtual void run(std::uint64_t turn) = 0;
    /// Whether this rank received what it should in `turn`, the last that ran.
    [[nodiscard]] virtual bool is_right(std::uint64_t turn) const = 0;
    /// One call, and whether it does what it should.
    [[nodiscard]] virtual bool try_once(std::uint64_t turn) {
        spoil(turn);
        run(turn);
        return is_right(turn);
    }
    /// Message times of one call; its time is divided by them.
    [[nodiscard]] virtual int messages() const { return 1; }
};

/// Throws `std::invalid_argument` if the group does not fit the benchmark.
[[nodiscard]] std::unique_ptr<Call> make_call(Benchmark benchmark, const Member& member,
                                              std::size_t size_byte);

[[nodiscard]] std::unique_ptr<Call> make_ping_pong(const Member& member, std::size_t size_byte);
[[nodiscard]] std::unique_ptr<Call> make_sendrecv(const Member& member, std::size_t size_byte);
[[nodiscard]] std::unique_ptr<Call> make_exchange(const Member& member, std::size_t size_byte);

}  // namespace tare::collective
