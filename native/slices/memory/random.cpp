// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>

#include "slices/memory/pieces.hpp"
#include "slices/memory/polynomial.hpp"

namespace tare::slices {

namespace {

/// As many updates are under way together as the rules of RandomAccess let wait: 128 streams of numbers.
constexpr std::size_t streams = 128;
constexpr std::uint64_t steps_of_unit = random_unit_updates / streams;
using Streams = std::array<Polynomial, streams>;

/// Each begins where the one before ends when the whole table is updated four times, as HPC Challenge does.
Streams beginnings(std::uint64_t words) {
    constexpr std::uint64_t updates_per_word = 4;
    Streams states{};
    for (std::size_t stream = 0; stream < streams; ++stream) {
        states.at(stream) = power_of_x(stream * (updates_per_word * words / streams));
    }
    return states;
}

class RandomAccess final : public Piece {
  public:
    RandomAccess(std::size_t size_byte, Memory& memory)
        : table_{memory.elements<std::uint64_t>(size_byte / sizeof(std::uint64_t))},
          begun_{beginnings(table_.size())} {
        std::iota(table_.begin(), table_.end(), std::uint64_t{0});
    }

    /// The same updates in every slice: streams that went on would differ between arms that did not start
    /// together.
    void work(std::uint64_t count) override {
        Streams states = begun_;
        const std::uint64_t mask = table_.size() - 1;
        for (std::uint64_t step = 0; step < count * steps_of_unit; ++step) {
            for (Polynomial& state : states) {
                state = times_x(state);
                table_[state & mask] ^= state;
            }
        }
        last_ = states;
        ++slices_[count];
    }

    [[nodiscard]] std::uint64_t checksum() const override {
        return std::accumulate(last_.begin(), last_.end(), std::uint64_t{0}, std::bit_xor{});
    }

    /// HPC Challenge's verification: a second pass, one stream after the other, undoes the updates; at most 1
    /// % of the words may then be wrong. What was updated twice is undone already.
    void verify() override {
        for (const auto& [count, slices] : slices_) {
            if (slices % 2 != 0) {
                undo(count);
            }
        }
        std::uint64_t wrong = 0;
        for (std::uint64_t word = 0; word < table_.size(); ++word) {
            wrong += table_[word] == word ? 0 : 1;
        }
        constexpr std::uint64_t parts = 100;
        if (wrong > table_.size() / parts) {
            throw std::runtime_error(std::to_string(wrong) + " of " + std::to_string(table_.size()) +
                                     " words of the table of random updates are wrong, more than 1 %");
        }
    }

  private:
    void undo(std::uint64_t count) {
        for (Polynomial state : begun_) {
            for (std::uint64_t step = 0; step < count * steps_of_unit; ++step) {
                state = times_x(state);
                table_[state & (table_.size() - 1)] ^= state;
            }
        }
    }

    std::span<std::uint64_t> table_;
    Streams begun_;
    Streams last_{};
    std::map<std::uint64_t, std::uint64_t> slices_;  ///< Count of units -> how many slices did as many.
};

}  // namespace

std::unique_ptr<Piece> make_random(std::size_t size_byte, Memory& memory) {
    if (!std::has_single_bit(size_byte) || size_byte < random_unit_updates) {
        throw std::invalid_argument(
            "the table of random updates needs a power of two of 1024 byte or more, not " +
            std::to_string(size_byte));
    }
    return std::make_unique<RandomAccess>(size_byte, memory);
}

}  // namespace tare::slices
