// SPDX-License-Identifier: Apache-2.0
#include "npb/lu/relay.hpp"

namespace tare::npb::lu {

namespace {

/// Of the points that a sweep comes to first along an axis, [quantity][point]; `place` is called with the
/// place across the edge, that along it, and the quantity.
template <typename Place>
std::vector<std::size_t> first_places(const Share& share, int along, Way way, const Place& place) {
    std::vector<std::size_t> found;
    const int across = way == Way::growing ? 0 : share.count - 1;
    for (int m = 0; m < quantities; ++m) {
        for (int point = 0; point < along; ++point) {
            found.push_back(static_cast<std::size_t>(place(across, point, m)));
        }
    }
    return found;
}

}  // namespace

Relay::Relay(const Part& part, const Layout& layout, Way way) : communicator_{part.communicator} {
    const auto in_x = [&](int x, int y, int m) { return layout.group_place(x, y, m); };
    const auto in_y = [&](int y, int x, int m) { return layout.group_place(x, y, m); };
    const auto edge = [&](const Share& share, std::vector<std::size_t> places) {
        const std::vector<double> values(places.size());
        return Edge{.source = way == Way::growing ? share.previous : share.next,
                    .target = way == Way::growing ? share.next : share.previous,
                    .places = std::move(places),
                    .received = values,
                    .to_send = {values, values}};
    };
    edges_ = {edge(part.x, first_places(part.x, part.y.count, way, in_x)),
              edge(part.y, first_places(part.y, part.x.count, way, in_y))};
}

void Relay::receive(std::span<double> passed) {
    for (Edge& edge : edges_) {
        if (edge.source == MPI_PROC_NULL) {
            continue;
        }
        MPI_Recv(edge.received.data(), static_cast<int>(edge.received.size()), MPI_DOUBLE, edge.source, 0,
                 communicator_, MPI_STATUS_IGNORE);
        for (std::size_t index = 0; index < edge.places.size(); ++index) {
            passed[edge.places[index]] += edge.received[index];
        }
    }
}

sweep::Outflow Relay::outflow() {
    const auto room = [&](Edge& edge) -> double* {
        if (edge.target == MPI_PROC_NULL) {
            return nullptr;
        }
        MPI_Wait(&edge.sending.at(turn_), MPI_STATUS_IGNORE);
        return edge.to_send.at(turn_).data();
    };
    return {.x = room(edges_[0]), .y = room(edges_[1])};
}

void Relay::send() {
    for (Edge& edge : edges_) {
        if (edge.target != MPI_PROC_NULL) {
            const std::vector<double>& values = edge.to_send.at(turn_);
            MPI_Isend(values.data(), static_cast<int>(values.size()), MPI_DOUBLE, edge.target, 0,
                      communicator_, &edge.sending.at(turn_));
        }
    }
    turn_ = 1 - turn_;
}

void Relay::finish() {
    for (Edge& edge : edges_) {
        MPI_Waitall(static_cast<int>(edge.sending.size()), edge.sending.data(), MPI_STATUSES_IGNORE);
    }
}

}  // namespace tare::npb::lu
