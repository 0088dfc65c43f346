// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "slices/memory/array.hpp"
#include "slices/pieces.hpp"

namespace tare::slices {

namespace {

constexpr std::size_t table_byte = std::size_t{128} << 20U;
constexpr std::size_t words = table_byte / sizeof(std::uint64_t);
constexpr std::uint64_t unit_updates = 1024;
constexpr std::uint64_t seed = 0x9E3779B97F4A7C15U;  // any but 0

/// Marsaglia's xorshift64, "Xorshift RNGs", J. Stat. Softw. 8 (2003), shifts 13, 7, 17.
std::uint64_t next_random(std::uint64_t state) {
    constexpr unsigned first = 13;
    constexpr unsigned second = 7;
    constexpr unsigned third = 17;
    state ^= state << first;
    state ^= state >> second;
    return state ^ (state << third);
}

class Random final : public Piece {
  public:
    Random() : table_{words} { std::ranges::fill(table_.elements(), std::uint64_t{1}); }

    /// The same updates in every slice: a stream that went on would differ between arms that did not start
    /// together.
    void work(std::uint64_t count) override {
        const auto table = table_.elements();
        state_ = seed;
        for (std::uint64_t update = 0; update < count * unit_updates; ++update) {
            state_ = next_random(state_);
            table[state_ % words] ^= state_;
        }
    }

    [[nodiscard]] std::uint64_t checksum() const override { return state_; }

  private:
    Array<std::uint64_t> table_;
    std::uint64_t state_ = seed;
};

}  // namespace

std::unique_ptr<Piece> make_random() { return std::make_unique<Random>(); }

}  // namespace tare::slices
