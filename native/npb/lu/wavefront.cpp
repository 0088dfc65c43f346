// SPDX-License-Identifier: Apache-2.0
#include "npb/lu/wavefront.hpp"

#include <algorithm>

namespace tare::npb::lu {

ThreadPipeline::ThreadPipeline(int threads, Direction direction)
    : direction_{direction}, done_(static_cast<std::size_t>(threads)), waves_{(done_.size() - 1) * depth} {}

void ThreadPipeline::restart() {
    for (Progress& planes : done_) {
        planes.set(0);
    }
}

bool ThreadPipeline::is_free(int thread, int stage) const {
    const std::size_t here = position(thread);
    const bool has_wave = here == 0 || done_[here - 1].planes() > stage;
    const bool has_room =
        here + 1 == done_.size() || stage - done_[here + 1].planes() < static_cast<int>(depth);
    return has_wave && has_room;
}

const sweep::Wave* ThreadPipeline::received(int thread, int stage) const {
    const std::size_t here = position(thread);
    return here == 0 ? nullptr : &waves_.span()[slot(here - 1, stage)];
}

sweep::Wave* ThreadPipeline::to_send(int thread, int stage) {
    const std::size_t here = position(thread);
    return here + 1 == done_.size() ? nullptr : &waves_.span()[slot(here, stage)];
}

namespace {

/// Of an edge's points, across it.
int first_across(const Extent& across, Direction direction) {
    return direction == Direction::up ? 0 : across.count - 1;
}

/// Of the points that a sweep comes to first along an axis, [quantity][point]; `offset` is called with the
/// coordinate across the edge, that along it, and the quantity.
template <typename Offset>
std::vector<std::size_t> edge_offsets(int across, int along, const Offset& offset) {
    std::vector<std::size_t> offsets;
    for (int m = 0; m < quantities; ++m) {
        for (int point = 0; point < along; ++point) {
            offsets.push_back(static_cast<std::size_t>(offset(across, point, m)));
        }
    }
    return offsets;
}

/// A plane's message among all planes'.
double* message(std::vector<double>& all, std::size_t numbers, int stage) {
    return &all[static_cast<std::size_t>(stage) * numbers];
}

bool is_over(MPI_Request& request) {
    int over = 0;
    MPI_Test(&request, &over, MPI_STATUS_IGNORE);
    return over != 0;
}

int tag_of(Direction direction) { return direction == Direction::up ? 1 : 2; }

}  // namespace

// The checker does not see that requests end in `is_over`.
// NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker)

RankPipeline::RankPipeline(const Block& block, const Layout& layout, Direction direction)
    : communicator_{block.communicator}, direction_{direction}, planes_{block.z.count} {
    const auto in_x = [&](int x, int y, int m) { return layout.group_offset(x, y, m); };
    const auto in_y = [&](int y, int x, int m) { return layout.group_offset(x, y, m); };
    edges_ = {edge(block.x, block.y, edge_offsets(first_across(block.x, direction), block.y.count, in_x)),
              edge(block.y, block.x, edge_offsets(first_across(block.y, direction), block.x.count, in_y))};
    for (Edge& edge : edges_) {
        prepare_receives(edge);
    }
}

RankPipeline::~RankPipeline() {
    for (Edge& edge : edges_) {
        for (MPI_Request& request : edge.receiving) {
            MPI_Request_free(&request);
        }
    }
}

RankPipeline::Edge RankPipeline::edge(const Extent& across, const Extent& along,
                                      std::vector<std::size_t> offsets) const {
    const int source = direction_ == Direction::up ? across.previous : across.next;
    const int target = direction_ == Direction::up ? across.next : across.previous;
    const auto messages_with = [&](int neighbour) {
        return neighbour == MPI_PROC_NULL ? 0 : static_cast<std::size_t>(planes_);
    };
    const std::size_t numbers = offsets.size();
    return {.source = source,
            .target = target,
            .first_diagonal = first_across(across, direction_),
            .points = along.count,
            .offsets = std::move(offsets),
            .received = std::vector<double>(numbers * messages_with(source)),
            .to_send = std::vector<double>(numbers * messages_with(target)),
            .receiving = std::vector<MPI_Request>(messages_with(source), MPI_REQUEST_NULL),
            .sending = std::vector<MPI_Request>(messages_with(target), MPI_REQUEST_NULL)};
}

void RankPipeline::prepare_receives(Edge& edge) const {
    const std::size_t numbers = edge.offsets.size();
    for (std::size_t stage = 0; stage < edge.receiving.size(); ++stage) {
        MPI_Recv_init(&edge.received[stage * numbers], static_cast<int>(numbers), MPI_DOUBLE, edge.source,
                      tag_of(direction_), communicator_, &edge.receiving[stage]);
    }
}

void RankPipeline::restart() {
    for (Edge& edge : edges_) {
        edge.arrived = edge.source == MPI_PROC_NULL ? planes_ : 0;
        edge.handed = 0;
        edge.sent = 0;
        if (!edge.receiving.empty()) {
            MPI_Startall(planes_, edge.receiving.data());
        }
    }
    publish();
}

/// A write would take the line of the cache from the threads that look at it.
void RankPipeline::publish() {
    const int arrived = std::min(edges_[0].arrived, edges_[1].arrived);
    if (arrived_->planes() != arrived) {
        arrived_->set(arrived);
    }
}

void RankPipeline::wait_for(int stage) {
    for (Edge& edge : edges_) {
        for (; edge.arrived <= stage; ++edge.arrived) {
            MPI_Wait(&edge.receiving[static_cast<std::size_t>(edge.arrived)], MPI_STATUS_IGNORE);
        }
    }
    publish();
}

void RankPipeline::send(int complete) {
    for (Edge& edge : edges_) {
        for (; edge.target != MPI_PROC_NULL && edge.handed < complete; ++edge.handed) {
            MPI_Isend(message(edge.to_send, edge.offsets.size(), edge.handed),
                      static_cast<int>(edge.offsets.size()), MPI_DOUBLE, edge.target, tag_of(direction_),
                      communicator_, &edge.sending[static_cast<std::size_t>(edge.handed)]);
        }
    }
}

void RankPipeline::progress(int complete) {
    send(complete);
    for (Edge& edge : edges_) {
        while (edge.arrived < planes_ && is_over(edge.receiving[static_cast<std::size_t>(edge.arrived)])) {
            ++edge.arrived;
        }
        // What is on its way goes on only while MPI is called.
        while (edge.sent < edge.handed && is_over(edge.sending[static_cast<std::size_t>(edge.sent)])) {
            ++edge.sent;
        }
    }
    publish();
}

void RankPipeline::finish() {
    send(planes_);
    for (Edge& edge : edges_) {
        MPI_Waitall(static_cast<int>(edge.sending.size()), edge.sending.data(), MPI_STATUSES_IGNORE);
    }
}

void RankPipeline::add(int stage, const Mesh& pencil, std::span<double> passed) const {
    for (const Edge& edge : edges_) {
        if (edge.source == MPI_PROC_NULL) {
            continue;
        }
        const std::size_t numbers = edge.offsets.size();
        const auto values =
            std::span{edge.received}.subspan(static_cast<std::size_t>(stage) * numbers, numbers);
        const Points points = pencil.points_of_row(edge.first_diagonal, edge.points);
        for (int m = 0; m < quantities; ++m) {
            for (int point = points.first; point < points.end; ++point) {
                const int index = m * edge.points + point;
                const auto number = static_cast<std::size_t>(index);
                passed[edge.offsets[number]] += values[number];
            }
        }
    }
}

sweep::Outflow RankPipeline::outflow(int stage) {
    const auto room = [&](Edge& edge) {
        return edge.target == MPI_PROC_NULL ? nullptr : message(edge.to_send, edge.offsets.size(), stage);
    };
    return {.x = room(edges_[0]), .y = room(edges_[1])};
}

// NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)

void Wavefront::restart() {
    threads.restart();
    ranks.restart();
}

}  // namespace tare::npb::lu
