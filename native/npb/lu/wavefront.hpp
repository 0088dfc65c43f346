// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "npb/common/buffer.hpp"
#include "npb/common/progress.hpp"
#include "npb/lu/layout.hpp"
#include "npb/lu/sweep.hpp"

// How a sweep's wavefront passes from thread to thread and from rank to rank, plane by plane: as soon as one
// has done a plane, the next one can begin with it. A plane's stage is its number in the sweep's order.
namespace tare::npb::lu {

/// Which way a sweep goes in x, y and z.
enum class Direction { up, down };

/// The threads of a rank: each has a pencil of diagonals, and follows the thread whose pencil the sweep comes
/// to before.
class ThreadPipeline {
  public:
    ThreadPipeline(int threads, Direction direction);

    /// Before each sweep, while one thread runs.
    void restart();

    /// Whether a thread has what it needs of its neighbours: the wave of the pencil before, and room for the
    /// next pencil's.
    [[nodiscard]] bool is_free(int thread, int stage) const;
    [[nodiscard]] const sweep::Wave* received(int thread, int stage) const;
    [[nodiscard]] sweep::Wave* to_send(int thread, int stage);
    void has_done(int thread, int stage) { done_[position(thread)].set(stage + 1); }

    /// Planes that all threads have done.
    [[nodiscard]] int complete() const { return done_.back().planes(); }

  private:
    /// In the order in which the sweep comes to the pencils.
    [[nodiscard]] std::size_t position(int thread) const {
        const auto index = static_cast<std::size_t>(thread);
        return direction_ == Direction::up ? index : done_.size() - 1 - index;
    }
    /// Of the wave between a position and the next.
    [[nodiscard]] static std::size_t slot(std::size_t position, int stage) {
        return position * depth + static_cast<std::size_t>(stage) % depth;
    }

    /// A thread may be so many planes ahead of the one that follows it.
    static constexpr std::size_t depth = 4;

    Direction direction_;
    std::vector<Progress> done_;
    Buffer<sweep::Wave> waves_;
};

/// The ranks: what a sweep passes on across the edges of blocks. One thread alone sends and receives; there
/// is room for all planes, so that nobody waits for room.
class RankPipeline {
  public:
    RankPipeline(const Block& block, const Layout& layout, Direction direction);
    RankPipeline(const RankPipeline&) = delete;
    RankPipeline& operator=(const RankPipeline&) = delete;
    RankPipeline(RankPipeline&&) = delete;
    RankPipeline& operator=(RankPipeline&&) = delete;
    ~RankPipeline();

    // The thread that sends and receives:

    /// Before each sweep, while no other thread runs.
    void restart();
    /// Waits for a plane's values from the blocks before: for a rank of one thread, which has nothing else to
    /// do.
    void wait_for(int stage);
    /// Sends the planes that all threads have done.
    void send(int complete);
    /// Takes what has come, sends the same, and waits for nothing.
    void progress(int complete);
    /// After each sweep: waits until all is sent.
    void finish();

    // Any thread:

    /// Whether a plane's values have come from the blocks before.
    [[nodiscard]] bool has(int stage) const { return arrived_->planes() > stage; }
    /// Adds them to the points of a pencil in a plane of groups.
    void add(int stage, const Mesh& pencil, std::span<double> passed) const;
    /// Where the sweep puts the values for the blocks after.
    [[nodiscard]] sweep::Outflow outflow(int stage);

  private:
    struct Edge {
        int source = MPI_PROC_NULL;
        int target = MPI_PROC_NULL;
        /// The diagonal of its first point.
        int first_diagonal = 0;
        int points = 0;
        /// In a plane of groups, where each number of a message belongs, [quantity][point].
        std::vector<std::size_t> offsets{};
        /// Messages of all planes, one after the other, and their requests; empty where nobody sends or asks.
        /// Receives are asked for together, again in each sweep.
        std::vector<double> received{};
        std::vector<double> to_send{};
        std::vector<MPI_Request> receiving{};
        std::vector<MPI_Request> sending{};
        /// Planes received, handed to MPI to be sent, and known to be sent.
        int arrived = 0;
        int handed = 0;
        int sent = 0;
    };

    [[nodiscard]] Edge edge(const Extent& across, const Extent& along,
                            std::vector<std::size_t> offsets) const;
    void prepare_receives(Edge& edge) const;
    void publish();

    MPI_Comm communicator_;
    Direction direction_;
    int planes_;
    std::array<Edge, 2> edges_;
    /// In memory of its own: it shares its lines of a cache with nothing.
    std::unique_ptr<Progress> arrived_ = std::make_unique<Progress>();
};

/// One sweep's order among the threads, and among ranks.
struct Wavefront {
    ThreadPipeline threads;
    RankPipeline ranks;

    void restart();
    /// What thread 0 does for the ranks whenever it may.
    void progress() { ranks.progress(threads.complete()); }
};

}  // namespace tare::npb::lu
