// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "npb/common/progress.hpp"
#include "npb/lu/layout.hpp"
#include "npb/lu/part.hpp"
#include "npb/lu/sweep.hpp"

namespace tare::npb::lu {

/// Hands what a sweep passes on across the edges of blocks, plane by plane: as soon as a rank has done a
/// plane, the next one can begin with it. One thread alone sends and receives; there is room for all planes,
/// so that nobody waits for room. A plane's turn is its number in the sweep's order.
class Relay {
  public:
    Relay(const Part& part, const Layout& layout, Way way);

    // The thread that sends and receives:

    /// Before each sweep, while no other thread runs.
    void restart();
    /// Waits for a plane's values from the blocks before: for a rank of one thread, which has nothing else to
    /// do.
    void wait_for(int turn);
    /// Sends the planes that all threads have done.
    void send(int complete);
    /// Takes what has come, sends the same, and waits for nothing.
    void look(int complete);
    /// After each sweep: waits until all is sent.
    void finish();

    // Any thread:

    /// Whether a plane's values have come from the blocks before.
    [[nodiscard]] bool has(int turn) const { return arrived_->planes() > turn; }
    /// Adds them to the points of a strip in a plane of groups.
    void add(int turn, const Mesh& strip, std::span<double> passed) const;
    /// Where the sweep puts the values for the blocks after.
    [[nodiscard]] sweep::Outflow outflow(int turn);

  private:
    /// Receives that are asked for together, again in each sweep.
    class Receives {
      public:
        Receives() = default;
        /// So many messages of `numbers` each, one after the other in `into`.
        Receives(std::span<double> into, std::size_t numbers, int source, int tag, MPI_Comm communicator);
        Receives(const Receives&) = delete;
        Receives& operator=(const Receives&) = delete;
        Receives(Receives&& other) noexcept : requests_{std::exchange(other.requests_, {})} {}
        Receives& operator=(Receives&& other) noexcept {
            requests_.swap(other.requests_);
            return *this;
        }
        ~Receives();

        void ask();
        void wait_for(int turn);
        [[nodiscard]] bool has(int turn);

      private:
        std::vector<MPI_Request> requests_;
    };

    struct Edge {
        int source = MPI_PROC_NULL;
        int target = MPI_PROC_NULL;
        /// The diagonal of its first point.
        int first_diagonal = 0;
        int points = 0;
        /// In a plane of groups, where each number of a message belongs, [quantity][point].
        std::vector<std::size_t> places{};
        /// Messages of all planes, one after the other; empty where nobody sends or asks.
        std::vector<double> received{};
        std::vector<double> to_send{};
        std::vector<MPI_Request> sending{};
        Receives receives{};
        /// Planes received, handed to MPI to be sent, and known to be sent.
        int arrived = 0;
        int handed = 0;
        int sent = 0;
    };

    [[nodiscard]] Edge edge(const Extent& extent, const Extent& along, std::vector<std::size_t> places) const;
    void publish();

    MPI_Comm communicator_;
    Way way_;
    int planes_;
    std::array<Edge, 2> edges_;
    /// In memory of its own: it shares its lines of a cache with nothing.
    std::unique_ptr<Progress> arrived_ = std::make_unique<Progress>();
};

}  // namespace tare::npb::lu
