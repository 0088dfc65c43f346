# SPDX-License-Identifier: Apache-2.0
"""The newest of several results against the earlier: false alarms where days differ, and what is found."""

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from bench.simulation.intervals import bounds, points
from bench.simulation.scenarios import Floats, clean
from bench.statistics import markdown
from tare.statistics.days import newest_difference
from tare.statistics.estimate import Estimate
from tare.statistics.unpaired import Side, unpaired_difference

RUN = 0.03
BLOCKS = 10
NOISE = RUN * math.sqrt(1.5 / BLOCKS)
"""Of a result's estimate: each block has two runs of native."""
EARLIER = (4, 6, 8, 12)
FOUND = (2, 3, 5)
"""Times the spread of results, noise and days together."""
ERROR = 0.05
Days = Callable[[np.random.Generator, tuple[int, int]], Floats]
"""Generator, (histories, results) → what the day of each result adds, in units of ``NOISE``."""


def normal(size: float) -> Days:
    return lambda generator, shape: size * generator.standard_normal(shape)


def heavy(size: float) -> Days:
    """Student's t with three degrees of freedom, whose standard deviation is the root of three."""
    return lambda generator, shape: size * generator.standard_t(3, shape) / math.sqrt(3)


def skewed(size: float) -> Days:
    """Exponential: most days are alike, some slower."""
    return lambda generator, shape: generator.exponential(size, shape)


def dependent(size: float, rho: float) -> Days:
    """A day resembles the one before."""

    def made(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
        days = generator.standard_normal(shape)
        for day in range(1, shape[1]):
            days[:, day] = rho * days[:, day - 1] + math.sqrt(1 - rho**2) * days[:, day]
        return size * days

    return made


def now_and_then(size: float, share: float) -> Days:
    """A share of the days is slower, all others are alike."""
    return lambda generator, shape: np.where(generator.random(shape) < share, size, 0.0)


def of_two_days(size: float) -> Days:
    """The earlier results are of two days only; Tare counts the last of each."""

    def made(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
        days = generator.standard_normal((shape[0], 3))
        day_of = np.append(np.arange(shape[1] - 1) * 2 // (shape[1] - 1), 2)
        return size * days[:, day_of]

    return made


def trending(step: float) -> Days:
    """Each day is a step above the one before."""
    return lambda _, shape: np.broadcast_to(step * np.arange(shape[1]), shape)


DAYS: dict[str, Days] = {
    "0": normal(0),
    "0.5, normal": normal(0.5),
    "1, normal": normal(1),
    "2, normal": normal(2),
    "5, normal": normal(5),
    "1, heavy-tailed": heavy(1),
    "2, heavy-tailed": heavy(2),
    "2, skewed to slow days": skewed(2),
    "5, skewed to slow days": skewed(5),
    "2, each day like the one before (0.7)": dependent(2, 0.7),
    "2, if results of two days counted each": of_two_days(2),
    "2 on one day in five": now_and_then(2, 0.2),
    "5 on one day in five": now_and_then(5, 0.2),
    "0.1 more each day": trending(0.1),
    "0.5 more each day": trending(0.5),
}
"""In units of the noise of a result's estimate."""
_FOUND_WITH = ("0", "1, normal", "2, normal")


def table(campaigns: int, seed: int) -> str:
    """False alarms of "worse", before and now; then regressions found. Each cell has so many histories."""
    head = ["days differ by", *(f"{earlier} earlier" for earlier in EARLIER)]
    false = [[name, *(_alarms(DAYS[name], earlier, campaigns, seed) for earlier in EARLIER)] for name in DAYS]
    power = [
        [name, *(_powers(DAYS[name], earlier, campaigns, seed) for earlier in EARLIER)]
        for name in _FOUND_WITH
    ]
    sizes = ", ".join(map(str, FOUND))
    return "\n\n".join(
        (
            "False alarms: against the median earlier result alone → against another day",
            markdown.table(head, false),
            f"Found, where the newest is worse by {sizes} times the spread of results (days and noise)",
            markdown.table(head, power),
        )
    )


def _alarms(days: Days, earlier: int, campaigns: int, seed: int) -> str:
    before = now = 0
    for sides in _histories(days, earlier, campaigns, seed):
        before += _worse(unpaired_difference(_median(sides[:-1]), sides[-1], ERROR))
        now += _worse(newest_difference(sides[:-1], sides[-1], ERROR))
    return f"{markdown.percent(before / campaigns)} → {markdown.percent(now / campaigns, 1)}"


def _powers(days: Days, earlier: int, campaigns: int, seed: int) -> str:
    generator = np.random.default_rng([seed, 1])
    spread = NOISE * math.hypot(1.0, float(np.std(days(generator, (campaigns, earlier + 1)))))
    hits = [0] * len(FOUND)
    for sides in _histories(days, earlier, campaigns, seed):
        made = newest_difference(sides[:-1], sides[-1], ERROR)
        for place, times in enumerate(FOUND):
            hits[place] += made.low is not None and made.low + times * spread > 0
    return " / ".join(markdown.percent(count / campaigns) for count in hits)


def _histories(days: Days, earlier: int, campaigns: int, seed: int) -> Iterator[list[Side]]:
    """Of each history the results' overheads, the newest last, with the intervals that Tare gives them."""
    generator = np.random.default_rng([seed, earlier])
    shape = (campaigns, earlier + 1)
    arms = clean(RUN, 0.0)(generator, campaigns * (earlier + 1), BLOCKS)
    shift = NOISE * days(generator, shape)
    low, high, point = (values.reshape(shape) + shift for values in (*bounds(arms), points(arms)))
    for row in range(campaigns):
        yield [
            _side(*ends)
            for ends in zip(low[row].tolist(), point[row].tolist(), high[row].tolist(), strict=True)
        ]


def _side(low: float, point: float, high: float) -> Side:
    estimate = Estimate(point=point, low=low, high=high, level=1 - ERROR, n=BLOCKS)
    return lambda _: estimate


def _median(sides: Sequence[Side]) -> Side:
    return sorted(sides, key=lambda side: side(ERROR).point)[len(sides) // 2]


def _worse(difference: Estimate) -> bool:
    return difference.low is not None and difference.low > 0
