/* SPDX-License-Identifier: Apache-2.0 */
/* Two ranks solve twice, with an exchange inside, and write once: three regions with names, and calls in none. */
#include "tare_region.h"

int main(int argc, char** argv) {
    int rank = 0;
    char data[8] = {0};
    char all[8];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Bcast(data, 8, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int passage = 0; passage < 2; ++passage) {
        TARE_REGION_BEGIN("solve");
        MPI_Barrier(MPI_COMM_WORLD);
        TARE_REGION_BEGIN("exchange");
        MPI_Sendrecv_replace(data, 8, MPI_CHAR, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        TARE_REGION_END("exchange");
        MPI_Barrier(MPI_COMM_WORLD);
        TARE_REGION_END("solve");
    }
    TARE_REGION_END("solve");
    TARE_REGION_BEGIN("write");
    MPI_Reduce(data, all, 8, MPI_CHAR, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
