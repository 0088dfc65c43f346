// SPDX-License-Identifier: Apache-2.0
#include "profile/library/clock.hpp"

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "common/system.hpp"

namespace tare::profile {

namespace {

bool are_equal(const char* first_variable, const char* second_variable) {
    const char* const first = std::getenv(first_variable);    // NOLINT(concurrency-mt-unsafe): nobody sets it
    const char* const second = std::getenv(second_variable);  // NOLINT(concurrency-mt-unsafe): nobody sets it
    return first != nullptr && second != nullptr && std::string_view{first} == second;
}

}  // namespace

std::int64_t now_ns() noexcept {
    constexpr std::int64_t ns_per_second = 1'000'000'000;
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * ns_per_second + now.tv_nsec;
}

/// By Open MPI's or MPICH's word on how many ranks there are, and how many of them in this node.
bool is_only_node() {
    return are_equal("OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_SIZE") ||
           are_equal("MPI_LOCALNRANKS", "PMI_SIZE");
}

bool kernel_counts_cycles() {
    const auto source = read_text("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    return now_cycles() != 0 && source && trimmed(*source) == "tsc";
}

double Clock::ns_per_tick(const Moment& from, const Moment& until) const {
    return by_cycles_
               ? static_cast<double>(until.ns - from.ns) / static_cast<double>(until.cycles - from.cycles)
               : 1;
}

std::uint64_t Clock::identity() const {
    const auto boot = read_text("/proc/sys/kernel/random/boot_id");
    if (!boot) {
        return !is_only_node() ? 0 : by_cycles_ ? 2 : 1;
    }
    // A time namespace shifts CLOCK_MONOTONIC. A kernel without them has no such file, and one clock.
    std::error_code error;
    const auto shifted = std::filesystem::read_symlink("/proc/self/ns/time", error);
    return std::hash<std::string>{}(*boot + (by_cycles_ ? "cycles" : shifted.string())) | 1U;
}

}  // namespace tare::profile
