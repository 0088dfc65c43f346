// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace tare::collective {

/// Which ranks are partners. `near`: neighbours by number, as mpirun fills node after node. `far`: those
/// whose numbers lie as far apart as there are groups.
enum class Mapping { near, far };

/// The ranks of a run in groups of equal size; those that are left over take no part.
class Groups {
  public:
    /// `group_ranks` 0: one group of all. Throws `std::invalid_argument` if not even one group can be made.
    Groups(int ranks, int group_ranks, Mapping mapping);

    /// Number of groups.
    [[nodiscard]] int count() const { return count_; }
    [[nodiscard]] int group_ranks() const { return group_ranks_; }
    /// Ranks that take part; they are the first ones.
    [[nodiscard]] int active() const { return count_ * group_ranks_; }
    /// The group of a rank; nothing if it takes no part.
    [[nodiscard]] std::optional<int> of(int rank) const;

  private:
    int group_ranks_;
    int count_;
    Mapping mapping_;
};

}  // namespace tare::collective
