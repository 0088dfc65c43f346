# SPDX-License-Identifier: Apache-2.0
"""One sentence per environment about all its primary metrics; metrics with the same result are named together."""

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple, TypeAlias

from tare.analyze.differences import difference_said, range_said
from tare.analyze.load_said import short_said
from tare.analyze.qualification import typically
from tare.records import (
    TOO_BUSY,
    Answer,
    AnswerPart,
    Cell,
    Direction,
    Summary,
    Verdict,
    Word,
    is_without_load,
)

_OF_A_PROGRAM = "wall_s"
"""The metric of a whole program, which is better called by its workload's name."""
Names: TypeAlias = Mapping[tuple[Cell, str], str]
"""Cell and metric → name of the metric."""


class _Precedence(IntEnum):
    """Order in which a sentence says things."""

    SLOWER = 0
    WITHIN = 1
    FASTER = 2
    BOUNDED = 3
    UNDECIDED = 4
    WITHHELD = 5


class _Saying(NamedTuple):
    """Statement about one metric; statements of the same rank and text are merged."""

    rank: _Precedence
    size: float
    """Within a rank, smaller sizes come first."""
    word: Word
    name: str
    text: str


def answers(verdicts: Sequence[Verdict]) -> tuple[Answer, ...]:
    """Answer for each environment and layout with a primary verdict, in the order of the verdicts.

    Where the campaign has a single primary metric, the answer is the verdict's own sentence; but a metric for less than
    the wall time is always named.
    """
    primary = [verdict for verdict in verdicts if verdict.overhead.summary.primary]
    names = primary_names(verdict.overhead.summary for verdict in primary)
    layouts = {cell.layout for cell, _ in names}
    arms: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in primary:
        summary = verdict.overhead.summary
        arms.setdefault((summary.environment, summary.cell.layout), []).append(verdict)
    return tuple(
        Answer(
            environment=environment,
            layout=layout,
            subject=f"{environment} on {layout}" if len(layouts) > 1 else environment,
            parts=_parts(own, {key: name for key, name in names.items() if key[0].layout == layout})
            if len(set(names.values())) > 1 or any(map(is_without_load, names.values()))
            else tuple(map(_whole, own)),
        )
        for (environment, layout), own in arms.items()
    )


def primary_names(summaries: Iterable[Summary]) -> dict[tuple[Cell, str], str]:
    """Name of each primary metric: its own, or its workload's where that says more.

    The workload's name is used for a program's time, and for a metric that several workloads have.
    """
    keys = list(dict.fromkeys((summary.cell, summary.metric) for summary in summaries))
    pairs = {(cell.workload, metric) for cell, metric in keys}
    return {(cell, metric): _name(cell.workload, metric, pairs) for cell, metric in keys}


def _name(workload: str, metric: str, pairs: set[tuple[str, str]]) -> str:
    if metric != _OF_A_PROGRAM and sum(other == metric for _, other in pairs) == 1:
        return metric
    only = sum(other == workload for other, _ in pairs) == 1
    return workload if only else f"{workload} {metric}"


def _whole(verdict: Verdict) -> AnswerPart:
    metric = verdict.overhead.summary.metric
    return AnswerPart(word=verdict.word, metrics=(metric,), text=verdict.claim)


def _parts(verdicts: Sequence[Verdict], names: Names) -> tuple[AnswerPart, ...]:
    """Parts of an answer; ``names``: of all primary metrics in this layout, even without a verdict here."""
    judged = {
        (verdict.overhead.summary.cell, verdict.overhead.summary.metric): verdict for verdict in verdicts
    }
    sayings = [_saying(verdict, names[key]) for key, verdict in judged.items()]
    groups: dict[tuple[_Precedence, str], list[_Saying]] = {}
    for saying in sorted(sayings, key=lambda each: (each.rank, each.size)):
        alike = "" if saying.rank in (_Precedence.UNDECIDED, _Precedence.WITHHELD) else saying.text
        groups.setdefault((saying.rank, alike), []).append(saying)
    parts = tuple(map(_part, groups.values()))
    absent = tuple(name for key, name in names.items() if key not in judged)
    if not absent:
        return parts
    return (*parts, AnswerPart(word=None, metrics=absent, text=f"no result: {joined(absent)}"))


def _saying(verdict: Verdict, name: str) -> _Saying:
    point = verdict.shown.point
    rank = _Precedence.WITHHELD if verdict.withheld else _Precedence[verdict.word.name]
    sizes = {
        _Precedence.SLOWER: -point,
        _Precedence.WITHIN: verdict.within,
        _Precedence.FASTER: point,
        _Precedence.BOUNDED: verdict.at_most,
    }
    return _Saying(rank, sizes.get(rank) or 0.0, verdict.word, name, _text(verdict))


def _text(verdict: Verdict) -> str:
    shown, said, direction = verdict.shown, verdict.said, verdict.overhead.summary.direction
    if shown.low is None:
        return f"no interval, n = {shown.n}"
    if verdict.word is Word.UNDECIDED:
        return range_said(shown, direction)
    only = typically(verdict)
    if verdict.word is Word.WITHIN:
        return f"{only}{said} of native"
    if verdict.word is Word.BOUNDED:
        return f"{only}{said} {'slower' if direction is Direction.LESS else 'lower'}"
    return f"{only}{difference_said(verdict.word, shown, direction)}{short_said(verdict)}"


def _part(group: Sequence[_Saying]) -> AnswerPart:
    first, names = group[0], tuple(saying.name for saying in group)
    if first.rank is _Precedence.UNDECIDED:
        text = f"undecided: {joined([f'{saying.name} ({saying.text})' for saying in group])}"
    elif first.rank is _Precedence.WITHHELD:
        text = f"{TOO_BUSY}: {joined([f'{saying.name} (measured {saying.text})' for saying in group])}"
    else:
        text = f"{joined(names)} {first.text}"
    return AnswerPart(word=first.word, metrics=names, text=text)


def joined(names: Sequence[str]) -> str:
    """For example "compute, memory and messages"."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
