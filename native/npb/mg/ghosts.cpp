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

/// A face across `axis`: it includes the ghosts of the axes before.
struct Face {
    BlockField* field;
    Axis axis;
    int place;

    [[nodiscard]] Extent extent(Axis other) const {
        if (other == axis) {
            return {.first = place, .end = place + 1};
        }
        const int ghosts = other < axis ? 1 : 0;
        return {.first = -ghosts, .end = field->block().count(other) + ghosts};
    }

    /// Calls `work` with each row's part of the face: its first value and how many.
    template <typename Work>
    void each_part(const Work& work) const {
        const Extent x = extent(x_axis);
        const Extent y = extent(y_axis);
        const Extent z = extent(z_axis);
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

/// The largest face with its ghosts.
std::size_t face_size(const Block& block) {
    std::array<std::size_t, axes.size()> counts{};
    for (const Axis axis : axes) {
        counts.at(axis) = static_cast<std::size_t>(block.count(axis)) + 2;
    }
    std::ranges::sort(counts);
    return counts[1] * counts[2];
}

}  // namespace

Ghosts::Ghosts(const World& active, const Cut& cut, const Block& finest)
    : world_{active},
      cut_{cut},
      sent_{face_size(finest)},
      from_before_{face_size(finest)},
      from_after_{face_size(finest)} {}

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
    Face{&field, axis, 0}.pack(sent_);
    Face{&field, axis, count}.unpack(sent_);
    Face{&field, axis, count - 1}.pack(sent_);
    Face{&field, axis, -1}.unpack(sent_);
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
    send(sent_, Face{&field, axis, span.points.count - 1}.pack(sent_), after, tag_of(axis, forwards));
    send(sent_, Face{&field, axis, 0}.pack(sent_), before, tag_of(axis, backwards));
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    Face{&field, axis, -1}.unpack(from_before_);
    Face{&field, axis, span.points.count}.unpack(from_after_);
}

void Ghosts::give_to_finer(BlockField& field, const Block& finer) {
    for (const Axis axis : axes) {
        const Span& span = field.block().span(axis);
        if (span.stride == finer.span(axis).stride) {
            continue;
        }
        if (span.points.count > 0) {
            give_axis(field, axis, finer.span(axis).stride);
        } else {
            take_axis(field, axis, finer.span(axis).stride);
        }
    }
}

void Ghosts::give_axis(BlockField& field, Axis axis, int distance) {
    const int size = Face{&field, axis, 0}.pack(sent_);
    send(sent_, size, cut_.neighbour(axis, distance), tag_of(axis, forwards));
    send(sent_, size, cut_.neighbour(axis, -distance), tag_of(axis, backwards));
}

void Ghosts::take_axis(BlockField& field, Axis axis, int distance) {
    const auto most = static_cast<int>(from_before_.size());
    MPI_Recv(from_before_.data(), most, MPI_DOUBLE, cut_.neighbour(axis, -distance), tag_of(axis, forwards),
             world_.communicator, MPI_STATUS_IGNORE);
    Face{&field, axis, -1}.unpack(from_before_);
    MPI_Recv(from_after_.data(), most, MPI_DOUBLE, cut_.neighbour(axis, distance), tag_of(axis, backwards),
             world_.communicator, MPI_STATUS_IGNORE);
    Face{&field, axis, 0}.unpack(from_after_);
}

void Ghosts::send(const Buffer<double>& face, int size, int rank, int tag) const {
    MPI_Send(face.data(), size, MPI_DOUBLE, rank, tag, world_.communicator);
}

}  // namespace tare::npb::mg
