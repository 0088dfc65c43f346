# SPDX-License-Identifier: Apache-2.0
"""messages.c's loop of MPI_Allreduce in mpi4py: mpirun -np N python3 allreduce.py allreduce SIZE:COUNT ..."""

import sys

from mpi4py import MPI

world = MPI.COMM_WORLD


def mean_s(size_byte: int, count: int) -> float:
    """Of one call, over all ranks."""
    out, received = bytearray(b"\1" * size_byte), bytearray(size_byte)
    sent, summed = [out, MPI.FLOAT], [received, MPI.FLOAT]
    for _ in range(count // 10 + 4):
        world.Allreduce(sent, summed)
    world.Barrier()
    begun_s = MPI.Wtime()
    for _ in range(count):
        world.Allreduce(sent, summed)
    own_s = (MPI.Wtime() - begun_s) / count
    return float(world.allreduce(own_s)) / world.size


for size, count in (map(int, word.split(":")) for word in sys.argv[2:]):
    taken_s = mean_s(size, count)
    if world.rank == 0:
        print(size, f"{taken_s:.12f}")
