// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace tare::hpl {

/// A matrix in memory, column by column, `lead` numbers from one to the next.
struct View {
    std::span<double> values;
    int lead = 1;

    [[nodiscard]] std::size_t place(int row, int column) const {
        return static_cast<std::size_t>(row) +
               static_cast<std::size_t>(column) * static_cast<std::size_t>(lead);
    }
    [[nodiscard]] double& at(int row, int column) const { return values[place(row, column)]; }
    /// The part from a row and a column on, which exist.
    [[nodiscard]] View from(int row, int column) const {
        return {.values = values.subspan(place(row, column)), .lead = lead};
    }
};

}  // namespace tare::hpl
