// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tare::hpl {

/// One process's part of the rows, or of the columns: blocks are dealt to the processes in turn.
struct Axis {
    int block = 1;
    /// Its place among the processes that share the axis.
    int index = 0;
    int processes = 1;

    [[nodiscard]] constexpr int owner(int global) const { return global / block % processes; }
    [[nodiscard]] constexpr bool owns(int global) const { return owner(global) == index; }

    /// How many of the first `total` are its own: also the first local place at `total` or after it.
    [[nodiscard]] constexpr int local_count(int total) const {
        const int whole = total / block;
        const int rounds = whole / processes * block;
        const int rest = whole % processes;
        if (index < rest) {
            return rounds + block;
        }
        return index == rest ? rounds + total % block : rounds;
    }
    /// The local place of one of its own.
    [[nodiscard]] constexpr int local(int global) const {
        return global / block / processes * block + global % block;
    }
    [[nodiscard]] constexpr int global(int local) const {
        return (local / block * processes + index) * block + local % block;
    }
};

}  // namespace tare::hpl
