// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tare::npb::cg {

/// A place of a vector and its value; places without an entry hold zero.
struct Entry {
    std::uint32_t place;
    double value;
};

/// Sparse vectors, one behind the other.
class SparseVectors {
  public:
    [[nodiscard]] std::size_t count() const { return ends_.size() - 1; }
    [[nodiscard]] std::span<const Entry> operator[](std::size_t index) const {
        return std::span{entries_}.subspan(ends_[index], ends_[index + 1] - ends_[index]);
    }

    void reserve(std::size_t vectors, std::size_t entries);
    void append(std::span<const Entry> vector);

    /// Entry (place, value) of vector i becomes entry (i, value) of vector `place`, of `count` vectors.
    [[nodiscard]] SparseVectors transposed(std::size_t count) const;

  private:
    std::vector<Entry> entries_;
    /// Where each vector ends; the first number is the start of all.
    std::vector<std::size_t> ends_{0};
};

/// As many random vectors as they are long: `drawn` distinct random places with random values each, but 0.5
/// at vector i's own place i. One rank's random sequence (NAS-95-020, section 2.5), so that all ranks draw
/// all.
[[nodiscard]] SparseVectors random_vectors(int order, int drawn);

}  // namespace tare::npb::cg
