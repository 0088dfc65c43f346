// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "npb/common/buffer.hpp"
#include "npb/common/team.hpp"
#include "npb/common/timing.hpp"
#include "npb/common/world.hpp"
#include "npb/is/counting.hpp"
#include "npb/is/exchange.hpp"
#include "npb/is/keys.hpp"
#include "npb/is/whole_exchange.hpp"

namespace tare::npb::is {

enum class Part { bucket, exchange, count };
using Times = Phases<Part, 3>;

/// `direct`: keys are counted as they lie. `apart`: so are they, and those whose values other ranks have go
/// there too. `buckets`: they are first sorted into buckets, which go to the ranks that count them. `whole`:
/// so are they, but with the reference's messages.
enum class Way { direct, apart, buckets, whole };

/// A single thread needs buckets only when its counters no longer fit in the caches near the core (2 MiB).
/// Two ranks do without them where a whole key fits the bits of an offset; more would go over their keys too
/// often. The rule depends on the problem alone, so that all environments take the same way.
[[nodiscard]] constexpr Way way_of(const Sizes& sizes, int ranks, int threads) {
    constexpr int cached_values_exponent = 21;
    constexpr int ranks_apart = 2;
    if (ranks * threads == 1 && sizes.values_exponent <= cached_values_exponent) {
        return Way::direct;
    }
    return ranks == ranks_apart && threads == 1 && sizes.values_exponent <= offset_bits ? Way::apart
                                                                                        : Way::buckets;
}

/// The rank of every key: the number of keys less than it. Each rank of the run knows the ranks of the values
/// in its `range`, as it has counted all keys that have them.
class Ranking {
  public:
    /// The keys stay the caller's, who may change them between two calls of `rank`. `threads` share the work
    /// of the way through buckets.
    Ranking(const World& world, Simd simd, int threads, const Sizes& sizes,
            std::span<const std::uint32_t> keys, Way way);

    /// Ranks the keys as they are now. The watched values come back as their sums over all ranks.
    void rank(Times& times, std::span<std::uint32_t> watched);

    [[nodiscard]] const Range& range() const { return range_; }
    /// Per value of the range: how many keys are less.
    [[nodiscard]] std::span<const std::uint32_t> ranks() const {
        return large_.span().subspan(range_.first_value - origin_, range_.values);
    }

    /// The rank of keys of this value; nothing where another rank of the run knows it.
    [[nodiscard]] std::optional<std::uint32_t> rank_of(std::uint32_t value) const;

    /// Calls `visit` with the value of each key that was counted here.
    void for_each_key(const std::function<void(std::uint32_t value)>& visit) const;

  private:
    void count_all();
    void rank_direct();
    void rank_apart(Times& times, std::span<std::uint32_t> watched);
    void rank_buckets(Times& times, std::span<std::uint32_t> watched);
    void rank_whole(Times& times, std::span<std::uint32_t> watched);
    /// The counters of a part of this rank's values.
    [[nodiscard]] Tally tally_of(std::uint32_t first_value);
    void clear(const Range& part);
    void count(const std::vector<Segment>& segments, const Range& part);
    void finish(const Range& part);

    /// Stays where it is when this moves: buckets refer to it.
    std::unique_ptr<Team> team_;
    Functions functions_;
    Sizes sizes_;
    std::span<const std::uint32_t> keys_;
    std::unique_ptr<Exchange> exchange_{};
    std::unique_ptr<WholeExchange> whole_exchange_{};
    Way way_;
    Range range_{};
    /// The value of the first counter.
    std::uint32_t origin_ = 0;
    Buffer<std::uint8_t> small_;
    Buffer<std::uint32_t> large_;
};

}  // namespace tare::npb::is
