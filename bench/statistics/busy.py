# SPDX-License-Identifier: Apache-2.0
"""A load that others put on the machine: words said falsely, with a condition, withheld; before and now.

Before, busy blocks counted in a verdict where they were at most a quarter of all, and withheld it where they were more.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bench.simulation.scenarios import RUN, Floats
from bench.statistics.markdown import percent, table
from tare.analyze import in_families, overhead, verdict, without_busy_claims
from tare.records import BlockValue, Cell, Direction, HostLoad, Summary, Verdict, Withheld, Word
from tare.treat.pairing import with_blocks

MARGIN = 0.01
PROCESSORS = 2
QUIET, BURST, MOST_BUSY_BEFORE = 0.03, 1.0, 0.25
VARIES = 0.15
DIFFERENCE = frozenset({Word.SLOWER, Word.FASTER})
ARMS = {"the environment": (2,), "both natives": (0, 1), "all alike": (0, 1, 2), "nobody": ()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """One row: processors' worth taken in a ``part`` of the blocks, and what it costs whom."""

    taken: float
    part: float = 1.0
    costs: str
    kappa: float | None = 1.0
    """The cost is 1 / (1 - kappa * taken); ``None``: a factor of 1.3 to 2."""
    true: float = 1.0
    """How many times as long the environment takes without a load."""
    varies: float = VARIES
    """Standard deviation from trial to trial, as a fraction."""

    @property
    def said(self) -> str:
        where = "steadily" if self.part == 1 else f"in {percent(self.part)} of the blocks"
        cost = "1.3 to 2 times" if self.kappa is None else f"kappa {self.kappa:g}"
        return f"{self.taken:g} of {PROCESSORS} {where}, costs {self.costs} {cost}, truly {self.true:g} times native"

    def made(self, generator: np.random.Generator, blocks: int) -> tuple[BlockValue, ...]:
        runs = generator.normal(0.0, RUN, (blocks, 3))
        runs[:, 2] += math.log(self.true)
        taken = np.full((blocks, 3), QUIET)
        busy = generator.choice(blocks, round(self.part * blocks), replace=False)
        spread = 1 + self.varies * generator.standard_normal((len(busy), 3))
        taken[busy] = self.taken * np.clip(spread, 0.2, None)
        for arm in ARMS[self.costs]:
            runs[busy, arm] += self._costs(generator, taken[busy, arm])
        return tuple(_block(*row) for row in enumerate(zip(runs.tolist(), taken.tolist(), strict=True)))

    def _costs(self, generator: np.random.Generator, taken: Floats) -> Floats:
        if self.kappa is None:
            return np.log(generator.uniform(1.3, 2.0, len(taken)))
        return np.asarray(-np.log1p(-np.minimum(0.95, self.kappa * taken)))


def _block(number: int, row: tuple[Sequence[float], Sequence[float]]) -> BlockValue:
    runs, taken = row
    first, second, own = (HostLoad(processors=PROCESSORS, foreign=each) for each in taken)
    native = math.exp(runs[0]), math.exp(runs[1])
    return BlockValue(
        block=number, native=native, environment=math.exp(runs[2]), load=own, native_loads=(first, second)
    )


LOADS = (
    *(
        (Load(taken=BURST, part=part, costs=costs, kappa=None), blocks)
        for part in (0.25, 0.1)
        for costs in ("the environment", "both natives")
        for blocks in (10, 16, 32)
    ),
    *((Load(taken=0.15, costs="the environment", kappa=kappa), 10) for kappa in (0.5, 1.0, 1.5)),
    (Load(taken=0.15, costs="both natives"), 10),
    (Load(taken=0.18, costs="the environment", kappa=1.5, varies=0.05), 20),
    *((Load(taken=taken, costs="the environment", kappa=1.5), 10) for taken in (0.3, 0.5)),
    *(
        (Load(taken=0.3, costs=costs, kappa=1.5, varies=0.0), 20)
        for costs in ("the environment", "both natives")
    ),
    (Load(taken=1.0, costs="the environment", kappa=0.9), 10),
    *((Load(taken=0.3, costs=costs, true=2.0), 10) for costs in ("all alike", "the environment", "nobody")),
    (Load(taken=0.3, costs="nobody", true=3.0), 10),
)


def words(campaigns: int, seed: int) -> str:
    """How often which word is said."""
    head = [
        "load",
        "n",
        "difference before",
        "difference now",
        "with what the load could make",
        "released",
        "withheld",
    ]
    return table(head, _rows(campaigns, seed))


def _rows(campaigns: int, seed: int) -> Iterator[list[str]]:
    for load, blocks in LOADS:
        generator, counts = np.random.default_rng(seed), Counter[str]()
        for _ in range(campaigns):
            made = load.made(generator, blocks)
            counts["before"] += _before(made).word in DIFFERENCE
            counts[_kind(_judged(with_blocks(_EMPTY, made)))] += 1
        kinds = ("before", "plain", "load", "released", "withheld")
        yield [load.said, str(blocks), *(percent(counts[kind] / campaigns) for kind in kinds)]


def _kind(judged: Verdict) -> str:
    if judged.withheld:
        return "withheld"
    if judged.word not in DIFFERENCE:
        return "other"
    return "released" if judged.released else "load" if judged.load else "plain"


def _before(blocks: Sequence[BlockValue]) -> Verdict:
    """The verdict of all blocks, withheld where more than a quarter was busy."""
    unknown = [replace(block, load=None, native_loads=(None, None)) for block in blocks]
    judged = _judged(with_blocks(_EMPTY, unknown))
    busy = sum(block.busiest is not None and block.busiest.busy for block in blocks)
    if busy <= MOST_BUSY_BEFORE * len(blocks):
        return judged
    return replace(judged, word=Word.UNDECIDED, withheld=Withheld.BUSY)


def _judged(summary: Summary) -> Verdict:
    (judged,) = without_busy_claims(in_families([verdict(overhead(summary), MARGIN)]))
    return judged


_EMPTY = Summary(
    cell=Cell(workload="work", layout="1c2p1i"),
    environment="environment",
    metric="wall_s",
    unit="s",
    direction=Direction.LESS,
    primary=True,
    blocks=(),
    log_ratios=(),
    control_log_ratios=(),
    dropped_blocks=0,
)
