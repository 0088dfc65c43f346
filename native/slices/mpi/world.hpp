// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include "slices/meters.hpp"

namespace tare::slices {

/// MPI for as long as it lives.
class Mpi {
  public:
    Mpi(int* argc, char*** argv) { MPI_Init(argc, argv); }
    Mpi(const Mpi&) = delete;
    Mpi& operator=(const Mpi&) = delete;
    Mpi(Mpi&&) = delete;
    Mpi& operator=(Mpi&&) = delete;
    ~Mpi() { MPI_Finalize(); }
};

[[nodiscard]] int rank_in(MPI_Comm group);
[[nodiscard]] int size_of(MPI_Comm group);

/// On rank 0: its wall time, the CPU and waiting time of all ranks together (no waiting time where any rank
/// has none), and the sum of the checksums. Elsewhere its own.
[[nodiscard]] Taken together(const Taken& own);

}  // namespace tare::slices
