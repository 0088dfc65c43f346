// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/program.hpp"

namespace tare::npb::ft {

/// FT: diffusion in a periodic box, solved by fast Fourier transforms of three dimensions; all ranks exchange
/// data with all others.
extern const Kernel kernel;

}  // namespace tare::npb::ft
