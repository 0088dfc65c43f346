// SPDX-License-Identifier: Apache-2.0
#include "npb/ft/spectrum.hpp"

#include <algorithm>
#include <array>

namespace tare::npb::ft {

namespace {

/// As many blocks as leave three quarters of a second cache of 512 KiB free, where the next group's data come
/// in.
int blocks_of_group(const Edges& edges) {
    constexpr std::ptrdiff_t work_doubles = std::ptrdiff_t{1} << 14U;
    return static_cast<int>(
        std::clamp(work_doubles / (bundle_rows * edges.z * block_doubles), std::ptrdiff_t{1}, group_blocks));
}

}  // namespace

Spectrum::Spectrum(const Decomposition& decomposition, Simd simd, bool is_streamed, int threads)
    : decomposition_{decomposition},
      functions_{functions(simd)},
      is_streamed_{is_streamed},
      group_blocks_{blocks_of_group(decomposition.edges)},
      groups_of_bundle_{(decomposition.blocks().count + group_blocks_ - 1) / group_blocks_},
      memory_{static_cast<std::size_t>(groups() * group_doubles())} {
    for (int thread = 0; thread < threads; ++thread) {
        work_.emplace_back(static_cast<std::size_t>(bundle_rows * (decomposition.edges.z + 1) *
                                                    work_element_doubles(group_blocks_)));
    }
    for (int z = 0; z < decomposition.edges.z; ++z) {
        planes_.push_back(memory_.data() + z * plane_doubles());
    }
}

void Spectrum::make_tables() {
    plan_.emplace(decomposition_.edges.z);
    row_twiddle_.clear();
    for (int bundle = 0; bundle < decomposition_.all_bundles(); ++bundle) {
        for (int row = 0; row < bundle_rows; ++row) {
            const auto root = root_of_unity(std::int64_t{bundle} * row, decomposition_.edges.y);
            row_twiddle_.push_back(root.real());
            row_twiddle_.push_back(root.imag());
        }
    }
}

Side Spectrum::side(int group) {
    return {.element = planes_.data(), .start_doubles = group * group_doubles()};
}

int Spectrum::blocks_of(int group) const {
    return std::min(group_blocks_, decomposition_.blocks().count - first_block(group));
}

Bundle Spectrum::work_on(int thread, int group) {
    const std::ptrdiff_t bundle = decomposition_.bundles().first + bundle_of(group);
    return {.line = &plan_->line(),
            .row_twiddle = row_twiddle_.data() + bundle * 2 * bundle_rows,
            .blocks = blocks_of(group),
            .is_streamed = is_streamed_,
            .work = work_[static_cast<std::size_t>(thread)].data()};
}

Ahead Spectrum::ahead_of(const Bundle& bundle, int next, std::ptrdiff_t follower_doubles) const {
    if (next >= groups()) {
        return {};
    }
    return {.element = bundle.from.element,
            .elements = decomposition_.edges.z,
            .start_doubles = bundle.from.start_doubles + follower_doubles,
            .piece_doubles = blocks_of(next) * block_doubles,
            .next_piece_doubles = bundle.from_row_doubles,
            .pieces = bundle_rows,
            .pace = 2};
}

void Spectrum::transform_forward(int thread, int group, double* const* from,
                                 std::ptrdiff_t row_doubles_of_source) {
    const auto start_doubles = [&](int number) {
        return bundle_of(number) * bundle_rows * row_doubles_of_source + first_block(number) * block_doubles;
    };
    const int next = group + threads();
    Bundle one = work_on(thread, group);
    one.from = {.element = from, .start_doubles = start_doubles(group)};
    one.from_row_doubles = row_doubles_of_source;
    one.to = side(group);
    one.to_row_doubles = row_doubles();
    one.ahead = ahead_of(one, next, start_doubles(next) - start_doubles(group));
    functions_.transform_bundle(one);
}

void Spectrum::transform_inverse(int thread, int group, const Evolution& evolution, double* const* to,
                                 std::ptrdiff_t row_doubles_of_target) {
    Bundle one = work_on(thread, group);
    one.from = side(group);
    one.from_row_doubles = row_doubles();
    one.to = {.element = to, .start_doubles = first_block(group) * block_doubles};
    one.to_row_doubles = row_doubles_of_target;
    one.ahead = ahead_of(one, group + threads(), threads() * group_doubles());
    std::array<double, bundle_rows> factor{};
    int number = decomposition_.bundles().first + bundle_of(group);
    for (double& row : factor) {
        row = evolution.y(number);
        number += decomposition_.all_bundles();
    }
    const std::ptrdiff_t block = decomposition_.blocks().first + first_block(group);
    functions_.transform_bundle_inverse(one, {.row = factor.data(),
                                              .along = evolution.z().data(),
                                              .across = evolution.x().data() + block * block_points});
}

bool Spectrum::has(int x, int y) const {
    return decomposition_.blocks().has(x / int{block_points}) &&
           decomposition_.bundles().has(y % decomposition_.all_bundles());
}

std::complex<double> Spectrum::at(int x, int y, int z) const {
    const std::ptrdiff_t block = x / block_points - decomposition_.blocks().first;
    const std::ptrdiff_t bundle = y % decomposition_.all_bundles() - decomposition_.bundles().first;
    const std::ptrdiff_t row = y / decomposition_.all_bundles();
    const double* const place =
        memory_.data() + (bundle * groups_of_bundle_ + block / group_blocks_) * group_doubles() +
        row * row_doubles() + z * plane_doubles() + block % group_blocks_ * block_doubles + x % block_points;
    return {place[0], place[block_points]};
}

}  // namespace tare::npb::ft
