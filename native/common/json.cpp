// SPDX-License-Identifier: Apache-2.0
#include "common/json.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace tare {

namespace {

constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

struct LeadByte {
    std::size_t length;
    unsigned char second_low;
    unsigned char second_high;
};

/// Well-formed UTF-8 by its first byte (The Unicode Standard, table 3-7); length 0: no such first byte.
LeadByte lead_byte(unsigned char byte) {
    struct Row {
        unsigned char low;
        unsigned char high;
        LeadByte lead;
    };
    constexpr std::array<Row, 9> table{{
        {0x00, 0x7F, {1, 0x80, 0xBF}},
        {0xC2, 0xDF, {2, 0x80, 0xBF}},
        {0xE0, 0xE0, {3, 0xA0, 0xBF}},
        {0xE1, 0xEC, {3, 0x80, 0xBF}},
        {0xED, 0xED, {3, 0x80, 0x9F}},
        {0xEE, 0xEF, {3, 0x80, 0xBF}},
        {0xF0, 0xF0, {4, 0x90, 0xBF}},
        {0xF1, 0xF3, {4, 0x80, 0xBF}},
        {0xF4, 0xF4, {4, 0x80, 0x8F}},
    }};
    for (const Row& row : table) {
        if (byte >= row.low && byte <= row.high) {
            return row.lead;
        }
    }
    return {0, 0, 0};
}

/// Bytes of the well-formed character that `text` starts with; 0 if it starts with none.
std::size_t character_length(std::string_view text) {
    constexpr unsigned char continuation_low = 0x80;
    constexpr unsigned char continuation_high = 0xBF;
    const LeadByte lead = lead_byte(static_cast<unsigned char>(text.front()));
    if (lead.length == 0 || lead.length > text.size()) {
        return 0;
    }
    for (std::size_t position = 1; position < lead.length; ++position) {
        const auto byte = static_cast<unsigned char>(text[position]);
        const auto low = position == 1 ? lead.second_low : continuation_low;
        const auto high = position == 1 ? lead.second_high : continuation_high;
        if (byte < low || byte > high) {
            return 0;
        }
    }
    return lead.length;
}

void append_ascii(std::string& json, char character) {
    constexpr std::string_view digits = "0123456789abcdef";
    constexpr unsigned char first_printable = 0x20;
    const auto code = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
        json += '\\';
        json += character;
    } else if (character == '\n') {
        json += "\\n";
    } else if (code < first_printable) {
        json += "\\u00";
        json += digits[code / digits.size()];
        json += digits[code % digits.size()];
    } else {
        json += character;
    }
}

template <typename Value, typename Format>
std::string json_array(const std::vector<Value>& values, Format format) {
    std::string json = "[";
    for (const Value& value : values) {
        json += json.size() > 1 ? "," : "";
        json += format(value);
    }
    return json + ']';
}

}  // namespace

std::string json_text(std::string_view text) {
    std::string json = "\"";
    while (!text.empty()) {
        const std::size_t length = character_length(text);
        if (length == 1) {
            append_ascii(json, text.front());
        } else {
            json += length == 0 ? replacement_character : text.substr(0, length);
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return json + '"';
}

std::string json_number(double value) {
    if (!std::isfinite(value)) {
        return "null";
    }
    constexpr std::size_t longest_number = 32;
    std::array<char, longest_number> buffer{};
    const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    return {buffer.data(), written.ptr};
}

JsonObject& JsonObject::add(std::string_view key, std::string_view value) {
    return add_raw(key, json_text(value));
}

JsonObject& JsonObject::add(std::string_view key, double value) { return add_raw(key, json_number(value)); }

JsonObject& JsonObject::add(std::string_view key, bool value) {
    return add_raw(key, value ? "true" : "false");
}

JsonObject& JsonObject::add(std::string_view key, const std::vector<int>& values) {
    return add_raw(key, json_array(values, [](int value) { return std::to_string(value); }));
}

JsonObject& JsonObject::add(std::string_view key, const std::vector<std::string>& values) {
    return add_raw(key, json_array(values, json_text));
}

JsonObject& JsonObject::add(std::string_view key, const std::vector<JsonObject>& values) {
    return add_raw(key, json_array(values, [](const JsonObject& value) { return value.text(); }));
}

JsonObject& JsonObject::add_raw(std::string_view key, std::string_view json) {
    members_ += members_.empty() ? "" : ",";
    members_ += json_text(key);
    members_ += ':';
    members_ += json;
    return *this;
}

}  // namespace tare
