// SPDX-License-Identifier: Apache-2.0
#include "npb/ft/spectrum.hpp"

#include <algorithm>
#include <array>

namespace tare::npb::ft {

namespace {

/// As many blocks as leave half of a second cache of 1 MiB free, where the next group's data come in.
std::ptrdiff_t blocks_of_group(const Edges& edges) {
    constexpr std::ptrdiff_t work_doubles = std::ptrdiff_t{1} << 15U;
    return std::clamp(work_doubles / (bundle_rows * edges.z * block_doubles), std::ptrdiff_t{1},
                      group_blocks);
}

}  // namespace

Spectrum::Spectrum(const Decomposition& decomposition, Simd simd, bool is_streamed)
    : decomposition_{decomposition},
      functions_{functions(simd)},
      is_streamed_{is_streamed},
      group_blocks_{blocks_of_group(decomposition.edges)},
      groups_{(decomposition.blocks().count + group_blocks_ - 1) / group_blocks_},
      memory_{static_cast<std::size_t>(decomposition.bundles().count * groups_ * group_doubles())},
      work_{static_cast<std::size_t>(group_doubles())} {
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

Side Spectrum::side(int bundle) {
    return {.element = planes_.data(),
            .start_doubles = bundle * groups_ * group_doubles(),
            .next_doubles = group_doubles()};
}

Bundle Spectrum::bundle_of(int bundle) {
    const std::ptrdiff_t number = decomposition_.bundles().first + bundle;
    return {.line = &plan_->line(),
            .row_twiddle = row_twiddle_.data() + number * 2 * bundle_rows,
            .blocks = decomposition_.blocks().count,
            .group_blocks = group_blocks_,
            .is_streamed = is_streamed_,
            .work = work_.data()};
}

void Spectrum::transform_forward(int bundle, double* const* from, std::ptrdiff_t row_doubles_of_source) {
    Bundle one = bundle_of(bundle);
    one.from = {.element = from, .next_doubles = plane_doubles()};
    one.from_row_doubles = row_doubles_of_source;
    one.to = side(bundle);
    one.to_row_doubles = row_doubles();
    functions_.transform_bundle(one);
}

void Spectrum::transform_inverse(int bundle, const Evolution& evolution, double* const* to,
                                 std::ptrdiff_t row_doubles_of_target) {
    Bundle one = bundle_of(bundle);
    one.from = side(bundle);
    one.from_row_doubles = row_doubles();
    one.to = {.element = to, .next_doubles = plane_doubles()};
    one.to_row_doubles = row_doubles_of_target;
    one.is_followed = bundle + 1 < decomposition_.bundles().count;
    std::array<double, bundle_rows> factor{};
    int number = decomposition_.bundles().first + bundle;
    for (double& row : factor) {
        row = evolution.y(number);
        number += decomposition_.all_bundles();
    }
    functions_.transform_bundle_inverse(
        one, {.row = factor.data(),
              .along = evolution.z().data(),
              .across = evolution.x().data() + decomposition_.blocks().first * block_points});
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
        memory_.data() + (bundle * groups_ + block / group_blocks_) * group_doubles() + row * row_doubles() +
        z * plane_doubles() + block % group_blocks_ * block_doubles + x % block_points;
    return {place[0], place[block_points]};
}

}  // namespace tare::npb::ft
