// SPDX-License-Identifier: Apache-2.0
#include "stopwatch/clocks.hpp"

#include <unistd.h>

#include <sstream>

#include "common/json.hpp"
#include "common/system.hpp"

namespace tare::stopwatch {

std::int64_t as_ns(const timespec& time) {
    constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;
    return time.tv_sec * nanoseconds_per_second + time.tv_nsec;
}

std::optional<std::string> clock_source() {
    const auto text = read_text("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    return text ? std::optional{std::string{trimmed(*text)}} : std::nullopt;
}

std::string clock_readings() {
    timespec raw{};
    timespec monotonic{};
    timespec realtime{};
    ::clock_gettime(CLOCK_MONOTONIC_RAW, &raw);
    ::clock_gettime(CLOCK_MONOTONIC, &monotonic);
    ::clock_gettime(CLOCK_REALTIME, &realtime);
    return JsonObject{}
        .add("monotonic_raw_ns", as_ns(raw))
        .add("monotonic_ns", as_ns(monotonic))
        .add("realtime_ns", as_ns(realtime))
        .text();
}

std::optional<std::uint64_t> steal_ticks(const std::string& statistics) {
    constexpr int numbers_before_steal = 7;
    std::istringstream line{statistics};
    std::string label;
    std::uint64_t ticks = 0;
    line >> label;
    for (int number = 0; number <= numbers_before_steal; ++number) {
        line >> ticks;
    }
    return label == "cpu" && line ? std::optional{ticks} : std::nullopt;
}

std::string stolen_time() {
    return JsonObject{}
        .add("ticks", steal_ticks(read_text("/proc/stat").value_or("")))
        .add("ticks_per_s", ::sysconf(_SC_CLK_TCK))
        .text();
}

}  // namespace tare::stopwatch
