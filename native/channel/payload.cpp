// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <string_view>
#include <vector>

#include "channel/frame.hpp"
#include "channel/little_endian.hpp"

namespace tare::channel {

namespace {

template <typename Number>
Number read_whole(std::string_view payload) {
    if (payload.size() != sizeof(Number)) {
        throw ProtocolError("a payload has another length than its kind");
    }
    return read_number<Number>(payload);
}

bool holds_null(const std::string& text) { return text.find('\0') != std::string::npos; }

bool is_variable(const std::string& text) { return text.find('=') != std::string::npos && text[0] != '='; }

void check_command(const Execute& command) {
    if (!command.directory.starts_with('/') ||
        !std::all_of(command.variables.begin(), command.variables.end(), is_variable)) {
        throw ProtocolError("a command has no absolute directory, or variables without names");
    }
    if (holds_null(command.directory) ||
        std::any_of(command.arguments.begin(), command.arguments.end(), holds_null) ||
        std::any_of(command.variables.begin(), command.variables.end(), holds_null)) {
        throw ProtocolError("a command holds a byte that no argument can hold");
    }
}

}  // namespace

std::string encode_words(std::span<const std::string> words) {
    std::string payload;
    for (const auto& word : words) {
        append(payload, static_cast<std::uint32_t>(word.size()));
        payload += word;
    }
    return payload;
}

std::vector<std::string> decode_words(std::string_view payload) {
    std::vector<std::string> words;
    while (!payload.empty()) {
        const std::size_t length = read_number<std::uint32_t>(payload);
        payload.remove_prefix(sizeof(std::uint32_t));
        if (length > payload.size()) {
            throw ProtocolError("a word is cut short");
        }
        words.emplace_back(payload.substr(0, length));
        payload.remove_prefix(length);
    }
    return words;
}

std::string encode_number(std::uint32_t number) {
    std::string payload;
    append(payload, number);
    return payload;
}

std::uint32_t decode_number(std::string_view payload) { return read_whole<std::uint32_t>(payload); }

std::string encode_time(std::uint64_t time_ns) {
    std::string payload;
    append(payload, time_ns);
    return payload;
}

std::uint64_t decode_time(std::string_view payload) { return read_whole<std::uint64_t>(payload); }

std::string encode_execute(const Execute& command) {
    std::vector<std::string> words{command.directory,
                                   encode_number(static_cast<std::uint32_t>(command.arguments.size()))};
    words.insert(words.end(), command.arguments.begin(), command.arguments.end());
    words.insert(words.end(), command.variables.begin(), command.variables.end());
    return encode_words(words);
}

Execute decode_execute(std::string_view payload) {
    const auto words = decode_words(payload);
    constexpr std::size_t leading = 2;
    if (words.size() < leading) {
        throw ProtocolError("a command is cut short");
    }
    const std::size_t count = decode_number(words[1]);
    if (count == 0 || count > words.size() - leading) {
        throw ProtocolError("a command has another number of arguments than it says");
    }
    const auto first = words.begin() + leading;
    const auto last = first + static_cast<std::ptrdiff_t>(count);
    Execute command{.directory = words[0], .arguments = {first, last}, .variables = {last, words.end()}};
    check_command(command);
    return command;
}

std::string encode_exit(const Exit& exit) {
    const std::string how(1, static_cast<char>(exit.how));
    return encode_words(std::array{how, encode_number(std::bit_cast<std::uint32_t>(exit.number)), exit.text});
}

Exit decode_exit(std::string_view payload) {
    const auto words = decode_words(payload);
    constexpr std::size_t number_of_words = 3;
    if (words.size() != number_of_words || words[0].size() != 1 ||
        static_cast<unsigned char>(words[0][0]) > static_cast<unsigned char>(Exit::How::failed)) {
        throw ProtocolError("an end of a command makes no sense");
    }
    return {.how = static_cast<Exit::How>(words[0][0]),
            .number = std::bit_cast<int>(decode_number(words[1])),
            .text = words[2]};
}

std::string encode_credit(const Credit& credit) {
    return std::string(1, static_cast<char>(credit.flow)) + encode_number(credit.count);
}

Credit decode_credit(std::string_view payload) {
    if (payload.empty() ||
        static_cast<unsigned char>(payload[0]) > static_cast<unsigned char>(Flow::error_output)) {
        throw ProtocolError("a credit is for no flow");
    }
    return {.flow = static_cast<Flow>(payload[0]), .count = decode_number(payload.substr(1))};
}

}  // namespace tare::channel
