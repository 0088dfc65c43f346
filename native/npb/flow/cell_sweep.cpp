// SPDX-License-Identifier: Apache-2.0
#include "npb/flow/cell_sweep.hpp"

#include <array>

namespace tare::npb::flow {

namespace {

Share<int> inside(const Extent& extent) {
    return {.first = extent.begin(), .count = extent.end() - extent.begin()};
}

std::vector<Section> sections(const CellGrid& grid, int edge, Axis axis) {
    std::vector<Section> made;
    made.reserve(static_cast<std::size_t>(grid.side()));
    for (int cell = 0; cell < grid.side(); ++cell) {
        made.push_back(Section::of(grid.block(cell, edge), axis));
    }
    return made;
}

}  // namespace

// Rows along x begin where vectors may be loaded; rows of y are gathered from wherever they begin.
Section Section::of(const Block& block, Axis axis) {
    switch (axis) {
        case Axis::x:
            return {.rows = inside(block.z),
                    .beside = inside(block.y),
                    .first = block.y.begin(),
                    .places = block.x.count};
        case Axis::y:
            return {.rows = inside(block.z), .beside = inside(block.x), .places = block.y.count};
        default:
            return {.rows = inside(block.y), .beside = inside(block.x), .places = block.z.count};
    }
}

CellSweep::CellSweep(const CellGrid& grid, int edge, Axis axis, const CellNumbers& numbers, int lanes,
                     Team& team)
    : team_{&team},
      grid_{grid},
      axis_{axis},
      numbers_{numbers},
      lanes_{lanes},
      sections_{sections(grid, edge, axis)},
      onward_{way(true, numbers.forward)},
      back_{way(false, numbers.backward)} {
    std::size_t states = 0;
    for (const Section& section : sections_) {
        states = std::max(
            states, place_of(section, section.rows.count, 0, std::max(numbers.forward, numbers.backward)));
    }
    states_ = Buffer<double>{states};
}

std::size_t CellSweep::room_numbers() const {
    std::size_t most = 0;
    for (const Section& section : sections_) {
        const int vectors = section.rows.count * section.vectors(lanes_);
        most = std::max(most, static_cast<std::size_t>(vectors) * room_of_vector(section));
    }
    return most;
}

CellSweep::Way CellSweep::way(bool is_onward, int numbers) const {
    constexpr int first_tag = 100;
    int lines = 0;
    for (const Section& section : sections_) {
        lines = std::max(lines, message_lines(section));
    }
    const int last = grid_.side() - 1;
    const auto room = static_cast<std::size_t>(lines) * static_cast<std::size_t>(numbers);
    return {.first_slab = is_onward ? 0 : last,
            .last_slab = is_onward ? last : 0,
            .from = is_onward ? grid_.previous(axis_) : grid_.next(axis_),
            .to = is_onward ? grid_.next(axis_) : grid_.previous(axis_),
            .tag = first_tag + (is_onward ? 0 : 1),
            .numbers = numbers,
            .received = Buffer<double>{room},
            .sent = Buffer<double>{room}};
}

int CellSweep::message_lines(const Section& section) const {
    return std::max(numbers_.room_lines, section.lines());
}

std::size_t CellSweep::room_of_vector(const Section& section) const {
    return static_cast<std::size_t>(numbers_.kept) *
           static_cast<std::size_t>(section.places + numbers_.places_beyond) *
           static_cast<std::size_t>(lanes_);
}

std::size_t CellSweep::place_of(const Section& section, int row, int vector, int numbers) const {
    return static_cast<std::size_t>(row * section.vectors(lanes_) + vector) *
           static_cast<std::size_t>(numbers) * static_cast<std::size_t>(lanes_);
}

template <typename Move>
void CellSweep::each_number(const Section& section, int numbers, const Move& move) {
    std::size_t in_message = 0;
    for (int row = 0; row < section.rows.count; ++row) {
        for (int number = 0; number < numbers; ++number) {
            for (int line = 0; line < section.beside.count; ++line) {
                const int beside = section.beside.first + line - section.first;
                const std::size_t state = place_of(section, row, beside / lanes_, numbers) +
                                          static_cast<std::size_t>(number * lanes_ + beside % lanes_);
                move(states_.span()[state], in_message++);
            }
        }
    }
}

void CellSweep::receive(const Section& section, Way& way) {
    std::array requests{MPI_REQUEST_NULL, way.sending};
    MPI_Irecv(way.received.data(), message_lines(section) * way.numbers, MPI_DOUBLE, way.from, way.tag,
              grid_.world().communicator, requests.data());
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    way.sending = requests.back();
    each_number(section, way.numbers, [&](double& of_state, std::size_t in_message) {
        of_state = way.received.span()[in_message];
    });
}

void CellSweep::send(const Section& section, Way& way) {
    each_number(section, way.numbers, [&](const double& of_state, std::size_t in_message) {
        way.sent.span()[in_message] = of_state;
    });
    MPI_Isend(way.sent.data(), message_lines(section) * way.numbers, MPI_DOUBLE, way.to, way.tag,
              grid_.world().communicator, &way.sending);
}  // NOLINT(clang-analyzer-optin.mpi.MPI-Checker): `receive` waits, in the next stage

std::vector<Buffer<double>> rooms(const CellGrid& grid, std::initializer_list<const CellSweep*> sweeps) {
    std::size_t numbers = 0;
    for (const CellSweep* sweep : sweeps) {
        numbers = std::max(numbers, sweep->room_numbers());
    }
    std::vector<Buffer<double>> rooms;
    rooms.reserve(static_cast<std::size_t>(grid.side()));
    for (int cell = 0; cell < grid.side(); ++cell) {
        rooms.emplace_back(numbers);
    }
    return rooms;
}

}  // namespace tare::npb::flow
