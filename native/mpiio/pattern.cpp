// SPDX-License-Identifier: Apache-2.0
#include "mpiio/pattern.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace tare::mpiio {

namespace {

using Word = std::array<std::byte, sizeof(std::uint64_t)>;

/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014: the mixing function of
/// SplitMix64, with the constants of its reference (variant 13 of Stafford's).
std::uint64_t mixed(std::uint64_t value) {
    constexpr std::uint64_t first = 0xbf58476d1ce4e5b9;
    constexpr std::uint64_t second = 0x94d049bb133111eb;
    constexpr unsigned shift_a = 30;
    constexpr unsigned shift_b = 27;
    constexpr unsigned shift_c = 31;
    value = (value ^ (value >> shift_a)) * first;
    value = (value ^ (value >> shift_b)) * second;
    return value ^ (value >> shift_c);
}

/// The eight bytes of the file from `8 * number` on; equal on machines of either byte order.
class Words {
  public:
    explicit Words(const Source& source)
        : key_{mixed(source.seed * gamma + static_cast<std::uint64_t>(source.rank) + 1)} {}

    [[nodiscard]] Word at(std::uint64_t number) const {
        const std::uint64_t value = mixed(key_ + number * gamma);
        if constexpr (std::endian::native == std::endian::little) {
            return std::bit_cast<Word>(value);
        } else {
            Word word = std::bit_cast<Word>(value);
            std::reverse(word.begin(), word.end());
            return word;
        }
    }

  private:
    static constexpr std::uint64_t gamma = 0x9e3779b97f4a7c15;

    std::uint64_t key_;
};

/// Calls `each(part, belongs)` for every piece of `bytes` within one word, with the bytes that belong there.
template <typename Byte, typename Each>
void for_each_word(std::span<Byte> bytes, const Source& source, std::uint64_t place, const Each& each) {
    const Words words{source};
    while (!bytes.empty()) {
        const Word word = words.at(place / sizeof(Word));
        const std::size_t first = place % sizeof(Word);
        const std::size_t length = std::min(sizeof(Word) - first, bytes.size());
        each(bytes.first(length), std::span{word}.subspan(first, length));
        bytes = bytes.subspan(length);
        place += length;
    }
}

}  // namespace

void fill(std::span<std::byte> bytes, const Source& source, std::uint64_t place) {
    for_each_word(bytes, source, place, [](std::span<std::byte> part, std::span<const std::byte> belongs) {
        std::copy(belongs.begin(), belongs.end(), part.begin());
    });
}

std::uint64_t count_wrong(std::span<const std::byte> bytes, const Source& source, std::uint64_t place) {
    std::uint64_t wrong = 0;
    for_each_word(bytes, source, place,
                  [&wrong](std::span<const std::byte> part, std::span<const std::byte> belongs) {
                      if (std::memcmp(part.data(), belongs.data(), part.size()) != 0) {
                          for (std::size_t index = 0; index < part.size(); ++index) {
                              wrong += part[index] == belongs[index] ? 0U : 1U;
                          }
                      }
                  });
    return wrong;
}

}  // namespace tare::mpiio
