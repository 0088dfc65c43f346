// SPDX-License-Identifier: Apache-2.0
#include "npb/cg/matrix.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "npb/common/random.hpp"

namespace tare::npb::cg {

namespace {

constexpr std::uint64_t seed = 314159265;
constexpr double own_value = 0.5;

/// Draws places below the next power of two, and again those beyond the order.
class Drawing {
  public:
    explicit Drawing(std::uint32_t order) : order_{order} {
        static_cast<void>(random_.next());  // the specification throws the first number away
    }

    [[nodiscard]] Entry next() {
        for (;;) {
            const double value = random_.next();
            const auto place = static_cast<std::uint32_t>(random_.next() * std::bit_ceil(order_));
            if (place < order_) {
                return {.place = place, .value = value};
            }
        }
    }

  private:
    Random random_{seed};
    std::uint32_t order_;
};

std::vector<Entry>::iterator find_place(std::vector<Entry>& vector, std::uint32_t place) {
    return std::find_if(vector.begin(), vector.end(), [=](const Entry& one) { return one.place == place; });
}

void draw_vector(Drawing& drawing, std::uint32_t own_place, std::size_t drawn, std::vector<Entry>& vector) {
    vector.clear();
    while (vector.size() < drawn) {
        const Entry candidate = drawing.next();
        if (find_place(vector, candidate.place) == vector.end()) {
            vector.push_back(candidate);
        }
    }
    const auto own = find_place(vector, own_place);
    if (own != vector.end()) {
        own->value = own_value;
    } else {
        vector.push_back({.place = own_place, .value = own_value});
    }
}

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

void SparseVectors::reserve(std::size_t vectors, std::size_t entries) {
    ends_.reserve(vectors + 1);
    entries_.reserve(entries);
}

void SparseVectors::append(std::span<const Entry> vector) {
    entries_.insert(entries_.end(), vector.begin(), vector.end());
    ends_.push_back(entries_.size());
}

SparseVectors SparseVectors::transposed(std::size_t count) const {
    SparseVectors result;
    result.entries_.resize(entries_.size());
    result.ends_.assign(count + 1, 0);
    for (const Entry& one : entries_) {
        ++result.ends_[one.place + 1];
    }
    for (std::size_t index = 0; index < count; ++index) {
        result.ends_[index + 1] += result.ends_[index];
    }
    auto next = result.ends_;
    for (std::uint32_t index = 0; index < this->count(); ++index) {
        for (const Entry& one : (*this)[index]) {
            result.entries_[next[one.place]++] = {.place = index, .value = one.value};
        }
    }
    return result;
}

SparseVectors random_vectors(int order, int drawn) {
    const auto count = static_cast<std::uint32_t>(order);
    const auto drawn_count = static_cast<std::size_t>(drawn);
    Drawing drawing{count};
    SparseVectors vectors;
    vectors.reserve(count, count * (drawn_count + 1));
    std::vector<Entry> vector;
    for (std::uint32_t index = 0; index < count; ++index) {
        draw_vector(drawing, index, drawn_count, vector);
        vectors.append(vector);
    }
    return vectors;
}

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
