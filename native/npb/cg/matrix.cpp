// SPDX-License-Identifier: Apache-2.0
#include "npb/cg/matrix.hpp"

#include <cmath>

namespace tare::npb::cg {

namespace {

/// The smallest weight, and what is added to the diagonal before the shift (NPB's "rcond").
constexpr double condition = 0.1;

std::vector<double> falling_weights(std::size_t count) {
    const double ratio = std::pow(condition, 1.0 / static_cast<double>(count));
    std::vector<double> weights(count);
    double weight = 1;
    for (double& one : weights) {
        one = weight;
        weight *= ratio;
    }
    return weights;
}

}  // namespace

Matrix::Matrix(const Recipe& recipe)
    : recipe_{recipe},
      vectors_{random_vectors(recipe.order, recipe.drawn)},
      holders_{vectors_.transposed(vectors_.count())},
      weights_{falling_weights(vectors_.count())},
      sums_(vectors_.count()) {}

/// A sum is zero before its first term alone: all terms are above zero, but for that of the diagonal, which
/// comes last.
void Matrix::add(std::uint32_t column, double value) {
    if (sums_[column] == 0) {
        columns_.push_back(column);
    }
    sums_[column] += value;
}

std::span<const Entry> Matrix::row(int index) {
    const auto place = static_cast<std::uint32_t>(index);
    columns_.clear();
    for (const Entry& holder : holders_[place]) {
        for (const Entry& other : vectors_[holder.place]) {
            add(other.place, weights_[holder.place] * (holder.value * other.value));
        }
    }
    add(place, condition - recipe_.shift);
    row_.clear();
    for (const auto column : columns_) {
        if (sums_[column] != 0) {
            row_.push_back({.place = column, .value = sums_[column]});
        }
        sums_[column] = 0;
    }
    return row_;
}

}  // namespace tare::npb::cg
