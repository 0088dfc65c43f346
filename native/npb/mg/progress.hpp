// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "npb/common/progress.hpp"

namespace tare::npb::mg {

/// How far the tiles of a sweep have come, so that each can follow the one before it in another thread.
class TileProgress {
  public:
    explicit TileProgress(int tiles);

    /// No tile has begun. Not while threads work.
    void begin();
    /// The tile has done all that it does when its first stage is at `plane`.
    void report(int tile, int plane);
    /// Returns when it has.
    void wait_for(int tile, int plane) const;

  private:
    std::vector<Progress> last_planes_;
};

}  // namespace tare::npb::mg
