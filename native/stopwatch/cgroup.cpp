// SPDX-License-Identifier: Apache-2.0
#include "stopwatch/cgroup.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "common/number.hpp"
#include "common/system.hpp"

namespace tare::stopwatch {

namespace {

namespace fs = std::filesystem;

/// One line of /proc/PID/cgroup, `hierarchy:controllers:path`; no controllers: version 2.
struct Membership {
    std::string controllers;
    fs::path path;

    [[nodiscard]] bool controls(std::string_view controller) const {
        return (',' + controllers + ',').find(',' + std::string{controller} + ',') != std::string::npos;
    }
};

std::vector<Membership> parse_memberships(const std::string& text) {
    std::vector<Membership> memberships;
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) {
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (first != std::string::npos && second != std::string::npos) {
            memberships.push_back({line.substr(first + 1, second - first - 1),
                                   fs::path{line.substr(second + 1)}.lexically_normal().relative_path()});
        }
    }
    return memberships;
}

/// The group's folder and those above it, as far as they exist below `root`. Inside a container the path may
/// be that of the host, which the container does not show: then its own groups start at the root itself.
std::vector<fs::path> visible_groups(const fs::path& root, const fs::path& path) {
    std::vector<fs::path> groups{root};
    for (const fs::path& part : path) {
        fs::path below = groups.back() / part;
        std::error_code ignored;
        if (part == ".." || !fs::is_directory(below, ignored)) {
            break;
        }
        groups.push_back(std::move(below));
    }
    return groups;
}

template <typename Number>
std::optional<Number> read_number(const fs::path& file) {
    const auto text = read_text(file);
    return text ? parse_number<Number>(trimmed(*text)) : std::nullopt;
}

std::optional<std::uint64_t> memory_limit_v1(const fs::path& group) {
    // Unlimited is the largest multiple of the page size: far above any machine.
    constexpr std::uint64_t unlimited = std::uint64_t{1} << 60U;
    const auto limit = read_number<std::uint64_t>(group / "memory.limit_in_bytes");
    return limit && *limit < unlimited ? limit : std::nullopt;
}

std::optional<std::uint64_t> memory_limit_v2(const fs::path& group) {
    return read_number<std::uint64_t>(group / "memory.max");
}

std::optional<double> cpu_quota(std::optional<double> quota_us, std::optional<double> period_us) {
    const bool limited = quota_us && period_us && *quota_us > 0 && *period_us > 0;
    return limited ? std::optional{*quota_us / *period_us} : std::nullopt;
}

std::optional<double> cpu_quota_v1(const fs::path& group) {
    return cpu_quota(read_number<double>(group / "cpu.cfs_quota_us"),
                     read_number<double>(group / "cpu.cfs_period_us"));
}

std::optional<double> cpu_quota_v2(const fs::path& group) {
    const std::string text = read_text(group / "cpu.max").value_or("");
    const auto blank = text.find(' ');
    if (blank == std::string::npos) {
        return std::nullopt;
    }
    const std::string_view view{text};
    return cpu_quota(parse_number<double>(view.substr(0, blank)),
                     parse_number<double>(trimmed(view.substr(blank))));
}

template <typename Number>
void tighten(std::optional<Number>& limit, std::optional<Number> found) {
    if (found) {
        limit = limit ? std::min(*limit, *found) : found;
    }
}

template <typename Number, typename Reader>
void tighten_along(std::optional<Number>& limit, const fs::path& root, const fs::path& path, Reader reader) {
    for (const fs::path& group : visible_groups(root, path)) {
        tighten(limit, reader(group));
    }
}

}  // namespace

VisibleLimits visible_limits(const fs::path& membership, const fs::path& mount) {
    VisibleLimits limits;
    for (const Membership& own : parse_memberships(read_text(membership).value_or(""))) {
        if (own.controllers.empty()) {
            tighten_along(limits.memory_byte, mount, own.path, memory_limit_v2);
            tighten_along(limits.cpu_quota, mount, own.path, cpu_quota_v2);
        }
        if (own.controls("memory")) {
            tighten_along(limits.memory_byte, mount / "memory", own.path, memory_limit_v1);
        }
        if (own.controls("cpu")) {
            tighten_along(limits.cpu_quota, mount / "cpu", own.path, cpu_quota_v1);
            tighten_along(limits.cpu_quota, mount / own.controllers, own.path, cpu_quota_v1);
        }
    }
    return limits;
}

}  // namespace tare::stopwatch
