# SPDX-License-Identifier: Apache-2.0
"""What a reader gets of a result with more metrics than anybody reads: the JSON alone has them all."""

from collections.abc import Iterable
from dataclasses import replace

from tare.drawing.words import counted
from tare.records import Analysis, ArmSpread, Cell, Curve, Summary

MOST_METRICS = 120
"""Of one cell, its primary ones first: more than the richest workload has. Each has a table and a picture,
and a journal in which thousands stand must not keep a terminal or a browser busy."""

_Metric = tuple[Cell, str]


def bounded(analysis: Analysis) -> Analysis:
    """The same without the metrics that are too many."""
    kept = _kept(analysis)
    if len(kept) == len(_ranked(analysis)):
        return analysis
    return replace(
        analysis,
        verdicts=tuple(verdict for verdict in analysis.verdicts if _of(verdict.overhead.summary) in kept),
        controls=tuple(control for control in analysis.controls if _of(control.summary) in kept),
        spreads=tuple(spread for spread in analysis.spreads if _of(spread) in kept),
        curves=tuple(estimate for estimate in analysis.curves if _of(estimate.curve) in kept),
    )


def left_out_said(analysis: Analysis) -> str | None:
    """How many ``bounded`` leaves out; ``None`` when it is none."""
    count = len(_ranked(analysis)) - len(_kept(analysis))
    return (
        f"{counted(count, 'further metric')} without a table or a picture; --json has them all"
        if count
        else None
    )


def _kept(analysis: Analysis) -> frozenset[_Metric]:
    counts: dict[Cell, int] = {}
    kept = set[_Metric]()
    for metric in _ranked(analysis):
        counts[metric[0]] = counts.get(metric[0], 0) + 1
        if counts[metric[0]] <= MOST_METRICS:
            kept.add(metric)
    return frozenset(kept)


def _ranked(analysis: Analysis) -> tuple[_Metric, ...]:
    """Every metric once, the primary ones first, else in the order of the analysis."""
    overheads = [*(verdict.overhead for verdict in analysis.verdicts), *analysis.controls]
    primary: Iterable[_Metric] = (_of(overhead.summary) for overhead in overheads if overhead.summary.primary)
    others = (_of(overhead.summary) for overhead in overheads)
    drawn = (
        *(_of(estimate.curve) for estimate in analysis.curves),
        *(_of(spread) for spread in analysis.spreads),
    )
    return tuple(dict.fromkeys((*primary, *others, *drawn)))


def _of(measured: Summary | Curve | ArmSpread) -> _Metric:
    return measured.cell, measured.metric
