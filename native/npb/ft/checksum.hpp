// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <vector>

#include "npb/ft/box.hpp"

namespace tare::npb::ft {

/// The sum of 1024 points of the field, spread over the box (NAS-95-020, section 2.2.6): point j, of 1 to
/// 1024, is (j mod nx, 3j mod ny, 5j mod nz).
class Checksum {
  public:
    Checksum(const Fft3d& fft, const Edges& edges);

    /// This rank's part, divided by the number of points of the box, as a backward transform must be. Threads
    /// fetch the points; they are added in their order.
    [[nodiscard]] std::complex<double> here(Team& team);

  private:
    std::vector<const double*> points_;
    std::vector<std::complex<double>> values_;
    double scale_;
};

}  // namespace tare::npb::ft
