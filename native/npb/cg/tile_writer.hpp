// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "npb/cg/panel.hpp"

namespace tare::npb::cg {

/// Words and values of a tile (see `product::Tile`): how many, or where they begin.
struct Extent {
    std::size_t words = 0;
    std::size_t values = 0;
};

[[nodiscard]] Extent extent_of(const std::vector<Group>& groups);

/// Writes the words and values of one tile, which begin where the spans do.
class TileWriter {
  public:
    TileWriter(std::span<std::uint32_t> words, std::span<double> values) : words_{words}, values_{values} {}

    void write(const Panel& panel, std::size_t tile, const Group& group);

  private:
    void put(std::uint32_t word) { words_[next_word_++] = word; }
    template <typename Number>
    void put_pairs(Number&& number);

    std::span<std::uint32_t> words_;
    std::span<double> values_;
    std::size_t next_word_ = 0;
    std::size_t next_value_ = 0;
};

}  // namespace tare::npb::cg
