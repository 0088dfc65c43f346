// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "npb/common/buffer.hpp"
#include "npb/flow/process_grid.hpp"

namespace tare::npb::flow {

/// What is known of a piece of work when it is its turn.
struct Turn {
    int piece;
    /// Which of the relay's `slots()` the piece owns from its forward to its backward turn.
    int slot;
    /// Received from the neighbour; what is left here goes to the other neighbour.
    std::span<double> state;
};

/// Sweeps along an axis that is split over ranks: each piece of work (some lines) goes forward through the
/// ranks, then backward. All ranks are at work at once, on different pieces: a rank takes a piece backward
/// `lag` pieces after it took it forward, when it has come back from the others.
class Relay {
  public:
    /// A piece's state has so many numbers on its way forward and backward.
    Relay(const Neighbours& neighbours, MPI_Comm communicator, int tag, std::size_t forward_numbers,
          std::size_t backward_numbers)
        : neighbours_{neighbours},
          communicator_{communicator},
          tag_{tag},
          forward_{forward_numbers, static_cast<std::size_t>(slots())},
          backward_{backward_numbers, static_cast<std::size_t>(slots())} {}

    [[nodiscard]] int slots() const { return lag() + 1; }

    /// `prepare(piece)` comes just before the forward turn, without waiting for the neighbour.
    template <typename Prepare, typename Forward, typename Backward>
    void run(int pieces, Prepare&& prepare, Forward&& forward, Backward&& backward) {
        for (int step = 0; step < pieces + lag(); ++step) {
            if (step < pieces) {
                take(step, forward_, neighbours_.previous, neighbours_.next, tag_, forward,
                     [&] { prepare(step); });
            }
            if (step >= lag()) {
                take(step - lag(), backward_, neighbours_.next, neighbours_.previous, tag_ + 1, backward,
                     [] {});
            }
        }
        forward_.finish();
        backward_.finish();
    }

  private:
    /// States on their way, one for each slot.
    struct States {
        std::size_t numbers;
        Buffer<double> values;
        std::vector<MPI_Request> sent;

        States(std::size_t numbers_of_each, std::size_t slots)
            : numbers{numbers_of_each}, values{numbers_of_each * slots}, sent(slots, MPI_REQUEST_NULL) {}

        void finish() { MPI_Waitall(static_cast<int>(sent.size()), sent.data(), MPI_STATUSES_IGNORE); }
    };

    /// Pieces come back after a round through the ranks beyond; one more evens out small delays.
    [[nodiscard]] int lag() const {
        const int beyond = neighbours_.count - 1 - neighbours_.index;
        return beyond > 0 ? 2 * beyond + 1 : 0;
    }

    template <typename Work, typename Meanwhile>
    void take(int piece, States& states, int from, int onward, int tag, Work&& work, Meanwhile&& meanwhile) {
        const int slot = piece % slots();
        const auto state =
            states.values.span().subspan(static_cast<std::size_t>(slot) * states.numbers, states.numbers);
        MPI_Request& sent = states.sent[static_cast<std::size_t>(slot)];
        const int count = static_cast<int>(state.size());
        MPI_Request received = MPI_REQUEST_NULL;
        if (sent != MPI_REQUEST_NULL) {
            MPI_Wait(&sent, MPI_STATUS_IGNORE);
        }
        if (from != MPI_PROC_NULL) {
            MPI_Irecv(state.data(), count, MPI_DOUBLE, from, tag, communicator_, &received);
        }
        meanwhile();
        if (from != MPI_PROC_NULL) {
            MPI_Wait(&received, MPI_STATUS_IGNORE);
        } else {
            std::ranges::fill(state, 0.0);
        }
        work(Turn{.piece = piece, .slot = slot, .state = state});
        if (onward != MPI_PROC_NULL) {
            MPI_Isend(state.data(), count, MPI_DOUBLE, onward, tag, communicator_, &sent);
        }
    }

    Neighbours neighbours_;
    MPI_Comm communicator_;
    int tag_;
    States forward_;
    States backward_;
};

}  // namespace tare::npb::flow
