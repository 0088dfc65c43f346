# SPDX-License-Identifier: Apache-2.0
"""A program in Python for ``bench.profiler_foreign``: ranks in a ring exchange halos, compute a little and add up.

mpirun -np 2 python3 bench/halo_mpi4py.py STEPS
"""

import sys
from array import array

from mpi4py import MPI  # type: ignore[import-not-found]  # Debian's, of another Python

WIDTH = 1024
"""Numbers of a halo."""
EVERY = 10
"""Steps from one sum to the next."""

world = MPI.COMM_WORLD
left, right = (world.rank - 1) % world.size, (world.rank + 1) % world.size
halo, received = array("d", range(WIDTH)), array("d", bytes(8 * WIDTH))
part, total = array("d", [0.0]), array("d", [0.0])
for step in range(int(sys.argv[1])):
    requests = [world.Irecv(received, left), world.Isend(halo, right)]
    part[0] += sum(halo[::8])
    MPI.Request.Waitall(requests)
    halo[step % WIDTH] = received[step % WIDTH] / 2 + 1.0
    if step % EVERY == 0:
        world.Allreduce(part, total)
if world.rank == 0:
    print(f"{world.size} ranks, {total[0]:.6g}")
