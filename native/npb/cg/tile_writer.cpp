// SPDX-License-Identifier: Apache-2.0
#include "npb/cg/tile_writer.hpp"

#include <array>

#include "npb/cg/product.hpp"

namespace tare::npb::cg {

using product::lanes;

namespace {

constexpr unsigned half_bits = 16;

}  // namespace

Extent extent_of(const std::vector<Group>& groups) {
    Extent extent;
    for (const Group& group : groups) {
        const std::size_t steps = group.steps;
        extent.words += product::words_per_head + steps * product::words_per_step;
        extent.values += steps * lanes;
    }
    return extent;
}

template <typename Number>
void TileWriter::put_pairs(Number&& number) {
    for (std::size_t lane = 0; lane < lanes; lane += 2) {
        put(number(lane) | number(lane + 1) << half_bits);
    }
}

void TileWriter::write(const Panel& panel, std::size_t tile, const Group& group) {
    std::array<std::span<const Entry>, lanes> rows;
    for (std::size_t lane = 0; lane < group.count; ++lane) {
        rows.at(lane) = panel.entries(group.rows.at(lane), tile);
    }
    put(group.steps);
    put_pairs([&](std::size_t lane) { return group.rows.at(lane); });
    for (std::size_t step = 0; step < group.steps; ++step) {
        const auto entry = [&](std::size_t lane) {
            return step < rows.at(lane).size() ? rows.at(lane)[step] : Entry{.place = 0, .value = 0};
        };
        put_pairs([&](std::size_t lane) { return entry(lane).place; });
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            values_[next_value_++] = entry(lane).value;
        }
    }
}

}  // namespace tare::npb::cg
