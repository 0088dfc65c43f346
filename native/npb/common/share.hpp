// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>

namespace tare::npb {

/// Things in a row: those from `first` on, `count` of them.
template <std::integral Number>
struct Share {
    Number first = 0;
    Number count = 0;

    [[nodiscard]] constexpr Number end() const { return first + count; }
    [[nodiscard]] constexpr bool has(Number thing) const { return thing >= first && thing < end(); }
};

/// Part `index` of `parts` of `total` things: as even as they can be. `total` times `parts` is below 2^63.
template <std::integral Number>
[[nodiscard]] constexpr Share<Number> share_of(Number total, int parts, int index) {
    const auto start_of = [&](std::int64_t part) {
        return static_cast<Number>(part * static_cast<std::int64_t>(total) / parts);
    };
    const Number first = start_of(index);
    return {.first = first, .count = static_cast<Number>(start_of(std::int64_t{index} + 1) - first)};
}

}  // namespace tare::npb
