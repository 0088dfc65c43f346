// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/halo.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "npb/common/share.hpp"

namespace tare::npb::mg {

namespace {

/// Which way a face travels: two neighbours may be one rank.
enum Way : int { backwards, forwards };

int tag_of(Axis axis, Way way) { return 2 * static_cast<int>(axis) + way; }

/// From `first` to before `end` along an axis.
struct Extent {
    int first;
    int end;
};

/// Some of a block's points, which one message carries.
struct Slab {
    Grid grid;
    std::array<Extent, axes.size()> extents{};

    /// Calls `work` with each row's part: its first value and how many.
    template <typename Work>
    void each_part(const Work& work) const {
        const auto& [x, y, z] = extents;
        for (int plane = z.first; plane < z.end; ++plane) {
            for (int row = y.first; row < y.end; ++row) {
                work(grid.row(plane, row) + x.first, x.end - x.first);
            }
        }
    }

    /// The number of values.
    int pack(Buffer<double>& into) const {
        double* next = into.data();
        each_part([&](const double* values, int count) { next = std::copy_n(values, count, next); });
        return static_cast<int>(next - into.data());
    }

    void unpack(const Buffer<double>& from) const {
        const double* next = from.data();
        each_part([&](double* values, int count) {
            std::copy_n(next, count, values);
            next += count;
        });
    }
};

/// Layers across an axis, with the halo of all other axes.
Slab layers(Field& field, Axis axis, Extent along) {
    Slab slab{.grid = field.grid()};
    for (const Axis each : axes) {
        slab.extents.at(each) =
            each == axis ? along : Extent{.first = -1, .end = field.block().count(each) + 1};
    }
    return slab;
}

/// One layer across an axis, with the halo of the axes before it.
Slab face(Field& field, Axis axis, int place) {
    Slab slab = layers(field, axis, {.first = place, .end = place + 1});
    for (std::size_t later = axis + 1; later < axes.size(); ++later) {
        Extent& extent = slab.extents.at(later);
        extent = {.first = extent.first + 1, .end = extent.end - 1};
    }
    return slab;
}

/// Two of the largest layers.
std::size_t slab_size(const Block& block) {
    std::array<std::size_t, axes.size()> counts{};
    for (const Axis axis : axes) {
        counts.at(axis) = static_cast<std::size_t>(block.count(axis)) + 2;
    }
    std::ranges::sort(counts);
    return 2 * counts[1] * counts[2];
}

}  // namespace

PlaneHalo::PlaneHalo(const World& world, Field& field, Team& team)
    : world_{world}, field_{&field}, team_{&team} {}

void PlaneHalo::start() {
    if (world_.ranks == 1) {
        copy();
    } else {
        send();
    }
}

void PlaneHalo::finish() {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

void PlaneHalo::copy() {
    const Grid grid = field_->grid();
    const int planes = field_->planes();
    team_->run([&](int thread) {
        const Share<std::ptrdiff_t> part = team_->part(thread, grid.plane_stride);
        const auto copy_plane = [&](int plane) {
            std::copy_n(std::next(grid.row((plane + planes) % planes, 0), part.first), part.count,
                        std::next(grid.row(plane, 0), part.first));
        };
        for (int plane = -field_->halo().below; plane < 0; ++plane) {
            copy_plane(plane);
        }
        for (int plane = planes; plane < planes + field_->halo().above; ++plane) {
            copy_plane(plane);
        }
    });
}

void PlaneHalo::send() {
    const Grid grid = field_->grid();
    const Halo halo = field_->halo();
    const int planes = field_->planes();
    const int below = (world_.rank + world_.ranks - 1) % world_.ranks;
    const int above = (world_.rank + 1) % world_.ranks;
    const auto size_of = [&](int count) { return field_->plane_size() * count; };
    MPI_Irecv(grid.row(-halo.below, 0), size_of(halo.below), MPI_DOUBLE, below, forwards, world_.communicator,
              requests_.data());
    MPI_Irecv(grid.row(planes, 0), size_of(halo.above), MPI_DOUBLE, above, backwards, world_.communicator,
              &requests_[1]);
    MPI_Isend(grid.row(planes - halo.below, 0), size_of(halo.below), MPI_DOUBLE, above, forwards,
              world_.communicator, &requests_[2]);
    MPI_Isend(grid.row(0, 0), size_of(halo.above), MPI_DOUBLE, below, backwards, world_.communicator,
              &requests_[3]);
}

BlockHalo::BlockHalo(const World& active, const BlockCut& cut, const Block& finest)
    : world_{active},
      cut_{cut},
      sent_{slab_size(finest)},
      from_before_{slab_size(finest)},
      from_after_{slab_size(finest)} {}

void BlockHalo::exchange(Field& field) {
    for (const Axis axis : axes) {
        if (world_.ranks == 1) {
            copy_axis(field, axis);
        } else {
            exchange_axis(field, axis);
        }
    }
}

void BlockHalo::copy_axis(Field& field, Axis axis) {
    const int count = field.block().count(axis);
    face(field, axis, 0).pack(sent_);
    face(field, axis, count).unpack(sent_);
    face(field, axis, count - 1).pack(sent_);
    face(field, axis, -1).unpack(sent_);
}

void BlockHalo::exchange_axis(Field& field, Axis axis) {
    const int count = field.block().count(axis);
    const int before = cut_.neighbour(axis, -field.block().stride(axis));
    const int after = cut_.neighbour(axis, field.block().stride(axis));
    std::array<MPI_Request, 2> requests{};
    const auto most = static_cast<int>(sent_.size());
    MPI_Irecv(from_before_.data(), most, MPI_DOUBLE, before, tag_of(axis, forwards), world_.communicator,
              requests.data());
    MPI_Irecv(from_after_.data(), most, MPI_DOUBLE, after, tag_of(axis, backwards), world_.communicator,
              &requests[1]);
    send(face(field, axis, count - 1).pack(sent_), after, tag_of(axis, forwards));
    send(face(field, axis, 0).pack(sent_), before, tag_of(axis, backwards));
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    face(field, axis, -1).unpack(from_before_);
    face(field, axis, count).unpack(from_after_);
}

void BlockHalo::complete(Field& field, const Block& coarser) {
    for (const Axis axis : axes) {
        const int distance = field.block().stride(axis);
        if (coarser.stride(axis) == distance) {
            continue;
        }
        if (coarser.count(axis) > 0) {
            give(field, axis, distance);
        } else {
            take(field, axis, distance);
        }
    }
}

/// The rank before gets its last point, which is in the halo here, and the point here for its halo; the rank
/// after gets the point here for its halo.
void BlockHalo::give(Field& field, Axis axis, int distance) {
    const int after = cut_.neighbour(axis, distance);
    const int before = cut_.neighbour(axis, -distance);
    send(layers(field, axis, {.first = 0, .end = 1}).pack(sent_), after, tag_of(axis, forwards));
    send(layers(field, axis, {.first = -1, .end = 1}).pack(sent_), before, tag_of(axis, backwards));
}

void BlockHalo::take(Field& field, Axis axis, int distance) {
    const auto receive = [&](Buffer<double>& into, int rank, Way way) {
        MPI_Recv(into.data(), static_cast<int>(into.size()), MPI_DOUBLE, rank, tag_of(axis, way),
                 world_.communicator, MPI_STATUS_IGNORE);
    };
    receive(from_before_, cut_.neighbour(axis, -distance), forwards);
    layers(field, axis, {.first = -1, .end = 0}).unpack(from_before_);
    receive(from_after_, cut_.neighbour(axis, distance), backwards);
    layers(field, axis, {.first = 0, .end = 2}).unpack(from_after_);
}

void BlockHalo::send(int size, int rank, int tag) const {
    MPI_Send(sent_.data(), size, MPI_DOUBLE, rank, tag, world_.communicator);
}

}  // namespace tare::npb::mg
