! SPDX-License-Identifier: Apache-2.0
! The same messages by each of Fortran's three interfaces: compiled with -DINTERFACE=1 (mpif.h), 2 (mpi) or 3 (mpi_f08).
program ring
#if INTERFACE == 2
  use mpi
#elif INTERFACE == 3
  use mpi_f08
#endif
  implicit none
#if INTERFACE == 1
  include 'mpif.h'
#endif
  integer :: error, rank, ranks, message
  double precision :: sent(1000), received(1000)
#if INTERFACE == 3
  type(MPI_Request) :: requests(2)
  type(MPI_Comm) :: twin
#else
  integer :: requests(2), twin
#endif
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_Comm_dup(MPI_COMM_WORLD, twin, error)
  sent = rank
  do message = 1, 5
    if (rank == 0) call MPI_Send(sent, 100, MPI_DOUBLE_PRECISION, 1, 5, twin, error)
    if (rank == 1) call MPI_Recv(received, 1000, MPI_DOUBLE_PRECISION, 0, 5, twin, MPI_STATUS_IGNORE, error)
  end do
  call MPI_Irecv(received, 1000, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 6, MPI_COMM_WORLD, requests(1), error)
  call MPI_Isend(sent, 10, MPI_DOUBLE_PRECISION, mod(rank + ranks - 1, ranks), 6, MPI_COMM_WORLD, requests(2), error)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  call MPI_Allreduce(MPI_IN_PLACE, sent, 7, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Comm_free(twin, error)
  call MPI_Finalize(error)
end program ring
