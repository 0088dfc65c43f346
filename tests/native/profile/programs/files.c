// SPDX-License-Identifier: Apache-2.0
// files FILE: MPI-IO in each way, 100 bytes and more; two ranks.
#include <mpi.h>

static char data[100000];

int main(int argc, char** argv) {
    int rank = 0;
    MPI_File file;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const MPI_Offset own = 10000 * rank;
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, own, data, 100, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_write_at_all(file, own + 100, data, 50, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_seek(file, own + 300, MPI_SEEK_SET);
    MPI_File_write(file, data, 300, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_iwrite_at(file, own + 600, data, 400, MPI_CHAR, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_write_at_all_begin(file, own + 1000, data, 500, MPI_CHAR);
    MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE);
    MPI_Request several[2];
    MPI_File_iwrite_at(file, own + 600, data, 400, MPI_CHAR, &several[0]);
    MPI_Ibarrier(MPI_COMM_WORLD, &several[1]);
    MPI_Waitall(2, several, MPI_STATUSES_IGNORE);  // not for a file alone
    MPI_File_iwrite_at(file, own + 600, data, 400, MPI_CHAR, &several[0]);
    int done = 0;
    MPI_Waitany(2, several, &done, MPI_STATUS_IGNORE);  // for a file and nothing
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    // The file is 11500 bytes long: rank 1 comes to its end.
    MPI_File_read_at(file, own, data, 2000, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, own, data, 700, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_iread_at(file, own, data, 800, MPI_CHAR, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_read_at_all_begin(file, own, data, 900, MPI_CHAR);
    MPI_File_read_at_all_end(file, data, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
