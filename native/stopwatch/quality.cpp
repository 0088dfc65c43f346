// SPDX-License-Identifier: Apache-2.0
#include "stopwatch/quality.hpp"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <sstream>
#include <utility>

#include "common/json.hpp"
#include "common/processors.hpp"
#include "common/system.hpp"
#include "stopwatch/clocks.hpp"
#include "stopwatch/exchange.hpp"

namespace tare::stopwatch {

namespace {

constexpr std::int64_t reading_limit_ns = 20'000'000;
constexpr std::int64_t exchange_limit_ns = 200'000'000;
constexpr std::uint64_t exchanges = 100'000;
constexpr unsigned readings = 20'000;

std::int64_t reading_ns(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return as_ns(now);
}

std::optional<std::int64_t> resolution_ns(clockid_t clock) {
    timespec step{};
    return ::clock_getres(clock, &step) == 0 ? std::optional{as_ns(step)} : std::nullopt;
}

/// CPUID leaf 0x80000007, EDX bit 8: the counter runs at one rate whatever the processor's state (Intel SDM
/// vol. 3, 18.17.1). Nothing where there is no such leaf.
std::optional<bool> invariant_counter() {
#if defined(__x86_64__) || defined(__i386__)
    constexpr unsigned leaf = 0x80000007U;
    constexpr unsigned invariant = 1U << 8U;
    std::array<unsigned, 4> registers{};
    auto& [eax, ebx, ecx, edx] = registers;
    const bool found = __get_cpuid(leaf, &eax, &ebx, &ecx, &edx) != 0;
    return found ? std::optional{(edx & invariant) != 0} : std::nullopt;
#else
    return std::nullopt;
#endif
}

/// One clock read again and again.
JsonObject tested(const std::string& name, clockid_t clock) {
    constexpr unsigned readings_per_look = 256;
    const std::int64_t deadline_ns = monotonic_raw_ns() + reading_limit_ns;
    std::int64_t least_ns = std::numeric_limits<std::int64_t>::max();
    unsigned count = 0;
    unsigned backward = 0;
    std::int64_t last_ns = reading_ns(clock);
    while (count < readings && (count % readings_per_look != 0 || monotonic_raw_ns() < deadline_ns)) {
        const std::int64_t now_ns = reading_ns(clock);
        const std::int64_t step_ns = now_ns - last_ns;
        ++count;
        backward += step_ns < 0 ? 1 : 0;
        least_ns = step_ns > 0 ? std::min(least_ns, step_ns) : least_ns;
        last_ns = now_ns;
    }
    const bool moved = least_ns != std::numeric_limits<std::int64_t>::max();
    return JsonObject{}
        .add("name", name)
        .add("resolution_ns", resolution_ns(clock))
        .add("least_step_ns", moved ? std::optional{least_ns} : std::nullopt)
        .add("readings", count)
        .add("backward_steps", backward);
}

}  // namespace

std::optional<std::vector<std::string>> counter_flags(std::string_view cpuinfo) {
    constexpr std::array<std::string_view, 4> wanted{"constant_tsc", "nonstop_tsc", "tsc_known_freq",
                                                     "tsc_reliable"};
    const auto start = cpuinfo.find("\nflags");
    const auto colon = start == std::string_view::npos ? start : cpuinfo.find(':', start);
    if (colon == std::string_view::npos) {
        return std::nullopt;
    }
    std::istringstream line{std::string{cpuinfo.substr(colon + 1, cpuinfo.find('\n', colon) - colon - 1)}};
    std::vector<std::string> found;
    for (std::string flag; line >> flag;) {
        if (std::find(wanted.begin(), wanted.end(), flag) != wanted.end()) {
            found.push_back(flag);
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::string clock_quality() {
    const std::vector<JsonObject> clocks{tested("CLOCK_MONOTONIC_RAW", CLOCK_MONOTONIC_RAW),
                                         tested("CLOCK_MONOTONIC", CLOCK_MONOTONIC),
                                         tested("CLOCK_REALTIME", CLOCK_REALTIME)};
    const auto found =
        exchange_readings(ProcessorSet::of_caller(), monotonic_raw_ns, exchanges, exchange_limit_ns);
    return JsonObject{}
        .add("source", clock_source())
        .add("tsc_flags", counter_flags(read_text("/proc/cpuinfo").value_or("")))
        .add("invariant_tsc", invariant_counter())
        .add("clocks", clocks)
        .add("pairs", found.pairs)
        .add("exchanges", found.count)
        .add("backward_exchanges", found.backward)
        .add("worst_backward_ns", found.worst_ns)
        .text();
}

}  // namespace tare::stopwatch
