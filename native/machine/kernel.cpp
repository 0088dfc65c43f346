// SPDX-License-Identifier: Apache-2.0
#include "machine/kernel.hpp"

#include <sstream>
#include <stdexcept>

#include "common/number.hpp"
#include "common/processors.hpp"
#include "common/system.hpp"

namespace tare::machine {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t byte_per_kib = 1024;

constexpr std::string_view clock_folder = "sys/devices/system/clocksource/clocksource0";

std::optional<std::string> line_of(const fs::path& path) {
    const auto text = read_text(path);
    return text ? std::optional{std::string{trimmed(*text)}} : std::nullopt;
}

/// The words of the first line that starts with `label`.
std::vector<std::string> words_after(const fs::path& path, const std::string& label) {
    std::istringstream lines{read_text(path).value_or("")};
    for (std::string line; std::getline(lines, line);) {
        auto words = words_of(line);
        if (!words.empty() && words.front() == label) {
            words.erase(words.begin());
            return words;
        }
    }
    return {};
}

std::optional<std::uint64_t> number_after(const fs::path& path, const std::string& label, std::size_t index) {
    const auto words = words_after(path, label);
    return index < words.size() ? parse_number<std::uint64_t>(words[index]) : std::nullopt;
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
    std::istringstream stream{std::string{text}};
    std::vector<std::string> words;
    for (std::string word; stream >> word;) {
        words.push_back(word);
    }
    return words;
}

std::optional<std::string> kernel_release(const fs::path& root) {
    return line_of(root / "proc/sys/kernel/osrelease");
}

std::optional<std::string> command_line(const fs::path& root) { return line_of(root / "proc/cmdline"); }

std::optional<std::string> clock_source(const fs::path& root) {
    return line_of(root / clock_folder / "current_clocksource");
}

std::optional<std::vector<std::string>> clock_sources(const fs::path& root) {
    const auto text = read_text(root / clock_folder / "available_clocksource");
    return text ? std::optional{words_of(*text)} : std::nullopt;
}

std::optional<std::size_t> online_processors(const fs::path& root) {
    const auto text = line_of(root / "sys/devices/system/cpu/online");
    try {
        return text ? std::optional{parse_processor_list(*text).size()} : std::nullopt;
    } catch (const std::invalid_argument&) {
        return std::nullopt;
    }
}

std::optional<std::uint64_t> memory_byte(const fs::path& root) {
    const auto kib = number_after(root / "proc/meminfo", "MemTotal:", 0);
    return kib ? std::optional{*kib * byte_per_kib} : std::nullopt;
}

std::optional<std::uint64_t> steal_tick(const fs::path& root) {
    constexpr std::size_t steal = 7;  // after user, nice, system, idle, iowait, irq and softirq
    return number_after(root / "proc/stat", "cpu", steal);
}

std::optional<std::vector<std::string>> modules(const fs::path& root) {
    const auto text = read_text(root / "proc/modules");
    if (!text) {
        return std::nullopt;
    }
    std::vector<std::string> names;
    std::istringstream lines{*text};
    for (std::string line; std::getline(lines, line);) {
        names.push_back(line.substr(0, line.find(' ')));
    }
    return names;
}

}  // namespace tare::machine
