// SPDX-License-Identifier: Apache-2.0
#include "slices/memory/evidence.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>
#include <vector>

#include "common/number.hpp"

namespace tare::slices {

namespace {

constexpr std::uint64_t kibibyte = 1024;

/// Cuts the text before the next `end` off, or all that is left.
std::string_view next_part(std::string_view& text, char end) {
    const auto length = std::min(text.find(end), text.size());
    const auto part = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    return part;
}

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    while (!line.empty()) {
        if (const auto word = next_part(line, ' '); !word.empty()) {
            words.push_back(word);
        }
    }
    return words;
}

std::optional<std::uint64_t> parse_address(std::string_view text) {
    constexpr int hexadecimal = 16;
    std::uint64_t address = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), address, hexadecimal);
    return error == std::errc{} && stop == text.data() + text.size() ? std::optional{address} : std::nullopt;
}

bool overlaps(std::uint64_t begin, std::uint64_t end, std::span<const Region> regions) {
    return std::ranges::any_of(regions, [&](const Region& region) {
        return region.begin < end && begin < region.begin + region.size_byte;
    });
}

/// Whether a mapping overlaps a region, by the first word of its first line: `BEGIN-END`; nothing for any
/// other word.
std::optional<bool> is_ours(std::string_view word, std::span<const Region> regions) {
    const auto begin = parse_address(next_part(word, '-'));
    const auto end = parse_address(word);
    return begin && end ? std::optional{overlaps(*begin, *end, regions)} : std::nullopt;
}

/// One line of numa_maps.
struct Mapping {
    std::uint64_t begin = 0;
    std::map<int, std::uint64_t> pages;
    std::uint64_t page_byte = 0;
};

/// Reads `ADDRESS POLICY N0=12 kernelpagesize_kB=4` with other fields between; nothing if there is no
/// address.
std::optional<Mapping> parse_mapping(std::string_view line) {
    const auto begin = parse_address(next_part(line, ' '));
    if (!begin) {
        return std::nullopt;
    }
    Mapping mapping{.begin = *begin, .pages = {}, .page_byte = 0};
    for (std::string_view value : words_of(line)) {
        const auto name = next_part(value, '=');
        const auto number = parse_number<std::uint64_t>(value).value_or(0);
        if (name == "kernelpagesize_kB") {
            mapping.page_byte = number * kibibyte;
        } else if (const auto node = parse_number<int>(name.substr(1)); name.front() == 'N' && node) {
            mapping.pages[*node] = number;
        }
    }
    return mapping;
}

}  // namespace

std::optional<std::uint64_t> huge_page_byte(std::string_view smaps, std::span<const Region> regions) {
    std::optional<std::uint64_t> total;
    bool ours = false;
    while (!smaps.empty()) {
        const auto words = words_of(next_part(smaps, '\n'));
        if (words.empty()) {
            continue;
        }
        ours = is_ours(words.front(), regions).value_or(ours);
        if (ours && words.front() == "AnonHugePages:" && words.size() > 1) {
            total = total.value_or(0) + parse_number<std::uint64_t>(words[1]).value_or(0) * kibibyte;
        }
    }
    return total;
}

std::map<int, std::uint64_t> node_byte(std::string_view numa_maps, std::span<const Region> regions) {
    std::vector<Mapping> mappings;
    while (!numa_maps.empty()) {
        if (auto mapping = parse_mapping(next_part(numa_maps, '\n'))) {
            mappings.push_back(*std::move(mapping));
        }
    }
    // No line says where its mapping ends; it is before the next begins.
    mappings.push_back({.begin = std::numeric_limits<std::uint64_t>::max(), .pages = {}, .page_byte = 0});
    std::map<int, std::uint64_t> bytes;
    for (std::size_t index = 0; index + 1 < mappings.size(); ++index) {
        const Mapping& mapping = mappings[index];
        if (overlaps(mapping.begin, mappings[index + 1].begin, regions)) {
            for (const auto& [node, count] : mapping.pages) {
                bytes[node] += count * mapping.page_byte;
            }
        }
    }
    return bytes;
}

}  // namespace tare::slices
