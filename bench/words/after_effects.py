# SPDX-License-Identifier: Apache-2.0
"""An environment leaves something to whatever runs next, and nothing else differs."""

from collections.abc import Mapping

import numpy as np

from bench.words import answers, turns
from bench.words.product import judged
from bench.words.rows import Row, rows_said
from bench.words.tallies import FIVE, Tally, row_of, tallied
from bench.words.whole_runs import Order, campaign_of
from tare.records import NATIVE

BLOCKS = (6, 10, 20, 32)
LEFT = (0.01, 0.03, 0.05)
_NO_PROMISE = "none: what is left to more than the next run"


def table_of(campaigns: int, seed: int) -> str:
    few = max(2, campaigns // 4)
    return rows_said(
        [
            *(_whole(f"whole runs, {left * 100:g} % left", {"arm0": left}, campaigns, seed) for left in LEFT),
            *_more_whole(max(2, campaigns // 2), seed),
            *(turns.in_slices(left, few, seed) for left in LEFT),
            *(turns.in_freezer(left, campaigns // 2, seed) for left in LEFT),
            *answers.explained(campaigns // 2, seed),
            *answers.factors(campaigns // 2, seed),
        ]
    )


def _more_whole(campaigns: int, seed: int) -> list[Row]:
    """Cells that the issue does not list: who leaves something, to how many runs, and what happens to the order."""
    three = {"arm0": 0.03}
    return [
        _row("whole runs, three cells, 3 % left", Order(leaves=three, workloads=3), campaigns, seed),
        _row("whole runs beside slices, 3 % left", Order(leaves=three, beside=True), campaigns, seed),
        _row("whole runs, native leaves 3 %", Order(leaves={NATIVE: 0.03}), campaigns, seed),
        _row(
            "whole runs, 3 % left to the next two", Order(leaves=three, lasts=2), campaigns, seed, _NO_PROMISE
        ),
        _row("whole runs, three of four leave 3 %", _many_leave(), campaigns, seed),
        _row("whole runs, 3 % left, another stops at 10", _stops(three), campaigns, seed),
        _row("whole runs, 3 % left, a fifth dropped", Order(leaves=three, dropped=0.2), campaigns, seed),
    ]


def _many_leave() -> Order:
    return Order(leaves={f"arm{place}": 0.03 for place in range(3)}, environments=4)


def _stops(leaves: Mapping[str, float]) -> Order:
    return Order(leaves=leaves, environments=2, stops=10)


def _whole(name: str, leaves: Mapping[str, float], campaigns: int, seed: int) -> Row:
    return _row(name, Order(leaves=leaves), campaigns, seed)


def _row(name: str, order: Order, campaigns: int, seed: int, promise: str = FIVE) -> Row:
    tallies = [_tally(order, n, campaigns, seed) for n in BLOCKS]
    return row_of(f"{name}, n = {' · '.join(map(str, BLOCKS))}", tallies, campaigns, promise)


def _tally(order: Order, n: int, campaigns: int, seed: int) -> Tally:
    """The first environment's claims; false ones in any cell count once per campaign."""
    generator = np.random.default_rng([seed, n])
    claims = [
        [
            verdict
            for verdict in judged(campaign_of(order, n, seed * campaigns + number, generator))
            if verdict.overhead.summary.environment == "arm0"
        ]
        for number in range(campaigns)
    ]
    return tallied(claims, 0.0)
