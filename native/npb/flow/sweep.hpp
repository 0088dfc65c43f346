// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>

#include "npb/common/buffer.hpp"
#include "npb/flow/process_grid.hpp"
#include "npb/flow/relay.hpp"

namespace tare::npb::flow {

/// The lines of a block along y or z. They lie in rows, side by side in x: those along y in a row for each z,
/// those along z in a row for each y.
struct Lines {
    /// The rows: row_begin .. row_end - 1.
    int row_begin;
    int row_end;
    /// Vectors of each row, and lines of each vector.
    int vectors;
    int lanes;
    /// Places along each line.
    int places;
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

/// Elimination forward and substitution backward along all lines, a vector of lines at a time. Alone, a rank
/// takes each vector there and back while it is in cache. Where the axis is split, vectors go from rank to
/// rank in larger pieces: messages are few, but all ranks soon have work.
class Sweep {
  public:
    Sweep(const Neighbours& neighbours, MPI_Comm communicator, int tag, const Lines& lines,
          const LineNumbers& numbers)
        : lines_{lines},
          numbers_{numbers},
          vectors_{neighbours.count > 1 ? vectors_of_piece(lines) : 1},
          rows_{neighbours.count > 1 ? rows_of_piece(neighbours.count, lines) : 1},
          relay_{neighbours, communicator, tag, numbers_of_piece(numbers.forward),
                 numbers_of_piece(numbers.backward)},
          room_{static_cast<std::size_t>(relay_.slots()) * numbers_of_piece(numbers.kept * lines.places)} {}

    /// At most so many rows are prepared before their `forward`.
    [[nodiscard]] int rows_together() const { return rows_; }

    /// `prepare(row)` comes before the row's first `forward`. `forward(row, x, state, room)` and `backward`,
    /// the same: the vector of lines from x on, what the neighbour handed on (zeros at the boundary) and is
    /// to be handed on, and what is kept, which `backward` finds again.
    template <typename Prepare, typename Forward, typename Backward>
    void run(Prepare&& prepare, Forward&& forward, Backward&& backward) {
        relay_.run(
            pieces(),
            [&](int piece) {
                const auto [first, end] = rows_of(piece);
                for (int row = first; row < end && piece % pieces_of_row() == 0; ++row) {
                    prepare(row);
                }
            },
            [&](const Turn& turn) { each(turn, numbers_.forward, forward); },
            [&](const Turn& turn) { each(turn, numbers_.backward, backward); });
    }

  private:
    struct Range {
        int first;
        int end;
    };

    /// Vectors at all their places that are enough work to be worth a message.
    static constexpr int worth_places = 256;

    [[nodiscard]] static int vectors_of_piece(const Lines& lines) {
        return std::clamp(worth_places / lines.places, 1, lines.vectors);
    }

    /// As many as are worth it, yet several pieces for each rank.
    [[nodiscard]] static int rows_of_piece(int ranks, const Lines& lines) {
        constexpr int pieces_per_rank = 2;
        const int rows = lines.row_end - lines.row_begin;
        const int worth = worth_places / (lines.places * lines.vectors);
        return std::clamp(std::min(worth, rows / (pieces_per_rank * ranks)), 1, rows);
    }

    [[nodiscard]] std::size_t numbers_of_piece(int of_line) const {
        return static_cast<std::size_t>(of_line) * static_cast<std::size_t>(rows_ * vectors_ * lines_.lanes);
    }

    [[nodiscard]] int pieces_of_row() const { return (lines_.vectors + vectors_ - 1) / vectors_; }
    [[nodiscard]] int pieces() const {
        return (lines_.row_end - lines_.row_begin + rows_ - 1) / rows_ * pieces_of_row();
    }
    [[nodiscard]] Range rows_of(int piece) const {
        const int first = lines_.row_begin + piece / pieces_of_row() * rows_;
        return {.first = first, .end = std::min(first + rows_, lines_.row_end)};
    }

    /// Calls `work` for each vector of a piece.
    template <typename Work>
    void each(const Turn& turn, int numbers, Work&& work) {
        const auto [first, end] = rows_of(turn.piece);
        const int x_first = turn.piece % pieces_of_row() * vectors_;
        const int vectors = std::min(vectors_, lines_.vectors - x_first);
        const int kept = numbers_.kept * lines_.places;
        const auto room = room_.span().subspan(static_cast<std::size_t>(turn.slot) * numbers_of_piece(kept));
        for (int index = 0; index < (end - first) * vectors; ++index) {
            const auto line = static_cast<std::size_t>(index) * static_cast<std::size_t>(lines_.lanes);
            work(first + index / vectors, (x_first + index % vectors) * lines_.lanes,
                 &turn.state[line * static_cast<std::size_t>(numbers)],
                 &room[line * static_cast<std::size_t>(kept)]);
        }
    }

    Lines lines_;
    LineNumbers numbers_;
    /// Vectors, of so many rows each, that make a piece. More than one row only if the vectors are all of
    /// them.
    int vectors_;
    int rows_;
    Relay relay_;
    Buffer<double> room_;
};

}  // namespace tare::npb::flow
