# SPDX-License-Identifier: Apache-2.0
"""``collective`` of two ranks beside a loop written by hand (messages.c), and where mpi4py is installed, beside its."""

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench.beside.pairs import PROGRAMS, SOURCES, Figures, Pair, Side, output
from tare.workloads.collective.result import parse_result

WITHIN = 0.10
"""Ranks that wait for each other are moved apart by whatever runs beside them, by more at some sizes than at others."""
COUNTS = {8: 20_000, 1024: 20_000, 65_536: 2000, 1_048_576: 200}
"""Bytes → calls."""
EMPTY = {0: 20_000}
CALLS = {"exchange": EMPTY | COUNTS, "bcast": COUNTS, "allreduce": COUNTS}
"""Without a byte there is nothing to broadcast or to sum."""
LARGE = dict(list(COUNTS.items())[-2:])
"""What Python's own time for a call, some tenths of a microsecond, is small beside."""
_MPIRUN = ("mpirun", "--allow-run-as-root", "--bind-to", "core", "--mca", "pml", "ob1", "-np", "2")
_PYTHON = "/usr/bin/python3"


def pairs(folder: Path) -> Iterator[Pair]:
    if not shutil.which("mpicc"):
        print("left out: collective; mpicc is not installed")
        return
    program = folder / "messages"
    output(["mpicc", "-O2", "-o", program, SOURCES / "messages.c"], folder)
    for call, counts in CALLS.items():
        yield _pair(folder, call, counts, "loop in C", [program])
    if not Path("/usr/lib/python3/dist-packages/mpi4py").exists():
        print("left out: mpi4py; it is not installed")
        return
    yield _pair(folder, "allreduce", LARGE, "loop in mpi4py", [_PYTHON, SOURCES / "allreduce.py"])


def _pair(folder: Path, call: str, counts: dict[int, int], name: str, argv: list[str | Path]) -> Pair:
    return Pair(
        Side("collective", "mean of all calls", partial(ours, folder, call, counts)),
        Side(name, "mean of all calls", partial(theirs, folder, call, counts, argv)),
        WITHIN,
    )


def _asked(counts: dict[int, int]) -> list[str]:
    return [f"{size}:{count}" for size, count in counts.items()]


def _name(call: str, size_byte: int) -> str:
    return f"{call} of {size_byte} B"


def ours(folder: Path, call: str, counts: dict[int, int]) -> Figures:
    said = output([*_MPIRUN, PROGRAMS / "collective", call, *_asked(counts)], folder)
    result = parse_result(said, call, tuple(counts.items()))
    return {_name(call, point.size_byte): point.mean_s for point in result.points}


def theirs(folder: Path, call: str, counts: dict[int, int], argv: list[str | Path]) -> Figures:
    said = output([*_MPIRUN, *argv, call, *_asked(counts)], folder)
    lines = [line.split() for line in said.splitlines()]
    assert [int(size) for size, _ in lines] == list(counts), said
    return {_name(call, int(size)): float(time_s) for size, time_s in lines}
