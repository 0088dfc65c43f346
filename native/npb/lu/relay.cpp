// SPDX-License-Identifier: Apache-2.0
#include "npb/lu/relay.hpp"

#include <algorithm>

namespace tare::npb::lu {

namespace {

/// Of an edge's point 0.
int first_across(const Extent& extent, Way way) { return way == Way::growing ? 0 : extent.count - 1; }

/// Of the points that a sweep comes to first along an axis, [quantity][point]; `place` is called with the
/// place across the edge, that along it, and the quantity.
template <typename Place>
std::vector<std::size_t> first_places(const Extent& extent, int along, Way way, const Place& place) {
    std::vector<std::size_t> found;
    for (int m = 0; m < quantities; ++m) {
        for (int point = 0; point < along; ++point) {
            found.push_back(static_cast<std::size_t>(place(first_across(extent, way), point, m)));
        }
    }
    return found;
}

/// A plane's message among those of all.
template <typename Number>
Number* message(std::vector<Number>& all, std::size_t numbers, int turn) {
    return &all[static_cast<std::size_t>(turn) * numbers];
}

bool is_over(MPI_Request& request) {
    int over = 0;
    MPI_Test(&request, &over, MPI_STATUS_IGNORE);
    return over != 0;
}

int tag_of(Way way) { return way == Way::growing ? 1 : 2; }

}  // namespace

// The checker does not see that requests end in `is_over`.
// NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker)

Relay::Receives::Receives(std::span<double> into, std::size_t numbers, int source, int tag,
                          MPI_Comm communicator)
    : requests_(into.size() / numbers, MPI_REQUEST_NULL) {
    for (std::size_t turn = 0; turn < requests_.size(); ++turn) {
        MPI_Recv_init(&into[turn * numbers], static_cast<int>(numbers), MPI_DOUBLE, source, tag, communicator,
                      &requests_[turn]);
    }
}

Relay::Receives::~Receives() {
    for (MPI_Request& request : requests_) {
        MPI_Request_free(&request);
    }
}

void Relay::Receives::ask() {
    if (!requests_.empty()) {
        MPI_Startall(static_cast<int>(requests_.size()), requests_.data());
    }
}

void Relay::Receives::wait_for(int turn) {
    MPI_Wait(&requests_[static_cast<std::size_t>(turn)], MPI_STATUS_IGNORE);
}

bool Relay::Receives::has(int turn) { return is_over(requests_[static_cast<std::size_t>(turn)]); }

Relay::Relay(const Part& part, const Layout& layout, Way way)
    : communicator_{part.communicator}, way_{way}, planes_{part.z.count} {
    const auto in_x = [&](int x, int y, int m) { return layout.group_place(x, y, m); };
    const auto in_y = [&](int y, int x, int m) { return layout.group_place(x, y, m); };
    edges_ = {edge(part.x, part.y, first_places(part.x, part.y.count, way, in_x)),
              edge(part.y, part.x, first_places(part.y, part.x.count, way, in_y))};
}

Relay::Edge Relay::edge(const Extent& extent, const Extent& along, std::vector<std::size_t> places) const {
    const int source = way_ == Way::growing ? extent.previous : extent.next;
    const int target = way_ == Way::growing ? extent.next : extent.previous;
    const auto planes = static_cast<std::size_t>(planes_);
    const std::size_t numbers = places.size();
    Edge made{.source = source,
              .target = target,
              .first_diagonal = first_across(extent, way_),
              .points = along.count,
              .places = std::move(places),
              .received = std::vector<double>(source == MPI_PROC_NULL ? 0 : numbers * planes),
              .to_send = std::vector<double>(target == MPI_PROC_NULL ? 0 : numbers * planes),
              .sending = std::vector<MPI_Request>(target == MPI_PROC_NULL ? 0 : planes, MPI_REQUEST_NULL)};
    made.receives = {made.received, numbers, source, tag_of(way_), communicator_};
    return made;
}

void Relay::restart() {
    for (Edge& edge : edges_) {
        edge.arrived = edge.source == MPI_PROC_NULL ? planes_ : 0;
        edge.handed = 0;
        edge.sent = 0;
        edge.receives.ask();
    }
    publish();
}

/// A write would take the line of the cache from the threads that look at it.
void Relay::publish() {
    const int arrived = std::min(edges_[0].arrived, edges_[1].arrived);
    if (arrived_->planes() != arrived) {
        arrived_->set(arrived);
    }
}

void Relay::wait_for(int turn) {
    for (Edge& edge : edges_) {
        while (edge.arrived <= turn) {
            edge.receives.wait_for(edge.arrived++);
        }
    }
    publish();
}

void Relay::send(int complete) {
    for (Edge& edge : edges_) {
        for (; edge.target != MPI_PROC_NULL && edge.handed < complete; ++edge.handed) {
            MPI_Isend(message(edge.to_send, edge.places.size(), edge.handed),
                      static_cast<int>(edge.places.size()), MPI_DOUBLE, edge.target, tag_of(way_),
                      communicator_, &edge.sending[static_cast<std::size_t>(edge.handed)]);
        }
    }
}

void Relay::look(int complete) {
    send(complete);
    for (Edge& edge : edges_) {
        while (edge.arrived < planes_ && edge.receives.has(edge.arrived)) {
            ++edge.arrived;
        }
        // What is on its way goes on only while MPI is called.
        while (edge.sent < edge.handed && is_over(edge.sending[static_cast<std::size_t>(edge.sent)])) {
            ++edge.sent;
        }
    }
    publish();
}

void Relay::finish() {
    send(planes_);
    for (Edge& edge : edges_) {
        MPI_Waitall(static_cast<int>(edge.sending.size()), edge.sending.data(), MPI_STATUSES_IGNORE);
    }
}

void Relay::add(int turn, const Mesh& strip, std::span<double> passed) const {
    for (const Edge& edge : edges_) {
        if (edge.source == MPI_PROC_NULL) {
            continue;
        }
        const std::size_t numbers = edge.places.size();
        const auto values =
            std::span{edge.received}.subspan(static_cast<std::size_t>(turn) * numbers, numbers);
        const Points points = strip.points_of_row(edge.first_diagonal, edge.points);
        for (int m = 0; m < quantities; ++m) {
            for (int point = points.first; point < points.end; ++point) {
                const int index = m * edge.points + point;
                const auto number = static_cast<std::size_t>(index);
                passed[edge.places[number]] += values[number];
            }
        }
    }
}

sweep::Outflow Relay::outflow(int turn) {
    const auto room = [&](Edge& edge) {
        return edge.target == MPI_PROC_NULL ? nullptr : message(edge.to_send, edge.places.size(), turn);
    };
    return {.x = room(edges_[0]), .y = room(edges_[1])};
}

// NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)

}  // namespace tare::npb::lu
