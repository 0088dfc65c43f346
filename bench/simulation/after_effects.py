# SPDX-License-Identifier: Apache-2.0
"""What one arm leaves to the next, in the orders that Tare draws and in those that it drew before: bias and coverage.

    python -m bench.simulation.after_effects [--campaigns 300] [--seed 1] [--only NAME]     (about eight minutes)

Nothing differs but the after-effect: 0 is true. Before, arms were shuffled in each block and round, and slices followed
Williams squares, none of which has an arm after itself.
"""

import argparse
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, pairwise

import numpy as np

from bench.simulation.own import contrasts
from bench.simulation.scenarios import Arms, Floats
from bench.statistics.markdown import table
from tare.measure.turns.slices import drawn_rounds
from tare.plan.definition import Campaign
from tare.plan.succession import Succession, TurnOrders, arm_of
from tare.plan.trials import cells_of, plan_trials
from tare.records import Environment, Layout, Limits, Workload
from tare.statistics.contrasts import estimate
from tare.workloads.kind import Piece

BLOCKS = (6, 10, 20, 32)
EFFECTS = (0.01, 0.03, 0.05)
RUN = 0.01
"""Standard deviation of ln(time) of a run; of a slice twice, of a frozen turn three times as much."""
LUCK = 0.003
"""The same of a node that takes turns, in each block."""
ROUNDS, TURNS = 44, 15
_PATTERNS = 400
FIRST, SECOND, ENVIRONMENT, STOPS = range(4)
"""The arms; ``STOPS`` leaves at block 6, where there is one."""
STARTS = ("environment", "natives")
Order = Sequence[int]
Left = Mapping[int, float]
"""Arm → what its turn adds to ln(time) of the next."""
Orders = Callable[[int, random.Random], list[list[int]]]
"""Number of blocks, source → order of the arms in each."""


def left_by(who: str, effect: float) -> Left:
    """The after-effect of the environment, or of native alone."""
    return {ENVIRONMENT: effect} if who == "environment" else {FIRST: effect, SECOND: effect}


def shuffled(arms: int) -> Orders:
    """As before: each block by itself."""
    return lambda blocks, source: [source.sample(range(arms), arms) for _ in range(blocks)]


def planned(arms: int) -> Orders:
    """The plan of a campaign of one cell, as it runs."""

    def drawn(blocks: int, source: random.Random) -> list[list[int]]:
        trials = plan_trials(_campaign(arms - 2, blocks), source.randrange(1 << 30))
        return [[_number(arm_of(trial)) for trial in cell] for cell in cells_of(trials)]

    return drawn


def stopping(*, chained_again: bool) -> Orders:
    """Four arms of which the last leaves at block 6: as it runs, or only by the plan."""

    def drawn(blocks: int, source: random.Random) -> list[list[int]]:
        succession, orders = Succession(), []
        for cell in cells_of(plan_trials(_campaign(2, blocks), source.randrange(1 << 30))):
            left = [trial for trial in cell if trial.block < BLOCKS[0] or _number(arm_of(trial)) != STOPS]
            own = succession.of(left) if chained_again else left
            orders.append([_number(arm_of(trial)) for trial in own])
        return orders

    return drawn


def shuffled_until_one_stops(blocks: int, source: random.Random) -> list[list[int]]:
    orders = shuffled(4)(blocks, source)
    return [[arm for arm in order if block < BLOCKS[0] or arm != STOPS] for block, order in enumerate(orders)]


def _number(arm: tuple[str, int]) -> int:
    name, replicate = arm
    return replicate if name == "native" else 2 + int(name)


def _campaign(environments: int, blocks: int) -> Campaign:
    return Campaign(
        name="simulated",
        environments=tuple(
            Environment(name=str(number), technology="fake") for number in range(environments)
        ),
        layouts=(Layout(nodes=1, processors=1, instances=1),),
        workloads=(Workload(name="work", kind="fake"),),
        limits=Limits(memory_byte=1 << 30, shm_byte=1 << 20),
        blocks=blocks,
        margin=0.01,
        budget_s=None,
        seed=None,
        turns=None,
    )


