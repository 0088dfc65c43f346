# SPDX-License-Identifier: Apache-2.0
"""After-effects in what Tare answers besides: whether a knob is a cause, and whether a cost depends on a factor."""

import math
from dataclasses import replace

import numpy as np

from bench.words.product import judged
from bench.words.records import CELL, METRIC
from bench.words.rows import Row, shares
from bench.words.tallies import FIVE
from bench.words.whole_runs import Order, campaign_of
from tare.analyze import dependences, intervention_verdicts
from tare.records import Cell, Change, DependenceWord, FactorCells, Intervention, Level, Role, Summary

_EFFECT = math.log(1.05)
_KNOB = Change(knob="off", change="without it", subject="the knob", changed="arm1")
_INTERVENTION = Intervention(
    parent="../..", parent_campaign="words", parent_session="0", environment="arm0", changes=(_KNOB,)
)
_LEVELS = tuple(Level(key="size", text=str(size), number=float(size)) for size in (1, 2))


def explained(campaigns: int, seed: int) -> list[Row]:
    """An overhead of 5 %, a knob without effect that leaves 3 % to the next run, and one that removes half."""
    blocks = (10, 20, 32)
    plain = {"arm0": _EFFECT, "arm1": _EFFECT}
    useful = {"arm0": _EFFECT, "arm1": _EFFECT / 2}
    false, power = (
        [sum(_is_cause(order, n, seed * campaigns + number) for number in range(campaigns)) for n in blocks]
        for order in (
            Order(leaves={"arm1": 0.03}, environments=2, truth=plain),
            Order(leaves={}, environments=2, truth=useful),
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


def _is_cause(order: Order, n: int, number: int) -> bool:
    own = campaign_of(order, n, number, np.random.default_rng([number, n]))
    return any(each.role is Role.CAUSE for each in intervention_verdicts(own, _INTERVENTION, 0.01))


def factors(campaigns: int, seed: int) -> list[Row]:
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
    orders = (Order(leaves={}), Order(leaves={"arm0": left}, truth={"arm0": effect}))
    cells = [Cell(workload=CELL.workload, layout=f"{CELL.layout}[{level}]") for level in _LEVELS]
    own = [
        _at(cell, campaign_of(order, n, 2 * number + place, generator)[0])
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
