// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "profile/clock_lines.hpp"
#include "profile/library/clock.hpp"
#include "profile/library/mpi.hpp"

namespace tare::profile {

/// Compares the ranks' clocks at both ends of a run, where they may be several: one rank of each clock asks
/// rank 0 for the time, in a communicator of their own. All ranks make it and conclude it together.
class ClockComparison {
  public:
    /// When MPI_Init has returned: no rank goes on before all have asked.
    ClockComparison(const Mpi& mpi, const Clock& clock);

    /// In MPI_Finalize: the clock of each rank.
    [[nodiscard]] std::vector<RankClock> conclude(const Clock& clock, double ns_per_tick);

  private:
    [[nodiscard]] ClockReading compare(const Clock& clock) const;
    [[nodiscard]] ClockReading ask(const Clock& clock) const;
    void answer(const Clock& clock, int asker) const;

    const Mpi* mpi_;
    int rank_;
    std::uint64_t clock_;
    /// One of each clock but rank 0's; nobody where all read one.
    std::vector<int> askers_;
    MPI_Comm communicator_{};
    ClockReading first_{};
};

}  // namespace tare::profile
