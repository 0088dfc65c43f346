// SPDX-License-Identifier: Apache-2.0
#include "hpl/matrix.hpp"

#include <algorithm>
#include <cstdint>

namespace tare::hpl {

namespace {

npb::Communicator part_of(const npb::World& world, int color, int key) {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(world.communicator, color, key, &part);
    return npb::Communicator{part};
}

/// A multiple of a cache line, but not of a page: else all elements of a row would share few places of a
/// cache.
int lead_of(int rows) {
    constexpr int line = 8;
    constexpr int page = 512;
    const int whole_lines = (std::max(rows, 1) + line - 1) / line * line;
    return whole_lines % page == 0 ? whole_lines + line : whole_lines;
}

/// The finalizer of SplitMix64 (Steele, Lea and Flood, 2014), of a counter.
std::uint64_t mixed(std::uint64_t value) {
    // NOLINTBEGIN(*-magic-numbers): the published constants
    value *= 0x9e3779b97f4a7c15U;
    value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31U);
    // NOLINTEND(*-magic-numbers)
}

}  // namespace

Grid::Grid(const Problem& problem, const npb::World& world)
    : rows{.block = problem.block,
           .index = world.rank / problem.process_columns,
           .processes = problem.process_rows},
      columns{.block = problem.block,
              .index = world.rank % problem.process_columns,
              .processes = problem.process_columns},
      in_row{part_of(world, rows.index, columns.index)},
      in_column{part_of(world, columns.index, rows.index)} {}

double entry(int row, int column) {
    constexpr unsigned half = 32;
    constexpr unsigned below_mantissa = 11;
    constexpr double middle = 0.5;
    constexpr double unit = 0x1p-53;
    const std::uint64_t place =
        std::uint64_t{static_cast<std::uint32_t>(column)} << half | static_cast<std::uint32_t>(row);
    // Half a unit beside any end, so that 0 and 1 do not occur.
    return (static_cast<double>(mixed(place + 1) >> below_mantissa) + middle) * unit - middle;
}

Matrix::Matrix(const Problem& problem, const Grid& grid)
    : size_{problem.size},
      rows_{grid.rows.local_count(problem.size)},
      columns_{grid.columns.local_count(problem.size + 1)},
      lead_{lead_of(rows_)},
      values_{static_cast<std::size_t>(lead_) * static_cast<std::size_t>(std::max(columns_, 1))} {}

void Matrix::generate(const Grid& grid) {
    const View all = view();
    for (int column = 0; column < columns_; ++column) {
        const int global_column = grid.columns.global(column);
        for (int row = 0; row < rows_; ++row) {
            all.at(row, column) = entry(grid.rows.global(row), global_column);
        }
    }
}

}  // namespace tare::hpl
