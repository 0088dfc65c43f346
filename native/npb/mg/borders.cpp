// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/borders.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "npb/common/share.hpp"

namespace tare::npb::mg {

namespace {

/// Which way planes travel: two neighbours may be one rank.
enum Tag : int { up, down };

}  // namespace

Borders::Borders(const World& world, Field& field, Team& team)
    : world_{world}, field_{&field}, team_{&team} {}

void Borders::start() {
    if (world_.ranks == 1) {
        copy();
    } else {
        send();
    }
}

void Borders::finish() {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

void Borders::copy() {
    const Grid grid = field_->grid();
    const int planes = field_->planes();
    team_->run([&](int thread) {
        const Share<std::ptrdiff_t> part = team_->part(thread, grid.stride);
        const auto copy_plane = [&](int plane) {
            std::copy_n(std::next(grid.row((plane + planes) % planes, 0), part.first), part.count,
                        std::next(grid.row(plane, 0), part.first));
        };
        for (int plane = -field_->depth().below; plane < 0; ++plane) {
            copy_plane(plane);
        }
        for (int plane = planes; plane < planes + field_->depth().above; ++plane) {
            copy_plane(plane);
        }
    });
}

void Borders::send() {
    const Grid grid = field_->grid();
    const Depth depth = field_->depth();
    const int planes = field_->planes();
    const int below = (world_.rank + world_.ranks - 1) % world_.ranks;
    const int above = (world_.rank + 1) % world_.ranks;
    const auto size_of = [&](int count) { return static_cast<int>(grid.stride) * count; };
    MPI_Irecv(grid.row(-depth.below, 0), size_of(depth.below), MPI_DOUBLE, below, up, world_.communicator,
              requests_.data());
    MPI_Irecv(grid.row(planes, 0), size_of(depth.above), MPI_DOUBLE, above, down, world_.communicator,
              &requests_[1]);
    MPI_Isend(grid.row(planes - depth.below, 0), size_of(depth.below), MPI_DOUBLE, above, up,
              world_.communicator, &requests_[2]);
    MPI_Isend(grid.row(0, 0), size_of(depth.above), MPI_DOUBLE, below, down, world_.communicator,
              &requests_[3]);
}

}  // namespace tare::npb::mg
