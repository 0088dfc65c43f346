# SPDX-License-Identifier: Apache-2.0
"""Which environments were stopped early and why, and what ``--fail-if`` was answered."""

from typing import Any

from tare.drawing.words import counted, interval_percent
from tare.foreign import one_line
from tare.records import Analysis, Decision, Look, Overhead, Ruling, Stop
from tare.report import arrange, in_json

_EARLY = {Stop.PRECISE, Stop.EQUIVALENT, Stop.DECIDED}
MARK = {Ruling.EXCEEDED: "fail", Ruling.KEPT: "pass", Ruling.UNDECIDED: "undecided"}
"""What a condition of ``--fail-if`` means for who asked."""


def stops_said(analysis: Analysis) -> tuple[str, ...]:
    """A sentence for each arm that was stopped before the last block, and what that spared."""
    stopped = [
        one.overhead
        for one in analysis.verdicts
        if one.overhead.summary.primary and one.overhead.stopped in _EARLY
    ]
    told = [_stop(overhead) for overhead in stopped]
    if told and analysis.spared_trials:
        told.append(
            f"{counted(analysis.spared_trials, 'trial')} of the plan were not needed; the intervals allow for the looks"
        )
    return tuple(told)


def _stop(overhead: Overhead) -> str:
    summary, blocks = overhead.summary, overhead.looks[-1].blocks
    where = f"{one_line(summary.environment)} ({arrange.place(summary.cell)})"
    seen = looks_said(overhead)
    return f"{where} was stopped after {counted(blocks, 'block')}: {overhead.stopped}{f' ({seen})' if seen else ''}"


def decisions_said(analysis: Analysis) -> tuple[str, ...]:
    """One sentence for each condition of ``--fail-if`` and environment."""
    return tuple(
        f"fail if {one_line(one.condition.text)}: {MARK[one.ruling]}: {one_line(one.sentence)}"
        for one in analysis.decisions
    )


def looks_said(overhead: Overhead) -> str:
    """What was seen at each look: ``after 10 blocks +1.2 to +8.0 %, after 16 ...``; empty with one look or none."""
    if len(overhead.looks) < 2:  # noqa: PLR2004 - one look is no series
        return ""
    return "; ".join(f"after {look.blocks} blocks {_interval(look)}" for look in overhead.looks)


def _interval(look: Look) -> str:
    return "no interval" if look.estimate.low is None else interval_percent(look.estimate)


def look_json(look: Look) -> dict[str, Any]:
    """One look with its interval."""
    return {
        "blocks": look.blocks,
        "n": look.n,
        "spent": look.spent,
        "own_level": look.level,
        "interval": in_json.estimate(look.estimate),
    }


def json(analysis: Analysis) -> dict[str, Any]:
    """Answers to ``--fail-if`` in ``tare show --json``, as docs/json.md describes them."""
    return {"decisions": [_decision(decision) for decision in analysis.decisions]}


def _decision(decision: Decision) -> dict[str, Any]:
    cell = decision.cell
    return {
        "condition": decision.condition.text,
        "threshold": decision.condition.threshold,
        "cell": cell and in_json.cell(cell),
        "environment": decision.environment,
        "metric": decision.metric,
        "ruling": decision.ruling.name.lower(),
        "interval": decision.interval and in_json.estimate(decision.interval),
        "sentence": decision.sentence,
    }
