// SPDX-License-Identifier: Apache-2.0
#include "npb/is/keys.hpp"

#include "npb/common/random.hpp"

namespace tare::npb::is {

namespace {

constexpr std::uint64_t seed = 314159265;
constexpr int draws_per_key = 4;
/// Four random states of 46 bits each add up to less than 2^48.
constexpr int sum_exponent = 48;

void set(const KeyShare& share, std::int64_t index, std::uint32_t value, std::span<std::uint32_t> keys) {
    if (share.has(index)) {
        keys[static_cast<std::size_t>(index - share.first)] = value;
    }
}

}  // namespace

void generate(const Sizes& sizes, const KeyShare& share, std::span<std::uint32_t> keys) {
    const int shift = sum_exponent - sizes.values_exponent;
    Random random{seed};
    random.jump(draws_per_key * static_cast<std::uint64_t>(share.first));
    for (std::uint32_t& key : keys) {
        std::uint64_t sum = 0;
        for (int draw = 0; draw < draws_per_key; ++draw) {
            static_cast<void>(random.next());
            sum += random.state();
        }
        key = static_cast<std::uint32_t>(sum >> static_cast<unsigned>(shift));
    }
}

void alter(const Sizes& sizes, const KeyShare& share, int iteration, std::span<std::uint32_t> keys) {
    const auto step = static_cast<std::uint32_t>(iteration);
    set(share, iteration, step, keys);
    set(share, std::int64_t{iteration} + sizes.iterations, sizes.values() - step, keys);
}

}  // namespace tare::npb::is
