// SPDX-License-Identifier: Apache-2.0
#include "channel/frame.hpp"

#include <algorithm>
#include <array>

#include "channel/little_endian.hpp"

namespace tare::channel {

namespace {

constexpr std::uint16_t magic = 0x7A5E;
constexpr std::uint32_t polynomial = 0xEDB88320;  // of CRC-32 (ISO 3309), reflected
constexpr std::size_t table_size = std::size_t{1} << byte_bits;
constexpr std::size_t type_offset = 2;
constexpr std::size_t zero_offset = 3;
constexpr std::size_t stream_offset = 4;
constexpr std::size_t length_offset = 8;
constexpr std::size_t sum_offset = 12;

constexpr std::array<std::uint32_t, table_size> make_table() {
    std::array<std::uint32_t, table_size> table{};
    for (std::uint32_t index = 0; index < table_size; ++index) {
        std::uint32_t value = index;
        for (unsigned bit = 0; bit < byte_bits; ++bit) {
            value = (value & 1U) != 0 ? (value >> 1U) ^ polynomial : value >> 1U;
        }
        table.at(index) = value;
    }
    return table;
}

constexpr auto table = make_table();

std::uint32_t add_to_sum(std::uint32_t sum, std::string_view bytes) {
    for (const char byte : bytes) {
        sum = table.at((sum ^ static_cast<unsigned char>(byte)) & (table_size - 1)) ^ (sum >> byte_bits);
    }
    return sum;
}

std::uint32_t check_sum(std::string_view header, std::string_view payload) {
    return ~add_to_sum(add_to_sum(~std::uint32_t{0}, header.substr(0, sum_offset)), payload);
}

std::uint32_t payload_length(std::string_view header) {
    const auto type = static_cast<unsigned char>(header[type_offset]);
    const bool known = type >= static_cast<unsigned char>(Type::hello) &&
                       type <= static_cast<unsigned char>(Type::power_off);
    if (read_number<std::uint16_t>(header) != magic || !known || header[zero_offset] != 0) {
        throw ProtocolError("what came is no frame");
    }
    const auto length = read_number<std::uint32_t>(header.substr(length_offset));
    if (length > largest_payload) {
        throw ProtocolError("a frame is longer than any may be");
    }
    return length;
}

}  // namespace

std::string encode(const Frame& frame) {
    if (frame.payload.size() > largest_payload) {
        throw std::length_error("what is to be sent is longer than a frame may be");
    }
    std::string bytes;
    bytes.reserve(header_size + frame.payload.size());
    append(bytes, magic);
    append(bytes, static_cast<std::uint8_t>(frame.type));
    append(bytes, std::uint8_t{0});
    append(bytes, frame.stream);
    append(bytes, static_cast<std::uint32_t>(frame.payload.size()));
    append(bytes, check_sum(bytes, frame.payload));
    return bytes + frame.payload;
}

void Decoder::push(std::span<const char> bytes) {
    pending_.erase(0, position_);
    position_ = 0;
    pending_.append(bytes.data(), bytes.size());
}

/// Whether a `hello` may begin at `position_` now: skips what cannot be one.
bool Decoder::skip_to_hello() {
    static const std::string mark =
        encode({.type = Type::hello, .stream = 0, .payload = {}}).substr(0, length_offset);
    const auto found = pending_.find(mark, position_);
    if (found != std::string::npos) {
        position_ = found;
        return true;
    }
    // The last bytes may be the beginning of it.
    position_ = std::max(position_, pending_.size() - std::min(pending_.size(), mark.size() - 1));
    return false;
}

std::optional<Frame> Decoder::next() {
    if (!synchronised_ && !skip_to_hello()) {
        return std::nullopt;
    }
    synchronised_ = true;
    const auto rest = std::string_view{pending_}.substr(position_);
    if (rest.size() < header_size) {
        return std::nullopt;
    }
    const auto header = rest.substr(0, header_size);
    const std::size_t length = payload_length(header);
    if (rest.size() < header_size + length) {
        return std::nullopt;
    }
    const auto payload = rest.substr(header_size, length);
    if (read_number<std::uint32_t>(header.substr(sum_offset)) != check_sum(header, payload)) {
        throw ProtocolError("a frame was damaged on its way");
    }
    position_ += header_size + length;
    return Frame{.type = static_cast<Type>(header[type_offset]),
                 .stream = read_number<std::uint32_t>(header.substr(stream_offset)),
                 .payload = std::string{payload}};
}

}  // namespace tare::channel
