// SPDX-License-Identifier: Apache-2.0
// What ranks tell each other at the end of a run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "profile/library/mpi.hpp"

namespace tare::profile {

/// What a rank tells each other one before the items themselves.
struct Notice {
    std::int32_t count;
    /// Whether its items are all there, in their order.
    std::int32_t usable;
};

/// Items for or from each rank, the items of a rank behind each other.
template <typename Item>
struct Parcels {
    std::vector<int> counts;
    std::vector<Item> items;

    /// For one rank after the other.
    void add(const std::vector<Item>& for_rank) {
        counts.push_back(static_cast<int>(for_rank.size()));
        items.insert(items.end(), for_rank.begin(), for_rank.end());
    }
    [[nodiscard]] std::vector<int> places() const {
        std::vector<int> places(counts.size());
        std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
        return places;
    }
    /// The items of each rank.
    [[nodiscard]] std::vector<std::span<const Item>> parts() const {
        std::vector<std::span<const Item>> parts;
        std::size_t place = 0;
        for (const int count : counts) {
            parts.push_back(std::span{items}.subspan(place, static_cast<std::size_t>(count)));
            place += static_cast<std::size_t>(count);
        }
        return parts;
    }
};

/// Of each rank, what it tells this one; `counts[rank]` items are for that rank.
[[nodiscard]] std::vector<Notice> exchange_notices(const Mpi& mpi, const std::vector<int>& counts,
                                                   bool usable);

[[nodiscard]] inline std::vector<int> counts_of(std::span<const Notice> notices) {
    std::vector<int> counts;
    std::transform(notices.begin(), notices.end(), std::back_inserter(counts),
                   [](const Notice& notice) { return notice.count; });
    return counts;
}

/// What the others sent, of which there are `counts[rank]`.
template <typename Item>
[[nodiscard]] Parcels<Item> exchange(const Mpi& mpi, const Parcels<Item>& out, std::vector<int> counts) {
    const auto all = static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), 0));
    Parcels<Item> received{.counts = std::move(counts), .items = std::vector<Item>(all)};
    MPI_Datatype item{};
    mpi.Type_contiguous(sizeof(Item), mpi.byte, &item);
    mpi.Type_commit(&item);
    mpi.Alltoallv(out.items.data(), out.counts.data(), out.places().data(), item, received.items.data(),
                  received.counts.data(), received.places().data(), item, mpi.world);
    mpi.Type_free(&item);
    return received;
}

}  // namespace tare::profile
