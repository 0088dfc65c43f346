// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tare::collective {

using Byte = unsigned char;

/// What the byte at a position of a message is: another one for each sender, receiver and position nearby.
[[nodiscard]] constexpr Byte byte_of(std::uint64_t message, std::size_t position) {
    constexpr std::uint64_t of_message = 0x9E3779B97F4A7C15;  // odd and far from regular
    constexpr std::uint64_t of_position = 0xD1B54A32D192ED03;
    constexpr unsigned to_top_byte = 56;
    return static_cast<Byte>(((message + 1) * of_message + position * of_position) >> to_top_byte);
}

/// Tells the messages of a run apart. `receiver` is 0 where a sender's messages are all alike.
[[nodiscard]] constexpr std::uint64_t message_of(int sender, int receiver) {
    constexpr unsigned half = 32;
    return (static_cast<std::uint64_t>(sender) << half) + static_cast<std::uint64_t>(receiver);
}

inline void write_message(std::span<Byte> buffer, std::uint64_t message) {
    for (std::size_t position = 0; position < buffer.size(); ++position) {
        buffer[position] = byte_of(message, position);
    }
}

[[nodiscard]] inline bool holds_message(std::span<const Byte> buffer, std::uint64_t message) {
    for (std::size_t position = 0; position < buffer.size(); ++position) {
        if (buffer[position] != byte_of(message, position)) {
            return false;
        }
    }
    return true;
}

/// The opposite of the message, so that no byte of it is there by chance.
inline void spoil_message(std::span<Byte> buffer, std::uint64_t message) {
    for (std::size_t position = 0; position < buffer.size(); ++position) {
        buffer[position] = static_cast<Byte>(~byte_of(message, position));
    }
}

}  // namespace tare::collective
