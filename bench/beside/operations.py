# SPDX-License-Identifier: Apache-2.0
"""``os`` beside the loops that lmbench's paper describes (operations.c), and beside ``perf bench``.

Both sides are compiled alike, on one processor, and execute the same small program.
"""

import re
import shutil
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.beside.pairs import PROGRAMS, SOURCES, Figures, Pair, Side, on_processor, output
from bench.beside.slices import slices_s

WITHIN = 0.10
"""lmbench's authors give differences below a tenth no meaning; two compilations of one loop differ by some per cent."""
LOOPS = 9
_CHILD = str(PROGRAMS / "slices")
_PERF = re.compile(r"([0-9.]+) usecs/op")


@dataclass(frozen=True, slots=True)
class Operation:
    """A piece of ours, and the same in operations.c."""

    piece: str
    count: int
    """Units of a slice and of a loop."""
    arguments: tuple[str, ...] = ()
    """Of operations.c."""


OPERATIONS = (
    Operation("fork-exit", 150),
    Operation("fork-exec", 80, (_CHILD,)),
    Operation("fork-shell", 30, (_CHILD,)),
    Operation("signal-install", 100_000),
    Operation("signal-deliver", 20_000),
    Operation("context-switch:2:0", 10_000, ("2", "0")),
    Operation("context-switch:8:65536", 4000, ("8", "65536")),
    Operation("pipe", 5000),
    Operation("tcp", 2000),
    Operation("file-create:0", 1000, ("0",)),
    Operation("file-create:10240", 1000, ("10240",)),
    Operation("file-delete:10240", 1000, ("10240",)),
)
PERF = {"system-calls": ("syscall basic --loop", 2_000_000), "pipe": ("sched pipe --loop", 50_000)}
"""Piece → words of perf bench, and how often."""


def pairs(folder: Path) -> Iterator[Pair]:
    program = folder / "operations"
    output(["cc", "-O3", "-static", "-o", program, SOURCES / "operations.c"], folder)
    for operation in OPERATIONS:
        yield Pair(
            Side("os", f"median of {LOOPS} slices", partial(ours, folder, operation.piece, operation.count)),
            Side("loop", f"median of {LOOPS} loops", partial(theirs, folder, program, operation)),
            WITHIN,
        )
    if not shutil.which("perf"):
        print("left out: perf bench; perf is not installed")
        return
    for piece, (words, count) in PERF.items():
        yield Pair(
            Side("os", "one slice", partial(ours, folder, piece, count, loops=1)),
            Side("perf bench", "one run", partial(by_perf, folder, piece, words, count)),
            WITHIN,
        )


def ours(folder: Path, piece: str, count: int, loops: int = LOOPS) -> Figures:
    return {piece: statistics.median(slices_s(folder, {piece: count}, loops)[piece])}


def theirs(folder: Path, program: Path, operation: Operation) -> Figures:
    words = [operation.piece.partition(":")[0], str(operation.count), str(LOOPS + 1), *operation.arguments]
    said = output(on_processor(program, *words), folder)
    times_ns = [int(line) for line in said.splitlines()][1:]
    assert len(times_ns) == LOOPS, said
    return {operation.piece: statistics.median(times_ns) * 1e-9 / operation.count}


def by_perf(folder: Path, piece: str, words: str, count: int) -> Figures:
    said = output(on_processor("perf", "bench", *words.split(), str(count)), folder)
    match = _PERF.search(said)
    assert match, said
    return {piece: float(match[1]) * 1e-6}
