# SPDX-License-Identifier: Apache-2.0
"""Do slices take as long beside five programs that wait for their turn as alone?

    python -m bench.waiting [--pairs 150]                       (after `make setup`, on a quiet machine)

A resident program does slices of compute and of memory bandwidth, alone and beside five more that have done a slice and
wait. Its process stays the same throughout, so that its luck is in both; which comes first is drawn anew for each pair.
"""

import argparse
import math
import os
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tare.measure.stopwatch import Command, Stopwatch
from tare.workloads.slices import parse_slice

PROGRAMS = Path(__file__).resolve().parent.parent / "build" / "native" / "bin"
TURNS = {"compute": 400, "bandwidth": 40}
"""Piece → units: about 6 ms each."""
OTHERS = 5
_WARM_UP, _SLICES = 10, 100
_LIMIT_S = 3600.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=150)
    pairs = parser.parse_args().pairs
    draw = random.Random(1)  # noqa: S311 - an order, no secret
    ratios: dict[str, list[float]] = {piece: [] for piece in TURNS}
    with tempfile.TemporaryDirectory() as folder, resident(Path(folder)) as own:
        for _ in range(pairs):
            logs = {
                beside: _log_times(own, Path(folder), beside=beside)
                for beside in draw.sample([True, False], 2)
            }
            for piece in TURNS:
                ratios[piece].append(logs[True][piece] - logs[False][piece])
    for piece, values in ratios.items():
        print(f"{piece}: beside {OTHERS} waiting programs against alone {_said(values)}")
    return 0


def _said(log_ratios: Sequence[float]) -> str:
    middle = statistics.median(log_ratios)
    error = 1.25 * statistics.stdev(log_ratios) / math.sqrt(len(log_ratios))
    return f"{math.expm1(middle):+.2%} ± {1.96 * error:.2%} (median, 95 %, n = {len(log_ratios)})"


@contextmanager
def resident(folder: Path) -> Iterator[Stopwatch]:
    """A program of slices that has done one of each piece and waits."""
    with tempfile.TemporaryDirectory(dir=folder) as directory:
        variables = {"PATH": os.environ["PATH"]}
        argv = (str(PROGRAMS / "slices"),)
        command = Command(argv=argv, directory=directory, variables=variables, limit_s=_LIMIT_S, turns=True)
        with Stopwatch([str(PROGRAMS / "stopwatch"), *command.options(directory)]) as stopwatch:
            stopwatch.wait_ready(10.0)
            stopwatch.go()
            for piece in TURNS:
                _slice_s(stopwatch, piece)
            yield stopwatch


def _log_times(own: Stopwatch, folder: Path, *, beside: bool) -> dict[str, float]:
    """Piece → logarithm of the median slice."""
    with ExitStack() as stack:
        for _ in range(OTHERS if beside else 0):
            stack.enter_context(resident(folder))
        return {piece: _log_time(own, piece) for piece in TURNS}


def _log_time(own: Stopwatch, piece: str) -> float:
    walls_s = [_slice_s(own, piece) for _ in range(_WARM_UP + _SLICES)]
    return math.log(statistics.median(walls_s[_WARM_UP:]))


def _slice_s(stopwatch: Stopwatch, piece: str) -> float:
    stopwatch.turn(f"{piece} {TURNS[piece]}")
    return parse_slice(str(stopwatch.await_took(10.0)["line"])).wall_ns * 1e-9


if __name__ == "__main__":
    sys.exit(main())
