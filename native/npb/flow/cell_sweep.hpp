// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

#include "npb/common/buffer.hpp"
#include "npb/common/share.hpp"
#include "npb/common/team.hpp"
#include "npb/flow/cell_grid.hpp"

namespace tare::npb::flow {

/// The lines of a cell inside the boundary: in rows, in which they lie side by side: along x in rows of y,
/// for each z; along y in rows of x, for each z; along z in rows of x, for each y.
struct Section {
    Share<int> rows;
    /// The lines of a row.
    Share<int> beside;
    /// Where its first vector of lines begins.
    int first = 0;
    /// Places along each line.
    int places = 0;

    [[nodiscard]] static Section of(const Block& block, Axis axis);

    [[nodiscard]] int vectors(int lanes) const { return (beside.end() - first + lanes - 1) / lanes; }
    [[nodiscard]] int lines() const { return rows.count * beside.count; }
};

/// What a line's elimination and substitution hand on and keep, in numbers.
struct CellNumbers {
    int forward;
    int backward;
    /// Kept for the way back at each place, and at so many places beyond the ends.
    int kept;
    int places_beyond = 0;
    /// Lines that every message has room for; 0: as many as it needs.
    int room_lines = 0;
};

/// A row of lines that a thread has in hand.
struct CellRow {
    int cell;
    int row;
    int thread;
};

/// Elimination forward and substitution backward along an axis, from slab to slab: in each stage every rank
/// treats its cell of one slab, with what the previous rank handed on, and sends all its lines to the next in
/// one message. Threads share the rows.
class CellSweep {
  public:
    CellSweep(const CellGrid& grid, int edge, Axis axis, const CellNumbers& numbers, int lanes, Team& team);

    /// Numbers that are kept of a cell: `run` needs room for as many, for each cell.
    [[nodiscard]] std::size_t room_numbers() const;

    /// `prepare(row)`, then `forward(row, place, state, room)` for each vector of the row's lines from a
    /// place on: what was handed on (zeros at the boundary) and is to be handed on, and what is kept, which
    /// `backward`, the same, finds again.
    template <typename Prepare, typename Forward, typename Backward>
    void run(std::span<Buffer<double>> rooms, const Prepare& prepare, const Forward& forward,
             const Backward& backward) {
        for (int slab = 0; slab < grid_.side(); ++slab) {
            stage(slab, onward_, rooms, [&](const CellRow& row, int place, double* state, double* room) {
                if (place == section_of(row.cell).first) {
                    prepare(row);
                }
                forward(row, place, state, room);
            });
        }
        for (int slab = grid_.side() - 1; slab >= 0; --slab) {
            stage(slab, back_, rooms, backward);
        }
    }

  private:
    /// One of the two ways.
    struct Way {
        int first_slab;
        int last_slab;
        int from;
        int to;
        int tag;
        int numbers;
        Buffer<double> received;
        Buffer<double> sent;
        MPI_Request sending = MPI_REQUEST_NULL;
    };

    [[nodiscard]] Way way(bool is_onward, int numbers) const;
    [[nodiscard]] int message_lines(const Section& section) const;
    [[nodiscard]] const Section& section_of(int cell) const {
        return sections_[static_cast<std::size_t>(cell)];
    }
    [[nodiscard]] std::size_t room_of_vector(const Section& section) const;
    /// Where the state of a line of a row begins; its numbers are `lanes` apart.
    [[nodiscard]] std::size_t place_of(const Section& section, int row, int vector, int numbers) const;

    /// States as they travel: [row][number][line]. What was sent in the stage before is waited for too.
    void receive(const Section& section, Way& way);
    void send(const Section& section, Way& way);
    /// Calls `move(number of a state, number of a message)` for all numbers of all lines.
    template <typename Move>
    void each_number(const Section& section, int numbers, const Move& move);

    template <typename Work>
    void stage(int slab, Way& way, std::span<Buffer<double>> rooms, const Work& work) {
        const int cell = grid_.cell_in(slab, axis_);
        const Section& section = section_of(cell);
        std::ranges::fill(states_.span(), 0.0);
        if (slab != way.first_slab) {
            receive(section, way);
        }
        const auto room = rooms[static_cast<std::size_t>(cell)].span();
        team_->run([&](int thread) {
            const Share<int> rows = team_->part(thread, section.rows.count);
            for (int row = rows.first; row < rows.end(); ++row) {
                take_row({.cell = cell, .row = section.rows.first + row, .thread = thread}, way.numbers, room,
                         work);
            }
        });
        if (slab != way.last_slab) {
            send(section, way);
        }
    }

    template <typename Work>
    void take_row(const CellRow& row, int numbers, std::span<double> room, const Work& work) {
        const Section& section = section_of(row.cell);
        const int index = row.row - section.rows.first;
        const int vectors = section.vectors(lanes_);
        for (int vector = 0; vector < vectors; ++vector) {
            const auto kept = static_cast<std::size_t>(index * vectors + vector) * room_of_vector(section);
            work(row, section.first + vector * lanes_,
                 &states_.span()[place_of(section, index, vector, numbers)], &room[kept]);
        }
    }

    Team* team_;
    CellGrid grid_;
    Axis axis_;
    CellNumbers numbers_;
    int lanes_;
    std::vector<Section> sections_;
    /// Of all lines of a cell, a vector of lines at a time: [row][vector][number][lane].
    Buffer<double> states_;
    Way onward_;
    Way back_;
};

/// Room for each cell of a rank, enough for any of the sweeps.
[[nodiscard]] std::vector<Buffer<double>> rooms(const CellGrid& grid,
                                                std::initializer_list<const CellSweep*> sweeps);

}  // namespace tare::npb::flow
