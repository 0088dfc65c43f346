// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/ghosts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

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
    BlockField* field;
    std::array<Extent, axes.size()> extents{};

    /// Calls `work` with each row's part: its first value and how many.
    template <typename Work>
    void each_part(const Work& work) const {
        const auto& [x, y, z] = extents;
        for (int plane = z.first; plane < z.end; ++plane) {
            for (int row = y.first; row < y.end; ++row) {
                work(field->row(plane, row) + x.first, x.end - x.first);
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

/// Layers across an axis, with the ghosts of all other axes.
Slab layers(BlockField& field, Axis axis, Extent along) {
    Slab slab{.field = &field};
    for (const Axis each : axes) {
        slab.extents.at(each) =
            each == axis ? along : Extent{.first = -1, .end = field.block().count(each) + 1};
    }
    return slab;
}

/// One layer across an axis, with the ghosts of the axes before it.
Slab face(BlockField& field, Axis axis, int place) {
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

Ghosts::Ghosts(const World& active, const Cut& cut, const Block& finest)
    : world_{active},
      cut_{cut},
      sent_{slab_size(finest)},
      from_before_{slab_size(finest)},
      from_after_{slab_size(finest)} {}

void Ghosts::exchange(BlockField& field) {
    for (const Axis axis : axes) {
        if (world_.ranks == 1) {
            copy_axis(field, axis);
        } else {
            exchange_axis(field, axis);
        }
    }
}

void Ghosts::copy_axis(BlockField& field, Axis axis) {
    const int count = field.block().count(axis);
    face(field, axis, 0).pack(sent_);
    face(field, axis, count).unpack(sent_);
    face(field, axis, count - 1).pack(sent_);
    face(field, axis, -1).unpack(sent_);
}

void Ghosts::exchange_axis(BlockField& field, Axis axis) {
    const Span& span = field.block().span(axis);
    const int before = cut_.neighbour(axis, -span.stride);
    const int after = cut_.neighbour(axis, span.stride);
    std::array<MPI_Request, 2> requests{};
    const auto most = static_cast<int>(sent_.size());
    MPI_Irecv(from_before_.data(), most, MPI_DOUBLE, before, tag_of(axis, forwards), world_.communicator,
              requests.data());
    MPI_Irecv(from_after_.data(), most, MPI_DOUBLE, after, tag_of(axis, backwards), world_.communicator,
              &requests[1]);
    send(face(field, axis, span.points.count - 1).pack(sent_), after, tag_of(axis, forwards));
    send(face(field, axis, 0).pack(sent_), before, tag_of(axis, backwards));
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    face(field, axis, -1).unpack(from_before_);
    face(field, axis, span.points.count).unpack(from_after_);
}

void Ghosts::complete(BlockField& field, const Block& coarser) {
    for (const Axis axis : axes) {
        const int distance = field.block().span(axis).stride;
        if (coarser.span(axis).stride == distance) {
            continue;
        }
        if (coarser.count(axis) > 0) {
            give(field, axis, distance);
        } else {
            take(field, axis, distance);
        }
    }
}

/// To the rank before its own point, a ghost here, and its ghost, a point here; to the rank after its other
/// ghost.
void Ghosts::give(BlockField& field, Axis axis, int distance) {
    const int after = cut_.neighbour(axis, distance);
    const int before = cut_.neighbour(axis, -distance);
    send(layers(field, axis, {.first = 0, .end = 1}).pack(sent_), after, tag_of(axis, forwards));
    send(layers(field, axis, {.first = -1, .end = 1}).pack(sent_), before, tag_of(axis, backwards));
}

void Ghosts::take(BlockField& field, Axis axis, int distance) {
    const auto receive = [&](Buffer<double>& into, int rank, Way way) {
        MPI_Recv(into.data(), static_cast<int>(into.size()), MPI_DOUBLE, rank, tag_of(axis, way),
                 world_.communicator, MPI_STATUS_IGNORE);
    };
    receive(from_before_, cut_.neighbour(axis, -distance), forwards);
    layers(field, axis, {.first = -1, .end = 0}).unpack(from_before_);
    receive(from_after_, cut_.neighbour(axis, distance), backwards);
    layers(field, axis, {.first = 0, .end = 2}).unpack(from_after_);
}

void Ghosts::send(int size, int rank, int tag) const {
    MPI_Send(sent_.data(), size, MPI_DOUBLE, rank, tag, world_.communicator);
}

}  // namespace tare::npb::mg
