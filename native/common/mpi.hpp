// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

namespace tare {

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

[[nodiscard]] inline int rank_in(MPI_Comm group) {
    int rank = 0;
    MPI_Comm_rank(group, &rank);
    return rank;
}

[[nodiscard]] inline int size_of(MPI_Comm group) {
    int size = 0;
    MPI_Comm_size(group, &size);
    return size;
}

}  // namespace tare
