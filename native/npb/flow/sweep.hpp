// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "npb/common/buffer.hpp"
#include "npb/common/share.hpp"
#include "npb/common/team.hpp"
#include "npb/flow/block.hpp"
#include "npb/flow/field.hpp"
#include "npb/flow/groups.hpp"
#include "npb/flow/process_grid.hpp"
#include "npb/flow/relay.hpp"

namespace tare::npb::flow {

/// The lines of a block along y or z. They lie in rows, side by side in x: those along y in a row for each z,
/// those along z in a row for each y.
struct Lines {
    /// The rows: row_begin .. row_end - 1.
    int row_begin;
    int row_end;
    /// Parts of which a row is prepared, in any order; 0 if there is nothing to prepare.
    int groups;
    /// Vectors of each row, and lines of each vector.
    int vectors;
    int lanes;
    /// Places along each line, and on the whole axis.
    int places;
    int axis_places;
    /// Vectors at so many places are enough work for a thread to be worth a message: rows of fewer go
    /// together.
    int worth_places;
};

/// What one line's elimination passes on and keeps, in numbers.
struct LineNumbers {
    /// Handed to the next rank, at the last place.
    int forward;
    /// Handed to the previous rank, at the first place.
    int backward;
    /// Kept for the way back, at each place.
    int kept;
};

/// A row that a thread has in hand.
struct RowInHand {
    int row;
    /// Which of `rows_together()` rows: room for what `prepare` leaves to `forward`.
    int slot;
    int thread;
};

/// Elimination forward and substitution backward along all lines, a vector of lines at a time.
///
/// Alone along the axis, a rank's threads have rows of their own, and take each vector there and back while
/// it is in cache. Where the axis is split, vectors go from rank to rank in larger pieces: messages are few,
/// but all ranks soon have work. There the threads share the groups and the vectors of each piece, and thread
/// 0 sends and receives.
class Sweep {
  public:
    Sweep(const Neighbours& neighbours, MPI_Comm communicator, int tag, const Lines& lines,
          const LineNumbers& numbers, Team& team)
        : team_{&team},
          lines_{lines},
          numbers_{numbers},
          is_split_{neighbours.count > 1},
          vectors_{is_split_ ? vectors_of_piece(neighbours.count, lines, team.threads()) : 1},
          rows_{is_split_ ? rows_of_piece(neighbours.count, lines, team.threads()) : 1},
          relay_{neighbours, communicator, tag, numbers_of_piece(numbers.forward),
                 numbers_of_piece(numbers.backward)},
          room_{is_split_ ? static_cast<std::size_t>(relay_.slots()) * kept_of_piece()
                          : static_cast<std::size_t>(team.threads()) * numbers_of_thread()} {}

    /// Along the y or z axis of a block, in rows of the other one; rows of a y sweep are prepared in groups.
    [[nodiscard]] static Sweep along(Axis axis, const ProcessGrid& grid, const Block& block, int lanes,
                                     int worth_places, const LineNumbers& numbers, Team& team) {
        constexpr int tag_y = 100;
        constexpr int tag_z = 102;
        const bool is_y = axis == Axis::y;
        const Extent& places = is_y ? block.y : block.z;
        const Extent& rows = is_y ? block.z : block.y;
        return {is_y ? grid.y : grid.z,
                grid.world.communicator,
                is_y ? tag_y : tag_z,
                {.row_begin = rows.begin(),
                 .row_end = rows.end(),
                 .groups = is_y ? groups_of(block.y) : 0,
                 .vectors = whole_vectors(block.x.count) / lanes,
                 .lanes = lanes,
                 .places = places.count,
                 .axis_places = places.edge,
                 .worth_places = worth_places},
                numbers,
                team};
    }

    /// At most so many rows are prepared before their `forward`.
    [[nodiscard]] int rows_together() const { return is_split_ ? rows_ : team_->threads(); }

    /// `prepare(row, groups)`, for some groups of a `RowInHand`; all groups of a row come before its first
    /// `forward`. `forward(row, x, state, room)` and `backward`, the same: the vector of lines from x on,
    /// what the neighbour handed on (zeros at the boundary) and is to be handed on, and what is kept, which
    /// `backward` finds again. All of them in any thread.
    template <typename Prepare, typename Forward, typename Backward>
    void run(const Prepare& prepare, const Forward& forward, const Backward& backward) {
        if (!is_split_) {
            team_->run([&](int thread) { take_rows(thread, prepare, forward, backward); });
            return;
        }
        relay_.run(
            pieces(), [&](int piece) { prepare_piece(piece, prepare); },
            [&](const Turn& turn) { take_piece(turn, numbers_.forward, forward); },
            [&](const Turn& turn) { take_piece(turn, numbers_.backward, backward); });
    }

  private:
    /// Of the rank that has most: all ranks of an axis must cut the same pieces.
    [[nodiscard]] static int most_places(int ranks, const Lines& lines) {
        return (lines.axis_places + ranks - 1) / ranks;
    }

    [[nodiscard]] static int vectors_of_piece(int ranks, const Lines& lines, int threads) {
        // More of a row take more memory on their way, and the next rank has to wait for them.
        constexpr int places_of_piece = 256;
        return std::clamp(threads * places_of_piece / most_places(ranks, lines), 1, lines.vectors);
    }

