// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "npb/common/buffer.hpp"
#include "npb/flow/cell_grid.hpp"
#include "npb/flow/field.hpp"

namespace tare::npb::flow {

/// Fills the ghost layers of a rank's cells: a message to each of six neighbours, with the two layers at the
/// faces of all cells that have something beyond them.
class Faces {
  public:
    Faces(const CellGrid& grid, int edge);

    void exchange(std::span<Field> cells);

  private:
    /// Along an axis, to the next rank or to the previous one.
    struct Message {
        Axis axis;
        bool is_onward;
        int from;
        int to;
        Buffer<double> sent;
        Buffer<double> received;
    };

    [[nodiscard]] Message message(Axis axis, bool is_onward, int edge) const;
    /// Whether a cell's layers go with a message, and whether it has room for those that come with it.
    [[nodiscard]] bool gives(const Message& message, int cell) const;
    [[nodiscard]] bool takes(const Message& message, int cell) const;
    [[nodiscard]] bool is_at_end(int cell, Axis axis, bool is_last) const;
    void pack(std::span<Field> cells, Message& message) const;
    void unpack(std::span<Field> cells, Message& message) const;

    CellGrid grid_;
    std::array<Message, std::size_t{2} * axes.size()> messages_;
};

}  // namespace tare::npb::flow
