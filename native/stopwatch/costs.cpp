// SPDX-License-Identifier: Apache-2.0
#include "stopwatch/costs.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <vector>

#include "common/system.hpp"

namespace tare::stopwatch {

namespace {

constexpr std::int64_t limit_of_each_ns = 2'500'000;
constexpr std::int64_t batches = 15;
constexpr std::int64_t most_calls = 100;

void make_system_call() { static_cast<void>(::syscall(SYS_getppid)); }

void read_clock() {
    timespec now{};
    static_cast<void>(::clock_gettime(CLOCK_MONOTONIC, &now));
}

double batch_ns(void (*call)(), std::int64_t (*now_ns)(), std::int64_t calls) {
    const std::int64_t begun_ns = now_ns();
    for (std::int64_t number = 0; number < calls; ++number) {
        call();
    }
    return static_cast<double>(now_ns() - begun_ns) / static_cast<double>(calls);
}

/// As many calls as let all batches end within the limit, by how long a few take.
std::int64_t calls_per_batch(void (*call)(), std::int64_t (*now_ns)(), std::int64_t limit_ns) {
    constexpr std::int64_t few = 3;
    call();  // the first one finds nothing in the caches
    const double whole_ns = batch_ns(call, now_ns, few) * static_cast<double>(batches * most_calls);
    const double part = whole_ns > 0.0 ? std::min(static_cast<double>(limit_ns) / whole_ns, 1.0) : 1.0;
    return std::max<std::int64_t>(static_cast<std::int64_t>(part * static_cast<double>(most_calls)), 1);
}

}  // namespace

std::optional<double> cost_ns(void (*call)(), std::int64_t (*now_ns)(), std::int64_t limit_ns) {
    const std::int64_t deadline_ns = now_ns() + limit_ns;
    const std::int64_t calls = calls_per_batch(call, now_ns, limit_ns);
    std::vector<double> costs_ns;
    do {
        costs_ns.push_back(batch_ns(call, now_ns, calls));
    } while (std::ssize(costs_ns) < batches && now_ns() < deadline_ns);
    const auto middle = std::next(costs_ns.begin(), std::ssize(costs_ns) / 2);
    std::nth_element(costs_ns.begin(), middle, costs_ns.end());
    return *middle > 0.0 ? std::optional{*middle} : std::nullopt;
}

std::optional<double> system_call_ns() {
    return cost_ns(make_system_call, monotonic_raw_ns, limit_of_each_ns);
}

std::optional<double> clock_read_ns() { return cost_ns(read_clock, monotonic_raw_ns, limit_of_each_ns); }

}  // namespace tare::stopwatch