    /// As many as are worth it, yet several pieces for each rank.
    [[nodiscard]] static int rows_of_piece(int ranks, const Lines& lines, int threads) {
        constexpr int pieces_per_rank = 2;
        const int rows = lines.row_end - lines.row_begin;
        const int worth = threads * lines.worth_places / (most_places(ranks, lines) * lines.vectors);
        return std::clamp(std::min(worth, rows / (pieces_per_rank * ranks)), 1, rows);
    }

    [[nodiscard]] std::size_t numbers_of_vector(int of_line) const {
        return static_cast<std::size_t>(of_line) * static_cast<std::size_t>(lines_.lanes);
    }
    [[nodiscard]] std::size_t kept_of_vector() const {
        return numbers_of_vector(numbers_.kept) * static_cast<std::size_t>(lines_.places);
    }
    [[nodiscard]] std::size_t vectors_together() const {
        return static_cast<std::size_t>(rows_) * static_cast<std::size_t>(vectors_);
    }
    [[nodiscard]] std::size_t numbers_of_piece(int of_line) const {
        return vectors_together() * numbers_of_vector(of_line);
    }
    [[nodiscard]] std::size_t kept_of_piece() const { return vectors_together() * kept_of_vector(); }

    /// Of a thread with rows of its own: two states and what is kept of a vector, to whole cache lines.
    [[nodiscard]] std::size_t numbers_of_thread() const {
        constexpr std::size_t line = buffer_alignment_byte / sizeof(double);
        const std::size_t numbers =
            numbers_of_vector(numbers_.forward + numbers_.backward) + kept_of_vector();
        return (numbers + line - 1) / line * line;
    }

    [[nodiscard]] int pieces_of_row() const { return (lines_.vectors + vectors_ - 1) / vectors_; }
    /// Of several rows the first piece has half as many, so that the next rank soon has work.
    [[nodiscard]] int left_out() const { return rows_ / 2; }
    [[nodiscard]] int pieces() const {
        return (lines_.row_end - lines_.row_begin + left_out() + rows_ - 1) / rows_ * pieces_of_row();
    }
    [[nodiscard]] Share<int> rows_of(int piece) const {
        const int begin = lines_.row_begin - left_out() + piece / pieces_of_row() * rows_;
        const int first = std::max(begin, lines_.row_begin);
        return {.first = first, .count = std::min(begin + rows_, lines_.row_end) - first};
    }

    template <typename Prepare, typename Forward, typename Backward>
    void take_rows(int thread, const Prepare& prepare, const Forward& forward, const Backward& backward) {
        const Share<int> rows = team_->part(thread, lines_.row_end - lines_.row_begin);
        const std::size_t numbers = numbers_of_thread();
        const auto room = room_.span().subspan(static_cast<std::size_t>(thread) * numbers, numbers);
        const auto states = room.first(numbers_of_vector(numbers_.forward + numbers_.backward));
        double* const state_back = &room[numbers_of_vector(numbers_.forward)];
        double* const kept = &room[states.size()];
        for (int index = rows.first; index < rows.end(); ++index) {
            const RowInHand row{.row = lines_.row_begin + index, .slot = thread, .thread = thread};
            prepare(row, Share<int>{.first = 0, .count = lines_.groups});
            for (int vector = 0; vector < lines_.vectors; ++vector) {
                std::ranges::fill(states, 0.0);
                forward(row, vector * lines_.lanes, states.data(), kept);
                backward(row, vector * lines_.lanes, state_back, kept);
            }
        }
    }

    /// The rows of which the piece holds the first vectors.
    template <typename Prepare>
    void prepare_piece(int piece, const Prepare& prepare) {
        if (lines_.groups == 0 || piece % pieces_of_row() != 0) {
            return;
        }
        const Share<int> rows = rows_of(piece);
        team_->run([&](int thread) {
            const Share<int> groups = team_->part(thread, rows.count * lines_.groups);
            for (int slot = 0; slot < rows.count; ++slot) {
                const int first = std::max(groups.first - slot * lines_.groups, 0);
                const int end = std::min(groups.end() - slot * lines_.groups, lines_.groups);
                if (first < end) {
                    prepare(RowInHand{.row = rows.first + slot, .slot = slot, .thread = thread},
                            Share<int>{.first = first, .count = end - first});
                }
            }
        });
    }

    /// Calls `work` for each vector of a piece.
    template <typename Work>
    void take_piece(const Turn& turn, int numbers, const Work& work) {
        const Share<int> rows = rows_of(turn.piece);
        const int first_vector = turn.piece % pieces_of_row() * vectors_;
        const int vectors = std::min(vectors_, lines_.vectors - first_vector);
        const auto room = room_.span().subspan(static_cast<std::size_t>(turn.slot) * kept_of_piece());
        team_->run([&](int thread) {
            const Share<int> mine = team_->part(thread, rows.count * vectors);
            for (int index = mine.first; index < mine.end(); ++index) {
                const int slot = index / vectors;
                const auto place = static_cast<std::size_t>(index);
                work(RowInHand{.row = rows.first + slot, .slot = slot, .thread = thread},
                     (first_vector + index % vectors) * lines_.lanes,
                     &turn.state[place * numbers_of_vector(numbers)], &room[place * kept_of_vector()]);
            }
        });
    }

    Team* team_;
    Lines lines_;
    LineNumbers numbers_;
    bool is_split_;
    /// Vectors, of so many rows each, that make a piece. More than one row only if the vectors are all of
    /// them.
    int vectors_;
    int rows_;
    Relay relay_;
    /// Where the axis is split: for each piece on its way what is kept. Else for each thread.
    Buffer<double> room_;
};

}  // namespace tare::npb::flow