def hits(orders: Sequence[Order], left: Left, arms: int, before: int | None = None) -> Floats:
    """What each arm's turn in each round gets from the turn before it: shape (rounds, arms)."""
    got = np.zeros((len(orders), arms))
    places = [(number, arm) for number, order in enumerate(orders) for arm in order]
    for (_, last), (number, arm) in pairwise([(0, before), *places]):
        got[number, arm] = left.get(last, 0.0) if last is not None else 0.0
    return got


def whole(orders: Orders, arms: int) -> Callable[[Left, int, np.random.Generator], Arms]:
    """Campaigns of whole runs."""

    def made(left: Left, campaigns: int, generator: np.random.Generator) -> Arms:
        source = random.Random(int(generator.integers(1 << 30)))  # noqa: S311 - a simulation
        times = generator.normal(0.0, RUN, (campaigns, BLOCKS[-1], arms))
        for campaign in range(campaigns):
            times[campaign] += hits(orders(BLOCKS[-1], source), left, arms)
        return _compared(times)

    return made


def _compared(times: Floats) -> Arms:
    return Arms(times[..., FIRST], times[..., SECOND], times[..., ENVIRONMENT])


def by_turns(
    block: Callable[[Left, random.Random, np.random.Generator], Floats],
) -> Callable[[Left, int, np.random.Generator], Arms]:
    """Campaigns of blocks whose values come from turns: one for each arm."""

    def made(left: Left, campaigns: int, generator: np.random.Generator) -> Arms:
        source = random.Random(int(generator.integers(1 << 30)))  # noqa: S311 - a simulation
        shape = (campaigns, BLOCKS[-1])
        own = np.array([block(left, source, generator) for _ in range(campaigns * BLOCKS[-1])])
        return _compared(own.reshape(*shape, -1) + generator.normal(0.0, LUCK, (*shape, own.shape[-1])))

    return made


Rounds = Callable[[random.Random, Left, int], Floats]


def sliced(rounds: Rounds, arms: int) -> Callable[..., Floats]:
    """A block's value of each arm, as ``treat.rounds`` condenses them: against both natives, the first being 0."""

    def block(left: Left, source: random.Random, generator: np.random.Generator) -> Floats:
        got = source.choice(_patterns(rounds, frozenset(left), arms)) * max(left.values())
        times = got + generator.normal(0.0, 2 * RUN, (ROUNDS, arms))
        control = centre(times[:, SECOND] - times[:, FIRST])
        apart = [centre(times[:, ENVIRONMENT] - times[:, native]) for native in (FIRST, SECOND)]
        return np.array([0.0, control, math.fsum(apart) / 2 + control / 2])

    return block


@cache
def _patterns(rounds: Rounds, who: frozenset[int], arms: int) -> list[Floats]:
    """Which turns come after whom, in some hundred blocks."""
    source = random.Random(len(who))  # noqa: S311 - a simulation
    return [rounds(source, dict.fromkeys(who, 1.0), arms) for _ in range(_PATTERNS)]


def centre(values: Floats) -> float:
    """Hodges and Lehmann's."""
    first, second = np.triu_indices(len(values))
    return float(np.median((values[first] + values[second]) / 2))


def squares(source: random.Random, left: Left, arms: int) -> Floats:
    """As before, three pieces in each round: Williams squares."""
    orders = list(williams(arms, source))
    played = list(chain.from_iterable([order] * 3 for order in orders))
    return hits(played, left, arms)[::3][:ROUNDS]


