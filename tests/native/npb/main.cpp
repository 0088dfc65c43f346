// SPDX-License-Identifier: Apache-2.0
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <mpi.h>

/// The kernels' functions may talk to other ranks, of which there are none here.
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int code = doctest::Context(argc, argv).run();
    MPI_Finalize();
    return code;
}
