// SPDX-License-Identifier: Apache-2.0
// What is counted of one kind of call.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "profile/call.hpp"

namespace tare::profile {

/// Sizes below 2^47 byte have a class of their own; what is larger is in the last.
inline constexpr std::size_t size_classes = 48;

/// The class of a message: 0 for an empty one, else 1 + the exponent of the power of two at or below its
/// size.
[[nodiscard]] constexpr std::size_t size_class(std::uint64_t byte) {
    return std::min<std::size_t>(std::bit_width(byte), size_classes - 1);
}

/// The smallest size of a class, in byte.
[[nodiscard]] constexpr std::uint64_t smallest_of(std::size_t size_class) {
    return size_class == 0 ? 0 : std::uint64_t{1} << (size_class - 1);
}

/// Messages, or the data of collective calls and files, in one direction.
struct Messages {
    std::uint64_t count;
    std::uint64_t byte;
    std::array<std::uint64_t, size_classes> by_size;

    void add(std::uint64_t message_byte) {
        ++count;
        byte += message_byte;
        ++by_size.at(size_class(message_byte));
    }
};

/// One kind of call. A file's written data are `sent`, what was read is `received`.
struct CallRecord {
    std::uint64_t count;
    std::int64_t time_ticks;
    std::int64_t longest_ticks;
    Messages sent;
    Messages received;

    void add(std::int64_t spent_ticks) {
        ++count;
        time_ticks += spent_ticks;
        longest_ticks = std::max(longest_ticks, spent_ticks);
    }
};

/// In the order of `Share`.
using ShareTicks = std::array<std::int64_t, 3>;

}  // namespace tare::profile
