# SPDX-License-Identifier: Apache-2.0
"""Which environments were stopped early and why, and what ``--fail-if`` was answered."""

from tare.drawing.words import counted, interval_percent
from tare.foreign import one_line
from tare.records import Analysis, Look, Overhead, Ruling, Stop
from tare.report import arrange
from tare.report.load_shapes import LoadEffectShape
from tare.report.shape import ByName, CellShape, EstimateShape, JsonShape, key
from tare.statistics.boundary import ERROR

_EARLY = {Stop.PRECISE, Stop.EQUIVALENT, Stop.DECIDED}
MARK = {Ruling.EXCEEDED: "fail", Ruling.KEPT: "pass", Ruling.UNDECIDED: "undecided"}
"""What a condition of ``--fail-if`` means for who asked."""


def stops_said(analysis: Analysis) -> tuple[str, ...]:
    """A sentence for each arm that was stopped before the last block, and what that spared."""
    stopped = [
        verdict.overhead
        for verdict in analysis.verdicts
        if verdict.overhead.summary.primary and verdict.overhead.stopped in _EARLY
    ]
    sentences = [_stop(overhead) for overhead in stopped]
    if stopped and analysis.spared_trials:
        were = "was" if analysis.spared_trials == 1 else "were"
        sentences.append(
            f"{counted(analysis.spared_trials, 'trial')} of the plan {were} not needed; the intervals allow for the "
            "looks"
        )
    return tuple(filter(None, (*sentences, second_look_said(analysis))))


def second_look_error(analysis: Analysis) -> float | None:
    """Chance that any look at a finished result that got more blocks misses; ``None`` if it got none."""
    spent = [look.spent for verdict in analysis.verdicts for look in verdict.overhead.looks]
    return ERROR * max(spent) if spent and max(spent) > 1 else None


def second_look_said(analysis: Analysis) -> str | None:
    """Say that blocks were added to a finished result, and what the intervals then hold; ``None`` if none were."""
    error = second_look_error(analysis)
    if error is None:
        return None
    added = max((session.added_blocks for session in analysis.sessions), key=len)
    looks = [look for verdict in analysis.verdicts for look in verdict.overhead.looks]
    first = max((look.blocks for look in looks if look.spent <= 1), default=0)
    times = "" if len(added) == 1 else f", in {len(added)} additions"
    were = "was" if sum(added) == 1 else "were"
    return (
        f"second look: {counted(sum(added), 'block')} {were} added{times} after a first look at {first}, which may "
        f"have used up the permitted error of {100 * ERROR:g} %; all looks together miss with a chance of at most "
        f"{100 * error:g} %"
    )


def _stop(overhead: Overhead) -> str:
    summary, blocks = overhead.summary, overhead.looks[-1].blocks
    where = f"{one_line(summary.environment)} ({arrange.place(summary.cell)})"
    seen = looks_said(overhead)
    return f"{where} was stopped after {counted(blocks, 'block')}: {overhead.stopped}{f' ({seen})' if seen else ''}"


def decisions_said(analysis: Analysis) -> tuple[str, ...]:
    """One sentence for each condition of ``--fail-if`` and environment."""
    return tuple(
        f"fail if {one_line(decision.condition.text)}: {MARK[decision.ruling]}: {one_line(decision.sentence)}"
        for decision in analysis.decisions
    )


def looks_said(overhead: Overhead) -> str:
    """What was seen at each look: ``after 10 blocks +1.2 to +8.0 %, after 16 ...``; empty with one look or none."""
    if len(overhead.looks) < 2:  # noqa: PLR2004 - one look is no series
        return ""
    return "; ".join(f"after {look.blocks} blocks {_interval(look)}" for look in overhead.looks)


def _interval(look: Look) -> str:
    return "no interval" if look.estimate.low is None else interval_percent(look.estimate)


class LookShape(JsonShape):
    """What a look that was reached showed."""

    blocks: int = key("how many blocks had been run")
    n: int = key("how many of them are complete")
    spent: float = key(
        "the share of the permitted error that is used up; above 1 where blocks were added to a finished result"
    )
    own_level: float = key("the level of this look's interval by itself", "level")
    interval: EstimateShape = key(
        "the overhead; the intervals of all looks hold together at its level", "estimate"
    )


class DecisionShape(JsonShape):
    """The answer to one condition of `--fail-if` for one environment."""

    condition: str = key("the condition as written", "condition.text")
    threshold: float = key("its threshold as a fraction", "condition.threshold")
    cell: CellShape | None = key("what it is about; `null` if the environment never ran")
    environment: str = key("its name in the campaign")
    metric: str | None = key("what it is about; `null` if the environment has no such metric")
    ruling: ByName[Ruling] = key("the answer; kept: the threshold is not exceeded")
    interval: EstimateShape | None = key(
        "the overhead by the decision's own boundary, at the look that decided, otherwise the last; `null` without one"
    )
    sentence: str = key("the answer in words, with what is missing if undecided")
    released: bool = key("as in a verdict")
    load: LoadEffectShape | None = key("as in a verdict")


class StopsJson(JsonShape):
    decisions: list[DecisionShape] = key("the answers to `--fail-if`; empty without a condition")
    second_look: str | None = key(
        "a sentence for a finished result that got more blocks (`tare run RESULT --more`): every verdict is then a "
        "second look, and `null` otherwise",
        second_look_said,
    )
