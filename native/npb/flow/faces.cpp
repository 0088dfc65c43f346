// SPDX-License-Identifier: Apache-2.0
#include "npb/flow/faces.hpp"

#include <mpi.h>

#include <algorithm>
#include <iterator>

namespace tare::npb::flow {

namespace {

/// Points of a cell or beside it.
struct Box {
    Share<int> x;
    Share<int> y;
    Share<int> z;

    [[nodiscard]] Share<int>& along(Axis axis) { return axis == Axis::x ? x : (axis == Axis::y ? y : z); }
    [[nodiscard]] std::size_t numbers() const {
        return std::size_t{components} * static_cast<std::size_t>(x.count) *
               static_cast<std::size_t>(y.count) * static_cast<std::size_t>(z.count);
    }
};

/// The ghost_layers of a block from `first` on.
Box layers(const Block& block, Axis axis, int first) {
    Box box{.x = {.count = block.x.count}, .y = {.count = block.y.count}, .z = {.count = block.z.count}};
    box.along(axis) = {.first = first, .count = ghost_layers};
    return box;
}

int places(const Block& block, Axis axis) {
    return axis == Axis::x ? block.x.count : (axis == Axis::y ? block.y.count : block.z.count);
}

/// The block's own layers at its end, or at its start.
Box own_layers(const Block& block, Axis axis, bool at_end) {
    return layers(block, axis, at_end ? places(block, axis) - ghost_layers : 0);
}

/// The ghost layers beyond its end, or before its start.
Box ghosts(const Block& block, Axis axis, bool at_end) {
    return layers(block, axis, at_end ? places(block, axis) : -ghost_layers);
}

/// Calls `move` with the values of each row of each component.
template <typename Move>
void each_row(Field& field, const Box& box, const Move& move) {
    const auto view = field.view();
    const auto count = static_cast<std::size_t>(box.x.count);
    for (int z = box.z.first; z < box.z.end(); ++z) {
        for (int y = box.y.first; y < box.y.end(); ++y) {
            for (int component = 0; component < components; ++component) {
                move(std::span{std::next(view.at(z, y, component), box.x.first), count});
            }
        }
    }
}

}  // namespace

Faces::Faces(const CellGrid& grid, int edge)
    : grid_{grid}, messages_{message(Axis::x, true, edge), message(Axis::x, false, edge),
                             message(Axis::y, true, edge), message(Axis::y, false, edge),
                             message(Axis::z, true, edge), message(Axis::z, false, edge)} {}

Faces::Message Faces::message(Axis axis, bool is_onward, int edge) const {
    Message made{.axis = axis,
                 .is_onward = is_onward,
                 .from = is_onward ? grid_.previous(axis) : grid_.next(axis),
                 .to = is_onward ? grid_.next(axis) : grid_.previous(axis),
                 .sent{},
                 .received{}};
    std::size_t sent = 0;
    std::size_t received = 0;
    for (int cell = 0; cell < grid_.side(); ++cell) {
        const std::size_t numbers = own_layers(grid_.block(cell, edge), axis, is_onward).numbers();
        sent += gives(made, cell) ? numbers : 0;
        received += takes(made, cell) ? numbers : 0;
    }
    made.sent = Buffer<double>{sent};
    made.received = Buffer<double>{received};
    return made;
}

bool Faces::is_at_end(int cell, Axis axis, bool is_last) const {
    return grid_.slab(cell, axis) == (is_last ? grid_.side() - 1 : 0);
}

bool Faces::gives(const Message& message, int cell) const {
    return !is_at_end(cell, message.axis, message.is_onward);
}

bool Faces::takes(const Message& message, int cell) const {
    return !is_at_end(cell, message.axis, !message.is_onward);
}

void Faces::pack(std::span<Field> cells, Message& message) const {
    auto into = message.sent.span().begin();
    for (int cell = 0; cell < grid_.side(); ++cell) {
        if (gives(message, cell)) {
            Field& field = cells[static_cast<std::size_t>(cell)];
            each_row(field, own_layers(field.block(), message.axis, message.is_onward),
                     [&](std::span<double> row) { into = std::ranges::copy(row, into).out; });
        }
    }
}

void Faces::unpack(std::span<Field> cells, Message& message) const {
    auto from = message.received.span().begin();
    for (int cell = 0; cell < grid_.side(); ++cell) {
        if (takes(message, cell)) {
            Field& field = cells[static_cast<std::size_t>(cell)];
            each_row(field, ghosts(field.block(), message.axis, !message.is_onward),
                     [&](std::span<double> row) {
                         from = std::ranges::copy_n(from, std::ssize(row), row.begin()).in;
                     });
        }
    }
}

void Faces::exchange(std::span<Field> cells) {
    std::array<MPI_Request, std::size_t{2} * std::tuple_size_v<decltype(messages_)>> requests{};
    const World& world = grid_.world();
    std::size_t request = 0;
    int tag = 0;
    for (Message& message : messages_) {
        MPI_Irecv(message.received.data(), static_cast<int>(message.received.size()), MPI_DOUBLE,
                  message.from, tag++, world.communicator, &requests.at(request++));
    }
    tag = 0;
    for (Message& message : messages_) {
        pack(cells, message);
        MPI_Isend(message.sent.data(), static_cast<int>(message.sent.size()), MPI_DOUBLE, message.to, tag++,
                  world.communicator, &requests.at(request++));
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (Message& message : messages_) {
        unpack(cells, message);
    }
}

}  // namespace tare::npb::flow
