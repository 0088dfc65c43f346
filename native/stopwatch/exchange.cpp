// SPDX-License-Identifier: Apache-2.0
#include "stopwatch/exchange.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <system_error>
#include <thread>

#include "common/processors.hpp"
#include "common/system.hpp"

namespace tare::stopwatch {

namespace {

constexpr std::size_t cache_line_byte = 64;
constexpr std::size_t most_pairs = 16;

/// Where one side leaves its reading; in a cache line of its own, so that it alone travels.
struct alignas(cache_line_byte) Place {
    std::atomic<std::int64_t> reading_ns{0};
    std::atomic<std::uint64_t> turn{0};  ///< Which reading it is; written last.
};

struct Pair {
    std::array<Place, 2> places;
    std::atomic<bool> over{false};
    Clock clock;
    std::uint64_t turns;
    std::int64_t deadline_ns;
};

/// Whether the other side has come to `turn`; false when the time is over.
bool arrived(Pair& pair, const Place& other, std::uint64_t turn) {
    constexpr unsigned looks_per_clock = 4096;
    for (unsigned looks = 1; other.turn.load(std::memory_order_acquire) < turn; ++looks) {
        if (pair.over.load(std::memory_order_relaxed)) {
            return false;
        }
        if (looks % looks_per_clock == 0 && monotonic_raw_ns() > pair.deadline_ns) {
            pair.over.store(true, std::memory_order_relaxed);
            return false;
        }
    }
    return true;
}

/// Reads the clock, compares with what the other side left last, and leaves the reading.
void exchange(Pair& pair, std::size_t side, std::uint64_t turn, Exchanges& found) {
    Place& own = pair.places.at(side);
    const std::int64_t now_ns = pair.clock();
    const std::int64_t read_before_ns = pair.places.at(1 - side).reading_ns.load(std::memory_order_relaxed);
    if (now_ns < read_before_ns) {
        ++found.backward;
        found.worst_ns = std::max(found.worst_ns, read_before_ns - now_ns);
    }
    ++found.count;
    own.reading_ns.store(now_ns, std::memory_order_relaxed);
    own.turn.store(turn, std::memory_order_release);
}

/// Leaves a reading, the first of which has nothing to be compared with, and waits for the answer.
Exchanges ask(Pair& pair) {
    Exchanges found;
    for (std::uint64_t turn = 1; turn <= pair.turns; ++turn) {
        exchange(pair, 0, turn, found);
        if (!arrived(pair, pair.places[1], turn)) {
            break;
        }
    }
    found.count -= std::min<std::uint64_t>(found.count, 1);
    return found;
}

Exchanges answer(Pair& pair) {
    Exchanges found;
    for (std::uint64_t turn = 1; turn <= pair.turns && arrived(pair, pair.places[0], turn); ++turn) {
        exchange(pair, 1, turn, found);
    }
    return found;
}

Exchanges pinned(Pair& pair, Exchanges (*side)(Pair&), int processor) {
    if (ProcessorSet{{processor}}.bind_caller() != 0) {
        pair.over.store(true, std::memory_order_relaxed);
        return {};
    }
    return side(pair);
}

void add(Exchanges& all, const Exchanges& more) {
    all.count += more.count;
    all.backward += more.backward;
    all.worst_ns = std::max(all.worst_ns, more.worst_ns);
}

Exchanges between(int first, int second, Clock clock, std::uint64_t turns, std::int64_t limit_ns) {
    Pair pair{.places = {}, .clock = clock, .turns = turns, .deadline_ns = monotonic_raw_ns() + limit_ns};
    std::array<Exchanges, 2> found;
    std::thread answering{[&] { found[1] = pinned(pair, answer, second); }};
    try {
        std::thread asking{[&] { found[0] = pinned(pair, ask, first); }};
        asking.join();
    } catch (const std::system_error&) {
        pair.over.store(true, std::memory_order_relaxed);
    }
    answering.join();
    Exchanges both{.pairs = 1};
    add(both, found[0]);
    add(both, found[1]);
    return both;
}

}  // namespace

Exchanges exchange_readings(const std::vector<int>& processors, Clock clock, std::uint64_t count,
                            std::int64_t limit_ns) {
    Exchanges all;
    if (processors.size() < 2) {
        return all;
    }
    const std::size_t pairs = std::min(processors.size() - 1, most_pairs);
    const std::uint64_t turns = count / (2 * pairs);
    const std::int64_t each_ns = limit_ns / static_cast<std::int64_t>(pairs);
    try {
        for (std::size_t other = 1; other <= pairs; ++other) {
            const auto found = between(processors.front(), processors.at(other), clock, turns, each_ns);
            add(all, found);
            all.pairs += found.count > 0 ? 1 : 0;
        }
    } catch (const std::system_error&) {  // no further thread is allowed here
        return all;
    }
    return all;
}

}  // namespace tare::stopwatch
