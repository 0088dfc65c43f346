// SPDX-License-Identifier: Apache-2.0
#include "stopwatch/facts.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "common/file_descriptor.hpp"
#include "common/json.hpp"
#include "common/number.hpp"
#include "common/processors.hpp"
#include "common/system.hpp"
#include "stopwatch/cgroup.hpp"
#include "stopwatch/clocks.hpp"
#include "stopwatch/confinement.hpp"
#include "stopwatch/costs.hpp"

namespace tare::stopwatch {

namespace {

/// The size of /dev/shm; nothing when it is part of /dev or has no bound of its own.
std::optional<std::uint64_t> shm_byte() {
    struct stat own {};
    struct stat parent {};
    struct statvfs size {};
    const bool mounted = ::stat("/dev/shm", &own) == 0 && ::stat("/dev/shm/..", &parent) == 0 &&
                         own.st_dev != parent.st_dev && ::statvfs("/dev/shm", &size) == 0;
    return mounted && size.f_blocks > 0 ? std::optional{std::uint64_t{size.f_blocks} * size.f_frsize}
                                        : std::nullopt;
}

/// MemTotal of /proc/meminfo, whose "kB" are 1024 byte (proc(5)).
std::optional<std::uint64_t> memory_total_byte() {
    constexpr std::string_view label = "MemTotal:";
    constexpr std::uint64_t kibibyte = 1024;
    const auto text = read_text("/proc/meminfo");
    const auto start = text ? text->find(label) : std::string::npos;
    if (start == std::string::npos) {
        return std::nullopt;
    }
    const auto value = trimmed(std::string_view{*text}.substr(start + label.size()));
    const auto total = parse_number<std::uint64_t>(value.substr(0, value.find(' ')));
    return total ? std::optional{*total * kibibyte} : std::nullopt;
}

std::vector<std::string> variable_names() {
    std::vector<std::string> names;
    for (char** variable = environ; variable != nullptr && *variable != nullptr;
         variable = std::next(variable)) {
        const std::string_view text{*variable};
        names.emplace_back(text.substr(0, text.find('=')));
    }
    std::sort(names.begin(), names.end());
    return names;
}

/// CLOCK_MONOTONIC: where it began says how old the system is that keeps it (clock_gettime(2)).
std::int64_t monotonic_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace

namespace {

std::string facts_of(pid_t stopwatch) {
    utsname system{};
    if (::uname(&system) != 0) {
        throw_errno("cannot read the system's name");
    }
    const VisibleLimits limits = visible_limits("/proc/self/cgroup", "/sys/fs/cgroup");
    return JsonObject{}
        .add("pid", stopwatch)
        .add("processors", ProcessorSet::of_caller())
        .add("online_processors", ::sysconf(_SC_NPROCESSORS_ONLN))
        .add("hostname", std::string_view{&system.nodename[0]})
        .add("kernel_release", std::string_view{&system.release[0]})
        .add("uid", ::getuid())
        .add("shm_byte", shm_byte())
        .add("memory_total_byte", memory_total_byte())
        .add("memory_limit_byte", limits.memory_byte)
        .add("cpu_quota", limits.cpu_quota)
        .add("variables", variable_names())
        .add("clock_source", clock_source())
        .add("monotonic_ns", monotonic_ns())
        .add("confinement", confinement())
        .add("transparent_huge_pages", transparent_huge_pages())
        .add("mappings", mappings())
        .add("system_call_ns", system_call_ns())
        .add("clock_read_ns", clock_read_ns())
        .text();
}

/// All that is read until every writer has closed the pipe.
std::string read_whole(const FileDescriptor& file) {
    constexpr std::size_t piece_byte = 4096;
    std::string text;
    std::array<char, piece_byte> piece{};
    ssize_t count = 0;
    while ((count = ::read(file.number(), piece.data(), piece.size())) > 0 || (count < 0 && errno == EINTR)) {
        text.append(piece.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    }
    return text;
}

/// The life of the process that looks: its exit code is the errno of what it could not take on.
[[noreturn]] void look(const Restrictions& restrictions, pid_t stopwatch, int output) {
    if (restrictions.apply() != nullptr) {
        ::_exit(errno);
    }
    constexpr std::chrono::seconds limit{10};
    ::_exit(write_all(output, facts_of(stopwatch), limit) ? 0 : EPIPE);
}

}  // namespace

std::string node_facts(const Restrictions& restrictions) {
    if (restrictions.empty()) {
        return facts_of(::getpid());
    }
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw_errno("cannot make a pipe");
    }
    const FileDescriptor reading{ends[0]};
    FileDescriptor writing{ends[1]};
    const pid_t stopwatch = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) {
        throw_errno("cannot start a process");
    }
    if (child == 0) {
        look(restrictions, stopwatch, writing.number());
    }
    writing = FileDescriptor{};
    std::string facts = read_whole(reading);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        errno = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
        throw_errno("cannot become the command's user, or take on its limits");
    }
    return facts;
}

}  // namespace tare::stopwatch
