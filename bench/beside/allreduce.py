# SPDX-License-Identifier: Apache-2.0
"""messages.c's loop of MPI_Allreduce in mpi4py: mpirun -np N python3 allreduce.py allreduce SIZE:COUNT ..."""

import sys

from mpi4py import MPI  # type: ignore[import-not-found]  # of the system's Python, which runs this

PAGE_BYTE = 4096
world = MPI.COMM_WORLD


def placed(size_byte: int) -> memoryview:
    """A buffer of ones from the beginning of a page on."""
    room = bytearray(b"\1" * (size_byte + PAGE_BYTE))
    begin = -MPI.Get_address(room) % PAGE_BYTE
    return memoryview(room)[begin : begin + size_byte]


def mean_s(size_byte: int, count: int) -> float:
    """Of one call, over all ranks."""
    sent, summed = [placed(size_byte), MPI.FLOAT], [placed(size_byte), MPI.FLOAT]
    for _ in range(count // 10 + 4):
        world.Allreduce(sent, summed)
    world.Barrier()
    begun_s = MPI.Wtime()
    for _ in range(count):
        world.Allreduce(sent, summed)
    own_s = (MPI.Wtime() - begun_s) / count
    return float(world.allreduce(own_s) / world.size)


for size, count in (map(int, word.split(":")) for word in sys.argv[2:]):
    taken_s = mean_s(size, count)
    if world.rank == 0:
        print(size, f"{taken_s:.12f}")
