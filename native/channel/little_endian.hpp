// SPDX-License-Identifier: Apache-2.0
// Numbers as the bytes that cross a line: little-endian.
#pragma once

#include <string>
#include <string_view>

#include "channel/frame.hpp"

namespace tare::channel {

constexpr unsigned byte_bits = 8;

template <typename Number>
void append(std::string& bytes, Number number) {
    for (unsigned index = 0; index < sizeof number; ++index) {
        bytes += static_cast<char>(number >> (index * byte_bits));
    }
}

/// The number that the bytes begin with; throws ProtocolError when they are too few.
template <typename Number>
Number read_number(std::string_view bytes) {
    if (bytes.size() < sizeof(Number)) {
        throw ProtocolError("a number is cut short");
    }
    Number number = 0;
    for (unsigned index = 0; index < sizeof number; ++index) {
        const auto byte = static_cast<Number>(static_cast<unsigned char>(bytes[index]));
        number = static_cast<Number>(number | static_cast<Number>(byte << (index * byte_bits)));
    }
    return number;
}

}  // namespace tare::channel
