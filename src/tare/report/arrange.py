# SPDX-License-Identifier: Apache-2.0
"""The analysis in reading order: what belongs together, what comes first, what was lost; it only counts."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from tare.analyze.answers import primary_names
from tare.analyze.controls import differs_from_itself
from tare.drawing.words import counted, interval_percent, point_percent
from tare.foreign import one_line
from tare.records import (
    NATIVE,
    Analysis,
    Cell,
    Direction,
    Estimate,
    Layout,
    Outcome,
    Overhead,
    Status,
    Verdict,
    Word,
)
from tare.report.clock_faults import clock_faults
from tare.treat.pairing import cell_of

_Key: TypeAlias = tuple[Cell, str, str, Direction]
CONTROL = "native again"
"""How the second native slot is called wherever it stands beside the environments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSection:
    """One metric of one cell: its environments' verdicts, and the control that they stand against."""

    cell: Cell
    name: str
    verdicts: tuple[Verdict, ...]
    control: Overhead | None

    @property
    def reference(self) -> Overhead:
        """Any overhead of this metric, for what they share: unit, direction, native value."""
        return self.control or self.verdicts[0].overhead

    @property
    def overheads(self) -> tuple[Overhead, ...]:
        """Of all environments, the control last."""
        own = tuple(verdict.overhead for verdict in self.verdicts)
        return (*own, self.control) if self.control else own

    @property
    def shown(self) -> tuple[tuple[Overhead, Estimate], ...]:
        """The same with the intervals that are printed: of an environment the one that backs the word."""
        own = tuple((verdict.overhead, verdict.shown) for verdict in self.verdicts)
        return (*own, (self.control, self.control.typical)) if self.control else own

    @property
    def primary(self) -> bool:
        return self.reference.summary.primary

    @property
    def as_time(self) -> str:
        """To follow the name of a rate above overheads, which are time for the same work; else empty."""
        return ", as time" if self.reference.summary.direction is Direction.MORE else ""

    @property
    def decided(self) -> tuple[Verdict, ...]:
        return tuple(verdict for verdict in self.verdicts if verdict.word is not Word.UNDECIDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSection:
    """What is said of one environment in one layout: its primary metrics, what clocks took away, order experiments."""

    subject: str
    parts: tuple[tuple[Word | None, str], ...]
    """At least one; without a word where there is no verdict."""

    @property
    def word(self) -> Word | None:
        """Of the part that comes first: of the largest loss if there is any."""
        return self.parts[0][0]

    @property
    def sentence(self) -> str:
        return f"{self.subject}: {'; '.join(text for _, text in self.parts)}"


def metrics(analysis: Analysis) -> tuple[MetricSection, ...]:
    """Cell after cell, in each the primary metric first, else in the order of the verdicts."""
    verdicts: dict[_Key, list[Verdict]] = {}
    for verdict in analysis.verdicts:
        verdicts.setdefault(_key(verdict.overhead), []).append(verdict)
    controls = {_key(control): control for control in analysis.controls}
    keys = list(dict.fromkeys((*verdicts, *controls)))
    cells = list(dict.fromkeys(key[0] for key in keys))
    sections = (
        MetricSection(
            cell=key[0], name=key[1], verdicts=tuple(verdicts.get(key, ())), control=controls.get(key)
        )
        for key in keys
    )
    return tuple(sorted(sections, key=lambda metric: (cells.index(metric.cell), not metric.primary)))


def _key(overhead: Overhead) -> _Key:
    """Samples of one name in another unit or direction are another metric."""
    summary = overhead.summary
    return summary.cell, summary.metric, summary.unit, summary.direction


def environments(analysis: Analysis) -> tuple[str, ...]:
    """Names of all that ran or have a verdict, without native, in the order of the verdicts."""
    judged = (verdict.overhead.summary.environment for verdict in analysis.verdicts)
    tried = sorted({outcome.trial.environment.name for outcome in analysis.outcomes})
    return tuple(name for name in dict.fromkeys((*judged, *tried)) if name != NATIVE)


def cells(analysis: Analysis) -> tuple[Cell, ...]:
    ran = (cell_of(outcome) for outcome in analysis.outcomes if outcome.trial.series is None)
    swept = (estimate.curve.cell for estimate in analysis.curves)
    return tuple(dict.fromkeys((*(metric.cell for metric in metrics(analysis)), *ran, *swept)))


def layout_of(cell: Cell) -> Layout:
    """The cell's layout, without the neighbour, the order or the levels that its name may hold too."""
    return Layout.parse(re.split(r"[+~\[]", cell.layout, maxsplit=1)[0])


def instances_note(cell: Cell) -> str:
    """How the K instances make one figure; empty when there is one."""
    count = layout_of(cell).instances
    if count == 1:
        return ""
    return f"{count} instances at once: rates are summed; for times, the slowest instance counts"


def answers(analysis: Analysis) -> tuple[AnswerSection, ...]:
    """One sentence per environment and layout, from the verdicts on the metrics that were declared before the start."""
    return tuple(answer for name in environments(analysis) for answer in _answers(analysis, name))


def _answers(analysis: Analysis, name: str) -> Iterable[AnswerSection]:
    """What is known of the environment alone is said of it without a layout."""
    own = [answer for answer in analysis.answers if answer.environment == name]
    for answer in own:
        parts = tuple((part.word, one_line(part.text)) for part in answer.parts)
        yield AnswerSection(subject=one_line(answer.subject), parts=parts)
    beside = (*_missing_for_clocks(analysis, name), *_ordered(analysis, name))
    if beside or not own:
        unjudged = _unjudged(name, analysis.outcomes)
        parts = tuple((None, text) for text in beside or (unjudged,))
        yield AnswerSection(subject=one_line(name), parts=parts)


def _ordered(analysis: Analysis, name: str) -> Iterable[str]:
    for verdict in analysis.orders:
        if verdict.summary.environment == name:
            option = one_line(verdict.summary.option)
            yield f"{place(verdict.summary.cell)} by {option}: {one_line(verdict.claim)}"


def _missing_for_clocks(analysis: Analysis, name: str) -> Iterable[str]:
    """Cells without a verdict on the primary metric in which clocks were wrong."""
    judged = {
        verdict.overhead.summary.cell
        for verdict in analysis.verdicts
        if verdict.overhead.summary.primary and verdict.overhead.summary.environment == name
    }
    for remark in clock_faults(
        [outcome for outcome in analysis.outcomes if outcome.trial.environment.name == name]
    ):
        if remark.cell not in judged:
            yield f"{place(remark.cell)}: no verdict: {remark.said}"


def primaries(analysis: Analysis) -> tuple[tuple[str, MetricSection], ...]:
    """The metrics that were declared before the start, with what the answers call them."""
    declared = [metric for metric in metrics(analysis) if metric.primary]
    names = primary_names(metric.reference.summary for metric in declared)
    return tuple((one_line(names[metric.cell, metric.name]), metric) for metric in declared)


def open_claims(analysis: Analysis) -> tuple[str, ...]:
    """Why something is undecided and what would help, for each primary claim of which its answer does not say so."""
    named = primaries(analysis)
    if len({name for name, _ in named}) == 1:
        return ()
    several = len({metric.cell.layout for _, metric in named}) > 1
    return tuple(
        _claim(verdict, name, several=several)
        for name, metric in named
        for verdict in metric.verdicts
        if verdict.word is Word.UNDECIDED
    )


def _claim(verdict: Verdict, name: str, *, several: bool) -> str:
    environment, layout = verdict.overhead.summary.environment, verdict.overhead.summary.cell.layout
    where = f" on {one_line(layout)}" if several else ""
    return f"{one_line(environment)}{where}, {name}: {one_line(verdict.claim)}"


def place(cell: Cell) -> str:
    return f"{one_line(cell.workload)} on {one_line(cell.layout)}"


def _unjudged(name: str, outcomes: Iterable[Outcome]) -> str:
    own = [outcome for outcome in outcomes if outcome.trial.environment.name == name]
    lost = Counter(outcome.reason or outcome.status for outcome in own if outcome.status is not Status.OK)
    if not lost:
        return "no verdict: no complete block"
    reason, count = lost.most_common(1)[0]
    return one_line(f"no verdict: {count} of {counted(len(own), 'trial')} lost: {reason}")


def control_said(control: Overhead) -> str:
    """Say what native against native showed: a difference that means nothing on this machine."""
    floor = control.typical
    if floor.low is None:
        few = "1 block is" if floor.n == 1 else f"{floor.n} blocks are"
        return f"{point_percent(floor)}, no interval: {few} too few"
    return f"{point_percent(floor)}, interval {interval_percent(floor)} (n = {floor.n})"


def control_word(control: Overhead) -> str:
    """In the place of a verdict."""
    return "differs from itself" if differs_from_itself(control) else "the noise floor"


def unlike_natives(analysis: Analysis) -> tuple[str, ...]:
    """The primary metrics in which native differs from itself, with by how much."""
    return tuple(
        f"{control.summary.metric} ({place(control.summary.cell)}: {control_said(control)})"
        for control in primary_controls(analysis)
        if differs_from_itself(control)
    )


def primary_controls(analysis: Analysis) -> tuple[Overhead, ...]:
    return tuple(control for control in analysis.controls if control.summary.primary)
