// SPDX-License-Identifier: Apache-2.0
#include "npb/is/ranking.hpp"

#include <algorithm>
#include <iterator>

namespace tare::npb::is {

Ranking::Ranking(const World& world, Simd simd, int threads, const Sizes& sizes,
                 std::span<const std::uint32_t> keys, Way way)
    : team_{std::make_unique<Team>(threads)},
      functions_{functions(simd)},
      sizes_{sizes},
      keys_{keys},
      way_{way},
      small_(sizes.values()),
      large_(sizes.values()) {
    if (way == Way::whole) {
        whole_exchange_ = std::make_unique<WholeExchange>(world, simd, *team_, sizes, keys);
    } else if (way != Way::direct) {
        exchange_ = std::make_unique<Exchange>(world, simd, *team_, sizes, keys);
    }
}

void Ranking::rank(Times& times, std::span<std::uint32_t> watched) {
    switch (way_) {
        case Way::direct:
            times.time(Part::count, [&] { rank_direct(); });
            break;
        case Way::apart:
            rank_apart(times, watched);
            break;
        case Way::buckets:
            rank_buckets(times, watched);
            break;
        case Way::whole:
            rank_whole(times, watched);
            break;
    }
}

/// This rank's keys as they lie, with counters for all values.
void Ranking::count_all() {
    range_ = {.first_value = 0, .values = sizes_.values(), .first_rank = 0};
    origin_ = 0;
    clear(range_);
    functions_.count_keys(keys_.data(), std::ssize(keys_), tally_of(range_.first_value));
}

void Ranking::rank_direct() {
    count_all();
    finish(range_);
}

/// The counts of all keys say how many each rank gets; the counts of other ranks' values are of no further
/// use.
void Ranking::rank_apart(Times& times, std::span<std::uint32_t> watched) {
    times.time(Part::count, [&] { count_all(); });
    times.time(Part::bucket, [&] { exchange_->measure(tally_of(0)); });
    times.time(Part::exchange, [&] { exchange_->agree(watched); });
    times.time(Part::bucket, [&] { exchange_->fill_others(); });
    times.time(Part::exchange, [&] {
        exchange_->start();
        exchange_->finish();
    });
    times.time(Part::count, [&] {
        count(exchange_->received_keys(), range_);
        range_ = exchange_->range();
        finish(range_);
    });
}

/// The keys that stay are counted while the others are under way. Each thread has values of its own.
void Ranking::rank_buckets(Times& times, std::span<std::uint32_t> watched) {
    times.time(Part::bucket, [&] { exchange_->measure(); });
    times.time(Part::exchange, [&] { exchange_->agree(watched); });
    times.time(Part::bucket, [&] { exchange_->fill(); });
    times.time(Part::exchange, [&] { exchange_->start(); });
    range_ = exchange_->range();
    origin_ = range_.first_value;
    const std::vector<Range> parts = exchange_->ranges();
    times.time(Part::count, [&] {
        team_->run([&, segments = exchange_->kept()](int thread) {
            const Range& part = parts[static_cast<std::size_t>(thread)];
            clear(part);
            count(segments, part);
        });
    });
    times.time(Part::exchange, [&] { exchange_->finish(); });
    times.time(Part::count, [&] {
        team_->run([&, segments = exchange_->received()](int thread) {
            const Range& part = parts[static_cast<std::size_t>(thread)];
            count(segments, part);
            finish(part);
        });
    });
}

/// Keys of a rank come without their buckets' sizes, so one thread counts them all, with counters for all
/// values.
void Ranking::rank_whole(Times& times, std::span<std::uint32_t> watched) {
    times.time(Part::bucket, [&] { whole_exchange_->measure(); });
    times.time(Part::exchange, [&] { whole_exchange_->agree(watched); });
    times.time(Part::bucket, [&] { whole_exchange_->fill(); });
    times.time(Part::exchange, [&] { whole_exchange_->send(); });
    times.time(Part::count, [&] {
        const std::span<const std::uint32_t> keys = whole_exchange_->received();
        range_ = whole_exchange_->range();
        origin_ = 0;
        clear(range_);
        functions_.count_keys(keys.data(), std::ssize(keys), tally_of(0));
        finish(range_);
    });
}

Tally Ranking::tally_of(std::uint32_t first_value) {
    const std::uint32_t place = first_value - origin_;
    return {.small = std::next(small_.data(), place), .large = std::next(large_.data(), place)};
}

void Ranking::clear(const Range& part) {
    const Tally tally = tally_of(part.first_value);
    std::fill_n(tally.small, part.values, std::uint8_t{0});
    std::fill_n(tally.large, part.values, std::uint32_t{0});
}

void Ranking::count(const std::vector<Segment>& segments, const Range& part) {
    for (const Segment& segment : segments) {
        if (part.holds(segment.first_value)) {
            functions_.count_offsets(segment.offsets.data(), std::ssize(segment.offsets),
                                     tally_of(segment.first_value));
        }
    }
}

void Ranking::finish(const Range& part) {
    functions_.rank(tally_of(part.first_value), part.values, part.first_rank);
}

std::optional<std::uint32_t> Ranking::rank_of(std::uint32_t value) const {
    return range_.holds(value) ? std::optional{ranks()[value - range_.first_value]} : std::nullopt;
}

void Ranking::for_each_key(const std::function<void(std::uint32_t value)>& visit) const {
    const auto visit_all = [&](const std::vector<Segment>& segments) {
        for (const Segment& segment : segments) {
            std::for_each(segment.offsets.begin(), segment.offsets.end(),
                          [&](std::uint16_t offset) { visit(segment.first_value + offset); });
        }
    };
    if (way_ == Way::whole) {
        const std::span<const std::uint32_t> keys = whole_exchange_->received();
        std::for_each(keys.begin(), keys.end(), visit);
        return;
    }
    if (way_ == Way::buckets) {
        visit_all(exchange_->kept());
        visit_all(exchange_->received());
        return;
    }
    for (const std::uint32_t key : keys_) {
        if (range_.holds(key)) {
            visit(key);
        }
    }
    if (exchange_) {
        visit_all(exchange_->received_keys());
    }
}

}  // namespace tare::npb::is