def williams(arms: int, source: random.Random) -> Iterator[list[int]]:
    zigzag = [(place + 1) // 2 if place % 2 else (arms - place // 2) % arms for place in range(arms)]
    for _ in range(ROUNDS):
        names = source.sample(range(arms), arms)
        rows = [[(place + shift) % arms for place in zigzag] for shift in range(arms)]
        rows += [] if arms % 2 == 0 else [row[::-1] for row in rows]
        source.shuffle(rows)
        yield from ([names[place] for place in row] for row in rows)


def rounds_now(source: random.Random, left: Left, arms: int) -> Floats:
    """The rounds of one of three pieces, in two starts."""
    pieces = [Piece(name=name, metric=name, start_count=1) for name in "abc"]
    got = []
    for _ in range(2):
        own = [
            planned
            for planned in drawn_rounds(pieces, dict.fromkeys("abc", ROUNDS // 2), arms, source)
            if planned.piece.name == "a"
        ]
        got.append(hits([planned.order for planned in own], left, arms, own[0].order[0]))
    return np.concatenate(got)


def frozen(arms: int, *, chained: bool) -> Callable[..., Floats]:
    """A block's time of each arm: turns until its work is done, the last one in part."""

    def block(left: Left, source: random.Random, generator: np.random.Generator) -> Floats:
        rest = np.full(arms, float(TURNS)) * np.exp(generator.normal(0.0, RUN, arms))
        taken, orders, last = np.zeros(arms), TurnOrders[int](source), None
        while going := [arm for arm in range(arms) if rest[arm] > 0]:
            for arm in orders.order(going) if chained else source.sample(going, len(going)):
                speed = (
                    math.exp(-left.get(last, 0.0) - generator.normal(0.0, 3 * RUN))
                    if last is not None
                    else 1.0
                )
                turn = min(1.0, rest[arm] / speed)
                rest[arm] -= turn * speed
                taken[arm] += turn
                last = arm
        return np.log(taken)

    return block


Made = Callable[[Left, int, np.random.Generator], Arms]
WAYS: Mapping[str, tuple[Made, Made]] = {
    "whole runs, 3 arms": (whole(shuffled(3), 3), whole(planned(3), 3)),
    "whole runs, 6 arms": (whole(shuffled(6), 6), whole(planned(6), 6)),
    "an arm of 4 stops at block 6": (
        whole(shuffled_until_one_stops, 4),
        whole(stopping(chained_again=True), 4),
    ),
    "the same, not chained again": (
        whole(shuffled_until_one_stops, 4),
        whole(stopping(chained_again=False), 4),
    ),
    "slices, 3 arms": (by_turns(sliced(squares, 3)), by_turns(sliced(rounds_now, 3))),
    "slices, 6 arms": (by_turns(sliced(squares, 6)), by_turns(sliced(rounds_now, 6))),
    "freezer, 3 arms": (by_turns(frozen(3, chained=False)), by_turns(frozen(3, chained=True))),
}


def compared(name: str, campaigns: int, seed: int) -> str:
    """Bias and coverage at each number of blocks, and the width at the last: before → now."""
    rows = []
    for who in STARTS:
        for effect in EFFECTS:
            drawn = [
                made(left_by(who, effect), campaigns, np.random.default_rng(seed)) for made in WAYS[name]
            ]
            both = [[_judged(arms.leading(n)) for n in BLOCKS] for arms in drawn]
            rows.append(
                [
                    f"{effect:.0%} of the {who}",
                    " → ".join(f"{100 * own[-1][0]:+.2f}" for own in both),
                    *(
                        " → ".join(f"{100 * own[place][1]:.0f}" for own in both)
                        for place in range(len(BLOCKS))
                    ),
                    " → ".join(f"{100 * own[-1][2]:.2f}" for own in both),
                ]
            )
    head = ["after-effect", "bias, points", *(f"covers, n = {n}" for n in BLOCKS), f"width, n = {BLOCKS[-1]}"]
    return table(head, rows)


def _judged(arms: Arms) -> tuple[float, float, float]:
    """Mean estimate, share of intervals that hold 0, median width."""
    estimates = [estimate(contrast) for contrast in contrasts(arms)]
    ends = np.array([(each.low, each.high) for each in estimates], dtype=float)
    covers = np.mean((ends[:, 0] <= 0) & (ends[:, 1] >= 0))
    bias = np.mean([each.point for each in estimates])
    return float(bias), float(covers), float(np.median(ends[:, 1] - ends[:, 0]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--campaigns", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=WAYS)
    chosen = parser.parse_args()
    for name in WAYS:
        if chosen.only in {None, name}:
            print(f"### {name}\n\n{compared(name, chosen.campaigns, chosen.seed)}\n", flush=True)


if __name__ == "__main__":
    main()
