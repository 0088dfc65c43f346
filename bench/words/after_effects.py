# SPDX-License-Identifier: Apache-2.0
"""An environment leaves something to whatever runs next, and nothing else differs."""

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from bench.simulation.scenarios import Floats
from bench.words.product import as_run, judged, turns_of_freezer, turns_of_slices
from bench.words.records import (
    CELL,
    METRIC,
    NATIVES,
    Arm,
    Place,
    after_effects,
    is_false,
    leaves_out,
    planned,
    summarized,
    summary_of,
    width,
)
from bench.words.rows import Row, rows_said, shares
from tare.analyze import dependences, intervention_verdicts
from tare.records import (
    NATIVE,
    Cell,
    Change,
    DependenceWord,
    FactorCells,
    Intervention,
    Level,
    Role,
    Summary,
    Verdict,
)

RUN = 0.01
BLOCKS = (6, 10, 20, 32)
LEFT = (0.01, 0.03, 0.05)
FIVE = "at most 5 %"
SLICES, TURNS = 24, 40
_SLICE = 0.02
_EFFECT = math.log(1.05)
_KNOB = Change(knob="off", change="without it", subject="the knob", changed="arm1")
_INTERVENTION = Intervention(
    parent="../..", parent_campaign="words", parent_session="0", environment="arm0", changes=(_KNOB,)
)
_LEVELS = tuple(Level(key="size", text=str(size), number=float(size)) for size in (1, 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """A campaign of whole runs with after-effects."""

    leaves: Mapping[str, float]
    environments: int = 1
    workloads: int = 1
    lasts: int = 1
    dropped: float = 0.0
    """Share of the environments' runs that fail, after they have left what they leave."""
    stops: int | None = None
    """Blocks after which the second environment runs no more."""
    truth: Mapping[str, float] = field(default_factory=dict)
    """Planted overheads, as logarithms."""


class Tally(NamedTuple):
    false: int
    """Campaigns with a false word."""
    missed: float
    """Claims whose own interval misses, per campaign and cell: an interval holds by itself."""
    bias: float
    width: float


def table_of(campaigns: int, seed: int) -> str:
    few = max(2, campaigns // 4)
    return rows_said(
        [
            *(_whole(f"whole runs, {left * 100:g} % left", {"arm0": left}, campaigns, seed) for left in LEFT),
            *_more_whole(max(2, campaigns // 2), seed),
            *(_in_turns(left, few, seed) for left in LEFT),
            *(_frozen(left, campaigns // 2, seed) for left in LEFT),
            *_explained(campaigns // 2, seed),
            *_factors(campaigns // 2, seed),
        ]
    )


def _more_whole(campaigns: int, seed: int) -> list[Row]:
    """Cells that the issue does not list: who leaves something, to how many runs, and what happens to the order."""
    three = {"arm0": 0.03}
    return [
        _row("whole runs, three cells, 3 % left", _Order(leaves=three, workloads=3), campaigns, seed),
        _row("whole runs, native leaves 3 %", _Order(leaves={NATIVE: 0.03}), campaigns, seed),
        _row("whole runs, 3 % left to the next two", _Order(leaves=three, lasts=2), campaigns, seed),
        _row("whole runs, three of four leave 3 %", _many_leave(), campaigns, seed),
        _row("whole runs, 3 % left, another stops at 10", _stops(three), campaigns, seed),
        _row("whole runs, 3 % left, a fifth dropped", _Order(leaves=three, dropped=0.2), campaigns, seed),
    ]


def _many_leave() -> _Order:
    return _Order(leaves={f"arm{place}": 0.03 for place in range(3)}, environments=4)


def _stops(leaves: Mapping[str, float]) -> _Order:
    return _Order(leaves=leaves, environments=2, stops=10)


def _whole(name: str, leaves: Mapping[str, float], campaigns: int, seed: int) -> Row:
    return _row(name, _Order(leaves=leaves), campaigns, seed)


def _row(name: str, order: _Order, campaigns: int, seed: int) -> Row:
    tallies = [_tally(order, n, campaigns, seed) for n in BLOCKS]
    return Row(
        cell=f"{name}, n = {' · '.join(map(str, BLOCKS))}",
        promise=FIVE,
        false=shares([tally.false for tally in tallies], campaigns),
        missed=shares([tally.missed for tally in tallies], campaigns),
        price=_price(tallies),
    )


def _price(tallies: Sequence[Tally]) -> str:
    biases = " · ".join(f"{100 * tally.bias:+.2f}" for tally in tallies)
    widths = " · ".join(f"{tally.width:.1f}" for tally in tallies)
    return f"bias {biases}; width {widths} points"


def _tally(order: _Order, n: int, campaigns: int, seed: int) -> Tally:
    """The first environment's claims; false ones in any cell count once per campaign."""
    generator = np.random.default_rng([seed, n])
    claims = [
        [
            verdict
            for verdict in judged(_campaign(order, n, seed * campaigns + number, generator))
            if verdict.overhead.summary.environment == "arm0"
        ]
        for number in range(campaigns)
    ]
    return tally(claims, 0.0)


def tally(claims: Sequence[Sequence[Verdict]], truth: float) -> Tally:
    every = [verdict for own in claims for verdict in own]
    return Tally(
        false=sum(any(is_false(verdict, truth) for verdict in own) for own in claims),
        missed=len(claims) * float(np.mean([leaves_out(verdict, truth) for verdict in every])),
        bias=float(np.mean([math.log1p(verdict.overhead.typical.point) for verdict in every]))
        - math.log1p(truth),
        width=float(np.nanmedian([width(verdict) for verdict in every])),
    )


def _campaign(order: _Order, n: int, number: int, generator: np.random.Generator) -> list[Summary]:
    trials = as_run(
        trial
        for trial in planned(n, order.environments, order.workloads, number)
        if order.stops is None or trial.environment.name != "arm1" or trial.block < order.stops
    )
    runs = {
        place: added + order.truth.get(place[2][0], 0.0) + generator.normal(0.0, RUN)
        for place, added in after_effects(trials, order.leaves, order.lasts)
        if place[2] in NATIVES or generator.random() >= order.dropped
    }
    workloads = dict.fromkeys(workload for workload, _, _ in runs)
    return [
        _of_arm(runs, workload, (f"arm{place}", 0), n)
        for workload in workloads
        for place in range(order.environments)
    ]


def _of_arm(runs: Mapping[Place, float], workload: str, arm: Arm, n: int) -> Summary:
    blocks = [block for block in range(n) if (workload, block, arm) in runs]
    columns = [np.array([runs[workload, block, own] for block in blocks]) for own in (*NATIVES, arm)]
    cell = Cell(workload=workload, layout=CELL.layout)
    return summary_of(columns, arm[0], cell=cell, blocks=blocks)


def _in_turns(left: float, campaigns: int, seed: int) -> Row:
    generator = np.random.default_rng([seed, 2])
    tallied = tally([judged(_slices(left, number, generator)) for number in range(campaigns)], 0.0)
    return _single(f"slices, {left * 100:g} % left, n = 10", tallied, campaigns)


def _single(name: str, tallied: Tally, campaigns: int) -> Row:
    return Row(
        cell=name,
        promise=FIVE,
        false=shares([tallied.false], campaigns),
        missed=shares([tallied.missed], campaigns),
        price=_price([tallied]),
    )


def _slices(left: float, number: int, generator: np.random.Generator) -> tuple[Summary, ...]:
    """Ten blocks of three arms by the product's own order of turns, two starts of each program."""
    trials = planned(10, 1, 1, number, slices=True)
    source = random.Random(number)  # noqa: S311 - an order
    values: dict[Place, Floats] = {}
    for block in range(10):
        starts = [_taken(turns_of_slices(3, SLICES // 2, source), left) for _ in range(2)]
        for place, arm in enumerate((*NATIVES, ("arm0", 0))):
            own = np.concatenate([start[place] for start in starts])
            values[CELL.workload, block, arm] = own + generator.normal(0.0, _SLICE, len(own))
    return summarized(trials, {place: own.tolist() for place, own in values.items()})


def _taken(rounds: Iterable[Sequence[int]], left: float) -> Floats:
    """What the turns of each arm take more because the third ran before; shape (arms, rounds)."""
    before, taken = -1, []
    for order in rounds:
        row = np.zeros(3)
        for arm in order:
            row[arm] = math.log1p(left) if before == 2 else 0.0  # noqa: PLR2004 - the environment
            before = arm
        taken.append(row)
    return np.array(taken).T


def _frozen(left: float, campaigns: int, seed: int) -> Row:
    """A run of 40 turns: its time is the sum of its turns."""
    generator = np.random.default_rng([seed, 3])
    claims = []
    for number in range(campaigns):
        source = random.Random(number)  # noqa: S311 - an order
        runs = generator.normal(0.0, RUN, (3, 10))
        for block in range(10):
            taken = _taken(turns_of_freezer(3, TURNS, source), left)
            runs[:, block] += np.log(np.exp(taken).mean(axis=1))
        claims.append(judged([summary_of(runs)]))
    return _single(f"the freezer, {left * 100:g} % left, n = 10", tally(claims, 0.0), campaigns)


def _explained(campaigns: int, seed: int) -> list[Row]:
    """An overhead of 5 %, a knob without effect that leaves 3 % to the next run, and one that removes half."""
    blocks = (10, 20, 32)
    plain = {"arm0": _EFFECT, "arm1": _EFFECT}
    useful = {"arm0": _EFFECT, "arm1": _EFFECT / 2}
    false, power = (
        [sum(_is_cause(order, n, seed * campaigns + number) for number in range(campaigns)) for n in blocks]
        for order in (
            _Order(leaves={"arm1": 0.03}, environments=2, truth=plain),
            _Order(leaves={}, environments=2, truth=useful),
        )
    )
    return [
        Row(
            cell="explain, a knob leaves 3 %, n = 10 · 20 · 32",
            promise=FIVE,
            false=shares(false, campaigns),
            price=f"half of 5 % is a cause: {shares(power, campaigns)} %",
        )
    ]


def _is_cause(order: _Order, n: int, number: int) -> bool:
    own = _campaign(order, n, number, np.random.default_rng([number, n]))
    return any(each.role is Role.CAUSE for each in intervention_verdicts(own, _INTERVENTION, 0.01))


def _factors(campaigns: int, seed: int) -> list[Row]:
    """At the second of two levels alone the environment leaves 3 %."""
    blocks = (10, 20, 32)
    false, power = (
        [
            sum(_depends(left, effect, n, seed * campaigns + number) for number in range(campaigns))
            for n in blocks
        ]
        for left, effect in ((0.03, 0.0), (0.0, 0.01))
    )
    return [
        Row(
            cell="factors, 3 % left at one of two levels, n = 10 · 20 · 32",
            promise=FIVE,
            false=shares(false, campaigns),
            price=f"1 % more at one level is seen: {shares(power, campaigns)} %",
        )
    ]


def _depends(left: float, effect: float, n: int, number: int) -> bool:
    generator = np.random.default_rng([number, n])
    orders = (_Order(leaves={}), _Order(leaves={"arm0": left}, truth={"arm0": effect}))
    cells = [Cell(workload=CELL.workload, layout=f"{CELL.layout}[{level}]") for level in _LEVELS]
    own = [
        _at(cell, _campaign(order, n, 2 * number + place, generator)[0])
        for place, (cell, order) in enumerate(zip(cells, orders, strict=True))
    ]
    series = FactorCells(
        workload=CELL.workload,
        setting=CELL.layout,
        key="size",
        levels=_LEVELS,
        cells=tuple((cell,) for cell in cells),
    )
    said = dependences(judged(own), [series])
    return any(each.word is DependenceWord.DEPENDS for each in said if each.metric == METRIC)


def _at(cell: Cell, summary: Summary) -> Summary:
    return replace(summary, cell=cell)
