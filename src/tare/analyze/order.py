# SPDX-License-Identifier: Apache-2.0
"""Does state accumulate within one start? The order experiment of Luszczek and others (2012), with an interval.

In start b of a block, run i of value s has ln T = value_s + start_b + beta u_bi + noise, where u is the uptime in
lengths of a series. Every start runs every value once, so removing the means of starts and values leaves beta by least
squares. Each block, with its three orders, gives one beta; blocks are the replicates. The permutation test exchanges
the orders, which were drawn at random, between the starts of a block.
"""

import itertools
import statistics
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tare.records import (
    Estimate,
    OrderContrast,
    OrderedBlock,
    Ordering,
    OrderSummary,
    OrderVerdict,
    OrderWord,
)
from tare.statistics.estimate import LEVEL, as_fraction, leaves_out_0, lies_within
from tare.statistics.signed_rank import hodges_lehmann

MARGIN = 0.005
"""Growth over a whole series that is not material (docs/order.md, "What is estimated")."""
_LEVEL = 0.05
_DRAWS = 9999
_SEED = 20120821

_Table = NDArray[np.float64]
"""Starts by values, values ascending."""


def order_verdicts(summaries: Sequence[OrderSummary], margin: float = MARGIN) -> tuple[OrderVerdict, ...]:
    """One verdict per summary with a block; ``margin`` is the growth that counts as none."""
    return tuple(_verdict(summary, margin) for summary in summaries if summary.blocks)


def _verdict(summary: OrderSummary, margin: float) -> OrderVerdict:
    span_s = _span_s(summary.blocks)
    tables = [_tables(block, span_s) for block in summary.blocks]
    slopes = [slope(log_times, uptimes) for log_times, uptimes in tables]
    growth = as_fraction(hodges_lehmann(slopes))
    p = permutation_p(tables)
    word = _word(growth, p, margin)
    return OrderVerdict(
        summary=summary,
        growth=growth,
        span_s=span_s,
        permutation_p=p,
        contrasts=tuple(_contrasts(summary.blocks)),
        margin=margin,
        word=word,
        claim=_claim(summary, growth, word, margin),
    )


def _span_s(blocks: Sequence[OrderedBlock]) -> float:
    """Median length of a series over the starts."""
    spans_s = [start.runs[-1].uptime_s - start.runs[0].uptime_s for block in blocks for start in block.starts]
    return statistics.median(spans_s)


def _tables(block: OrderedBlock, span_s: float) -> tuple[_Table, _Table]:
    """Logarithms of times, and uptimes in lengths of a series."""
    runs = [sorted(start.runs, key=lambda run: run.value) for start in block.starts]
    log_times = np.array([[run.log_time for run in start] for start in runs])
    uptimes = np.array([[run.uptime_s for run in start] for start in runs])
    return log_times, uptimes / span_s if span_s > 0 else uptimes


def centred(table: _Table) -> _Table:
    """The table minus the means of its rows and columns."""
    rows, columns = table.mean(axis=1, keepdims=True), table.mean(axis=0, keepdims=True)
    centre: _Table = table - rows - columns + table.mean()
    return centre


def slope(log_times: _Table, uptimes: _Table) -> float:
    """Least squares over the starts of one block; 0 when all orders were equal, which shows nothing."""
    without_means = centred(uptimes)
    spread = float((without_means**2).sum())
    return float((without_means * log_times).sum()) / spread if spread > 0 else 0.0


def permutation_p(tables: Sequence[tuple[_Table, _Table]]) -> float:
    """Two-sided chance of a pooled slope as large as the actual one when orders are exchanged within blocks.

    From ``_DRAWS`` seeded draws and the actual one: never 0.
    """
    exchanged = [_exchanged(log_times, uptimes) for log_times, uptimes in tables]
    draws = np.random.default_rng(_SEED)
    drawn = np.zeros(_DRAWS)
    for choices in exchanged:
        drawn += choices[draws.integers(len(choices), size=_DRAWS)]
    real = abs(sum(float(choices[0]) for choices in exchanged))
    as_large = np.abs(drawn) >= real * (1 - 1e-9)
    return (1 + int(as_large.sum())) / (1 + _DRAWS)


def _exchanged(log_times: _Table, uptimes: _Table) -> NDArray[np.float64]:
    """The block's share of the slope's numerator for each exchange of the orders; the actual one first."""
    without_means = centred(uptimes)
    ways = itertools.permutations(range(len(uptimes)))
    return np.array([float((without_means[list(way)] * log_times).sum()) for way in ways])


def _contrasts(blocks: Sequence[OrderedBlock]) -> list[OrderContrast]:
    """Each value at its latest place in a block's starts against its earliest."""
    values = sorted(run.value for run in blocks[0].starts[0].runs)
    return [OrderContrast(value=value, late_over_early=late_over_early(blocks, value)) for value in values]


def late_over_early(blocks: Sequence[OrderedBlock], value: float) -> Estimate:
    """How much more time the run with this value takes late in a start than early in one, as a fraction."""
    return as_fraction(hodges_lehmann([_late_over_early(block, value) for block in blocks]))


def _late_over_early(block: OrderedBlock, value: float) -> float:
    places = [
        (place, run.log_time)
        for start in block.starts
        for place, run in enumerate(start.runs)
        if run.value == value
    ]
    early, late = min(place for place, _ in places), max(place for place, _ in places)
    return statistics.fmean(log for place, log in places if place == late) - statistics.fmean(
        log for place, log in places if place == early
    )


def descending_over_ascending(blocks: Sequence[OrderedBlock], value: float, level: float = LEVEL) -> Estimate:
    """How much more time the run with this value takes in descending order, as a fraction: formula (2) of L12."""
    logs = [
        _log_time(block, Ordering.DESCENDING, value) - _log_time(block, Ordering.ASCENDING, value)
        for block in blocks
    ]
    return as_fraction(hodges_lehmann(logs, level))


def _log_time(block: OrderedBlock, ordering: Ordering, value: float) -> float:
    return next(
        run.log_time
        for start in block.starts
        if start.ordering is ordering
        for run in start.runs
        if run.value == value
    )


def _word(growth: Estimate, p: float, margin: float) -> OrderWord:
    if growth.low is None or growth.high is None:
        return OrderWord.UNDECIDED
    if lies_within(growth, margin):
        return OrderWord.WITHIN
    return OrderWord.ACCUMULATES if leaves_out_0(growth) and p <= _LEVEL else OrderWord.UNDECIDED


def _claim(summary: OrderSummary, growth: Estimate, word: OrderWord, margin: float) -> str:
    metric = summary.metric
    counted = f"n = {growth.n} starts in each order"
    if growth.low is None or growth.high is None:
        return f"undecided on {metric}, which takes 6 starts in each order ({counted})"
    span = f"{growth.low * 100:+.2g} to {growth.high * 100:+.2g} %"
    if word is OrderWord.WITHIN:
        return (
            f"no material state, {metric} changes by less than {margin * 100:g} % over a series ({counted})"
        )
    if word is OrderWord.ACCUMULATES:
        return f"state accumulates, {metric} takes {span} more time at the end of a series ({counted})"
    unsure = "; by chance its orders alone could have made as much" if leaves_out_0(growth) else ""
    return f"undecided, {metric} takes {span} more time at the end of a series ({counted}){unsure}"
