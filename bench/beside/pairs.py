# SPDX-License-Identifier: Apache-2.0
"""Two programs that do the same work, one beside the other: rounds of both in random order, and a row for each figure.

A round is a block: its two runs follow each other at once. What is estimated is the centre of the rounds' log-ratios,
after Hodges and Lehmann, with the exact interval of signed ranks, wider where rounds depend on each other.
"""

import math
import os
import random
import statistics
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tare.statistics.contrasts import Differences, estimate, widened
from tare.statistics.estimate import Estimate, as_fraction

PROGRAMS = Path(__file__).resolve().parents[2] / "build" / "native" / "bin"
SOURCES = Path(__file__).parent
LIMIT_S = 300
PROCESSOR = max(os.sched_getaffinity(0))
"""On which all runs of one processor are: the last, as Tare's programs keep their partners there."""

Figures = Mapping[str, float]
"""What was done → its time in seconds."""


@dataclass(frozen=True, slots=True)
class Side:
    """A program, what its figures are, and a run of it."""

    program: str
    statistic: str
    run: Callable[[], Figures]


@dataclass(frozen=True, slots=True)
class Pair:
    """Both sides give figures of the same names, which are claimed to agree ``within`` a fraction."""

    ours: Side
    theirs: Side
    within: float


@dataclass(frozen=True, slots=True)
class Row:
    """One figure of a pair over all rounds."""

    pair: Pair
    name: str
    ours_s: Sequence[float]
    theirs_s: Sequence[float]

    @property
    def difference(self) -> Estimate:
        """Of ours from theirs, as a fraction of theirs."""
        logs = [math.log(own / other) for own, other in zip(self.ours_s, self.theirs_s, strict=True)]
        return as_fraction(estimate(widened(Differences(tuple(logs)))))

    @property
    def word(self) -> str:
        difference, most = self.difference, self.pair.within
        if difference.low is None or difference.high is None:
            return "not shown: too few rounds"
        if -most < difference.low and difference.high < most:
            return "shown"
        differs = difference.low > most or difference.high < -most
        return "NOT SO: it differs by more" if differs else "not shown"


def rows(pair: Pair, rounds: int, source: random.Random) -> Iterator[Row]:
    """Measure; the first round warms up and is not kept."""
    ours: list[Figures] = []
    theirs: list[Figures] = []
    sides = [(pair.ours, ours), (pair.theirs, theirs)]
    for _ in range(rounds + 1):
        for side, kept in source.sample(sides, 2):
            kept.append(side.run())
    for name in ours[0]:
        yield Row(pair, name, *([each[name] for each in kept[1:]] for kept in (ours, theirs)))


HEADING = "| what | ours: program, statistic, median | theirs | ours - theirs | n | within |\n|---|---|---|---|---|---|"


def line(row: Row) -> str:
    difference = row.difference
    bounds = (
        ""
        if difference.low is None or difference.high is None
        else f" [{difference.low:+.1%} to {difference.high:+.1%}]"
    )
    cells = [
        row.name,
        _side(row.pair.ours, row.ours_s),
        _side(row.pair.theirs, row.theirs_s),
        f"{difference.point:+.1%}{bounds}",
        str(difference.n),
        f"±{row.pair.within:.0%}: {row.word}",
    ]
    return f"| {' | '.join(cells)} |"


def _side(side: Side, times_s: Sequence[float]) -> str:
    return f"`{side.program}`, {side.statistic}: {seconds(statistics.median(times_s))}"


def seconds(value: float) -> str:
    """With four digits, in the unit that fits."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if value * factor >= 1:
            return f"{value * factor:.4g} {unit}"
    return f"{value * 1e9:.4g} ns"


def output(argv: Sequence[str | Path], folder: Path) -> str:
    """Raises ``SystemExit`` with the program's last words when it fails."""
    ran = subprocess.run(
        [str(word) for word in argv], cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    if ran.returncode:
        raise SystemExit(f"{argv}: exit code {ran.returncode}\n{(ran.stderr or ran.stdout)[-2000:]}")
    return ran.stdout


def on_processor(*argv: str | Path) -> list[str | Path]:
    return ["taskset", "-c", str(PROCESSOR), *argv]
