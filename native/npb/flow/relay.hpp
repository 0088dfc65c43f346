// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

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
///
/// MPI is called seldom, since each call costs as much as some lines: a receive is one call, as MPI moves
/// nothing while a rank computes, and sends are waited for some at once, long after.
class Relay {
  public:
    /// A piece's state has so many numbers on its way forward and backward.
    Relay(const Neighbours& neighbours, MPI_Comm communicator, int tag, std::size_t forward_numbers,
          std::size_t backward_numbers)
        : neighbours_{neighbours},
          communicator_{communicator},
          forward_{neighbours.previous, neighbours.next, tag, forward_numbers},
          backward_{neighbours.next, neighbours.previous, tag + 1, backward_numbers} {}

    [[nodiscard]] int slots() const { return lag() + 1; }

    /// `prepare(piece)` comes just before the forward turn, without waiting for the neighbour.
    template <typename Prepare, typename Forward, typename Backward>
    void run(int pieces, Prepare&& prepare, Forward&& forward, Backward&& backward) {
        for (int step = 0; step < pieces + lag(); ++step) {
            if (step < pieces) {
                prepare(step);
                take(step, forward_, forward);
            }
            if (step >= lag()) {
                take(step - lag(), backward_, backward);
            }
        }
        forward_.finish();
        backward_.finish();
    }

  private:
    /// Sends that are waited for at once.
    static constexpr int batch = 4;
    static constexpr std::size_t places = std::size_t{2} * batch;

    /// States on their way in one direction: a batch's may still be under way while the next one's are in
    /// use.
    struct States {
        int from;
        int onward;
        int tag;
        std::size_t numbers;
        Buffer<double> values;
        std::array<MPI_Request, places> sent{};

        States(int sender, int receiver, int message_tag, std::size_t numbers_of_each)
            : from{sender},
              onward{receiver},
              tag{message_tag},
              numbers{numbers_of_each},
              values{numbers_of_each * places} {
            sent.fill(MPI_REQUEST_NULL);
        }

        [[nodiscard]] static std::size_t place(int piece) { return static_cast<std::size_t>(piece) % places; }
        [[nodiscard]] std::span<double> state(int piece) {
            return values.span().subspan(place(piece) * numbers, numbers);
        }
        [[nodiscard]] int count() const { return static_cast<int>(numbers); }

        /// Before the first of a batch: its places are free when what they held before is sent.
        void make_room(int piece) {
            if (piece % batch == 0) {
                MPI_Waitall(batch, &sent.at(place(piece)), MPI_STATUSES_IGNORE);
            }
        }
        void finish() { MPI_Waitall(static_cast<int>(sent.size()), sent.data(), MPI_STATUSES_IGNORE); }
    };

    /// Pieces come back after a round through the ranks beyond; one more evens out small delays.
    [[nodiscard]] int lag() const {
        const int beyond = neighbours_.count - 1 - neighbours_.index;
        return beyond > 0 ? 2 * beyond + 1 : 0;
    }

    template <typename Work>
    void take(int piece, States& states, Work&& work) {
        const auto state = states.state(piece);
        if (states.onward != MPI_PROC_NULL) {
            states.make_room(piece);
        }
        if (states.from != MPI_PROC_NULL) {
            MPI_Recv(state.data(), states.count(), MPI_DOUBLE, states.from, states.tag, communicator_,
                     MPI_STATUS_IGNORE);
        } else {
            std::ranges::fill(state, 0.0);
        }
        work(Turn{.piece = piece, .slot = piece % slots(), .state = state});
        if (states.onward != MPI_PROC_NULL) {
            MPI_Isend(state.data(), states.count(), MPI_DOUBLE, states.onward, states.tag, communicator_,
                      &states.sent.at(States::place(piece)));
        }
    }

    Neighbours neighbours_;
    MPI_Comm communicator_;
    States forward_;
    States backward_;
};

}  // namespace tare::npb::flow
