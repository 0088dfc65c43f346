// SPDX-License-Identifier: Apache-2.0
#include "npb/is/buckets.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tare::npb::is {

namespace {

void add(std::vector<std::uint32_t>& sums, const std::vector<std::uint32_t>& values) {
    std::transform(sums.begin(), sums.end(), values.begin(), sums.begin(), std::plus{});
}

}  // namespace

std::vector<std::uint32_t> starts_of(std::span<const std::uint32_t> counts) {
    std::vector<std::uint32_t> starts(counts.size() + 1);
    std::inclusive_scan(counts.begin(), counts.end(), starts.begin() + 1);
    return starts;
}

Buckets::Buckets(Simd simd, Team& team, int shift, std::size_t buckets, std::span<const std::uint32_t> keys)
    : team_{&team},
      functions_{functions(simd)},
      shift_{shift},
      keys_{keys},
      sizes_(buckets),
      offsets_(keys.size() + split_spare) {
    for (int thread = 0; thread < team.threads(); ++thread) {
        const auto share = team.part(thread, std::ssize(keys));
        slices_.push_back({.keys = keys.subspan(static_cast<std::size_t>(share.first),
                                                static_cast<std::size_t>(share.count)),
                           .sizes = std::vector<std::uint32_t>(buckets)});
    }
}

void Buckets::measure() {
    team_->run([this](int thread) {
        Slice& slice = slices_[static_cast<std::size_t>(thread)];
        std::fill(slice.sizes.begin(), slice.sizes.end(), 0U);
        functions_.measure_buckets(slice.keys.data(), std::ssize(slice.keys), shift_,
                                   static_cast<int>(slice.sizes.size()), slice.sizes.data());
    });
    std::fill(sizes_.begin(), sizes_.end(), 0U);
    for (const Slice& slice : slices_) {
        add(sizes_, slice.sizes);
    }
    starts_ = starts_of(sizes_);
}

void Buckets::measure(Tally counts, std::int64_t values) {
    std::fill(sizes_.begin(), sizes_.end(), 0U);
    functions_.measure_tally(counts, values, shift_, sizes_.data());
    starts_ = starts_of(sizes_);
}

void Buckets::fill_together(std::size_t first, std::size_t last) {
    const auto first_value = static_cast<std::uint32_t>(first << static_cast<unsigned>(shift_));
    const auto values = static_cast<std::uint32_t>((last - first) << static_cast<unsigned>(shift_));
    functions_.split(keys_.data(), std::ssize(keys_), first_value, values,
                     std::next(offsets_.data(), starts_[first]));
}

/// In each bucket the slices' keys follow one another, so that threads need not wait for one another.
template <typename Kept>
void Buckets::fill_by(Fill<Kept> loop, Kept* kept) {
    std::vector<std::vector<std::uint32_t>> next;
    std::vector<std::uint32_t> places(starts_.begin(), starts_.end() - 1);
    for (const Slice& slice : slices_) {
        next.push_back(places);
        add(places, slice.sizes);
    }
    team_->run([&](int thread) {
        const auto index = static_cast<std::size_t>(thread);
        const auto keys = slices_[index].keys;
        loop(keys.data(), std::ssize(keys), shift_, next[index].data(), kept);
    });
}

void Buckets::fill() { fill_by(functions_.fill_buckets, offsets_.data()); }

void Buckets::fill_whole() {
    if (whole_.size() < keys_.size()) {
        whole_ = Buffer<std::uint32_t>(keys_.size());
    }
    fill_by(functions_.fill_buckets_whole, whole_.data());
}

}  // namespace tare::npb::is
