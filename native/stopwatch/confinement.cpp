// SPDX-License-Identifier: Apache-2.0
#include "stopwatch/confinement.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "common/system.hpp"

namespace tare::stopwatch {

namespace {

using Label = std::pair<std::string_view, std::string_view>;  // the key here, and the kernel's own name

constexpr std::array status_lines{Label{"effective_capabilities", "CapEff:"},
                                  Label{"permitted_capabilities", "CapPrm:"},
                                  Label{"inheritable_capabilities", "CapInh:"},
                                  Label{"bounding_capabilities", "CapBnd:"},
                                  Label{"ambient_capabilities", "CapAmb:"},
                                  Label{"no_new_privileges", "NoNewPrivs:"},
                                  Label{"seccomp", "Seccomp:"},
                                  Label{"seccomp_filters", "Seccomp_filters:"},
                                  Label{"user", "Uid:"},
                                  Label{"group", "Gid:"},
                                  Label{"groups", "Groups:"},
                                  Label{"store_bypass", "Speculation_Store_Bypass:"},
                                  Label{"indirect_branch", "SpeculationIndirectBranch:"}};

constexpr std::array namespaces{"cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"};

/// As getrlimit(2) names them, without RLIMIT_.
constexpr std::array<std::pair<const char*, int>, 16> named_limits{{{"as", RLIMIT_AS},
                                                                    {"core", RLIMIT_CORE},
                                                                    {"cpu", RLIMIT_CPU},
                                                                    {"data", RLIMIT_DATA},
                                                                    {"fsize", RLIMIT_FSIZE},
                                                                    {"locks", RLIMIT_LOCKS},
                                                                    {"memlock", RLIMIT_MEMLOCK},
                                                                    {"msgqueue", RLIMIT_MSGQUEUE},
                                                                    {"nice", RLIMIT_NICE},
                                                                    {"nofile", RLIMIT_NOFILE},
                                                                    {"nproc", RLIMIT_NPROC},
                                                                    {"rss", RLIMIT_RSS},
                                                                    {"rtprio", RLIMIT_RTPRIO},
                                                                    {"rttime", RLIMIT_RTTIME},
                                                                    {"sigpending", RLIMIT_SIGPENDING},
                                                                    {"stack", RLIMIT_STACK}}};

/// What stands behind a label at the beginning of a line.
std::optional<std::string> line_of(std::string_view text, std::string_view label) {
    while (!text.empty()) {
        const auto line = text.substr(0, text.find('\n'));
        if (line.starts_with(label)) {
            return std::string{trimmed(line.substr(label.size()))};
        }
        text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
    return std::nullopt;
}

std::optional<std::string> text_of(const char* path) {
    const auto text = read_text(path);
    return text ? std::optional{std::string{trimmed(*text)}} : std::nullopt;
}

std::optional<std::string> target_of(const std::string& link) {
    std::array<char, PATH_MAX> target{};
    const ssize_t size = ::readlink(link.c_str(), target.data(), target.size());
    return size < 0 ? std::nullopt
                    : std::optional{std::string{target.data(), static_cast<std::size_t>(size)}};
}

JsonObject own_namespaces() {
    JsonObject object;
    for (const char* const name : namespaces) {
        object.add(name, target_of(std::string{"/proc/self/ns/"} + name));
    }
    return object;
}

std::string written(rlim_t value) { return value == RLIM_INFINITY ? "unlimited" : std::to_string(value); }

/// "soft:hard" for each, as prlimit(1) writes them.
JsonObject own_limits() {
    JsonObject object;
    for (const auto& [name, number] : named_limits) {
        rlimit limit{};
        const bool known = ::getrlimit(static_cast<__rlimit_resource_t>(number), &limit) == 0;
        object.add(name, known ? std::optional{written(limit.rlim_cur) + ':' + written(limit.rlim_max)}
                               : std::nullopt);
    }
    return object;
}

/// A call whose -1 is an error only with errno.
std::optional<long> known(long result) { return result < 0 ? std::nullopt : std::optional{result}; }

std::optional<int> own_nice() {
    errno = 0;
    const int nice = ::getpriority(PRIO_PROCESS, 0);
    return errno == 0 ? std::optional{nice} : std::nullopt;
}

}  // namespace

void add_credentials(JsonObject& object, std::string_view status) {
    for (const auto& [key, label] : status_lines) {
        object.add(key, line_of(status, label));
    }
}

std::optional<std::string> transparent_huge_pages() {
    return transparent_huge_pages(read_text("/proc/self/status").value_or(""),
                                  read_text("/sys/kernel/mm/transparent_hugepage/enabled"));
}

std::optional<std::string> transparent_huge_pages(std::string_view status,
                                                  const std::optional<std::string>& setting) {
    if (line_of(status, "THP_enabled:") == "0") {
        return "off";
    }
    const std::string text = setting.value_or("");
    const auto start = text.find('[');
    const auto end = start == std::string::npos ? start : text.find(']', start);
    return end == std::string::npos || end == start + 1
               ? std::nullopt
               : std::optional{text.substr(start + 1, end - start - 1)};
}

std::optional<std::int64_t> mappings() {
    const auto text = read_text("/proc/self/maps").value_or("");
    return text.empty() ? std::nullopt : std::optional{std::ranges::count(text, '\n')};
}

JsonObject confinement() {
    constexpr int process = 1;  // IOPRIO_WHO_PROCESS, of which glibc has no header
    JsonObject object;
    add_credentials(object, read_text("/proc/self/status").value_or(""));
    return object.add("security_label", text_of("/proc/self/attr/current"))
        .add("namespaces", own_namespaces())
        .add("nice", own_nice())
        .add("scheduler", known(::sched_getscheduler(0)))
        .add("io_priority", known(::syscall(SYS_ioprio_get, process, 0)))
        .add("oom_score_adjustment", text_of("/proc/self/oom_score_adj"))
        .add("timer_slack_ns", known(::prctl(PR_GET_TIMERSLACK)))
        .add("limits", own_limits());
}

}  // namespace tare::stopwatch
