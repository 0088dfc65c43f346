# SPDX-License-Identifier: Apache-2.0
"""Trials that do not count, and why: failed, invalid, taken out, repeated, skipped; for every output."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from tare.drawing.words import counted
from tare.foreign import one_line
from tare.records import Analysis, Cell, Exclusions, Outcome, Overhead, Skipped, Status
from tare.report import in_json
from tare.report.arrange import place
from tare.report.page import PageSection, section
from tare.treat.pairing import cell_of

_NAMED_REPEATS = 5
_MOST_LOSSES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """Trials of one environment in one cell that failed or are invalid for the same reason."""

    environment: str
    cell: Cell
    status: Status
    reason: str
    blocks: tuple[int, ...]
    excerpt: str | None
    """Of the first trial that kept one."""


def losses(analysis: Analysis) -> tuple[Loss, ...]:
    """Failed and invalid trials, alike ones together, the most frequent first."""
    alike: dict[tuple[str, Cell, Status, str], list[Outcome]] = {}
    for outcome in analysis.outcomes:
        if outcome.status is not Status.OK:
            reason = one_line(outcome.reason or "no reason was recorded")
            key = (outcome.trial.environment.name, cell_of(outcome), outcome.status, reason)
            alike.setdefault(key, []).append(outcome)
    kinds = (
        Loss(
            environment=name,
            cell=cell,
            status=status,
            reason=reason,
            blocks=tuple(sorted(outcome.trial.block for outcome in outcomes)),
            excerpt=next((outcome.excerpt for outcome in outcomes if outcome.excerpt), None),
        )
        for (name, cell, status, reason), outcomes in alike.items()
    )
    return tuple(sorted(kinds, key=lambda loss: (-len(loss.blocks), loss.environment)))


def skip_said(skipped: Skipped) -> str:
    """Whether it was skipped at all times, such as "was skipped in 4 blocks"."""
    if skipped.blocks is None:
        return "was skipped"
    if not skipped.blocks:
        return "was missing when the run was last continued"
    return f"was skipped in {counted(skipped.blocks, 'block')}"


def repeated_said(analysis: Analysis) -> str | None:
    """Say which outcomes are left out as their trials had been run before; ``None`` when none is."""
    if not analysis.repeated_trials:
        return None
    names = list(dict.fromkeys(map(one_line, analysis.repeated_trials)))
    rest = f" and {len(names) - _NAMED_REPEATS} more" if len(names) > _NAMED_REPEATS else ""
    return (
        f"{counted(len(analysis.repeated_trials), 'outcome')} left out, as the journal holds an earlier one of the "
        f"same trial, which counts: {', '.join(names[:_NAMED_REPEATS])}{rest}. Two runs measured into this folder at "
        "once, or two folders were merged; times of such runs may have disturbed each other"
    )


def dropped(analysis: Analysis) -> tuple[Overhead, ...]:
    """Give the primary metrics' overheads that lack blocks."""
    primary = (verdict.overhead for verdict in analysis.verdicts if verdict.overhead.summary.primary)
    return tuple(overhead for overhead in primary if overhead.summary.dropped_blocks)


def exclusions_said(analysis: Analysis) -> tuple[tuple[Cell, str], ...]:
    """By cell: how many trials the rules took out of each environment; nothing where they took out none."""
    by_cell: dict[Cell, list[Exclusions]] = {}
    for each in analysis.exclusions:
        by_cell.setdefault(each.cell, []).append(each)
    return tuple(
        (cell, "; ".join(_arm(arm) for arm in arms))
        for cell, arms in by_cell.items()
        if any(arm.excluded for arm in arms)
    )


def _arm(arm: Exclusions) -> str:
    rules = ", ".join(f"{count} for {rule}" for rule, count in arm.excluded.items())
    said = f"{one_line(arm.environment)} {sum(arm.excluded.values())} of {counted(arm.trials, 'trial')}"
    return f"{said} ({rules})" if rules else said


def warnings_said(analysis: Analysis) -> tuple[tuple[Cell, str], ...]:
    """Each warning of the verdicts once, with the cell that it is about."""
    warnings = (
        (verdict.overhead.summary.cell, one_line(warning))
        for verdict in analysis.verdicts
        for warning in verdict.warnings
    )
    return tuple(dict.fromkeys(warnings))


def json(analysis: Analysis) -> dict[str, Any]:
    """Lost trials in ``tare show --json``, as docs/json.md describes them."""
    return {
        "lost": [_lost(outcome) for outcome in analysis.outcomes if outcome.status is not Status.OK],
        "exclusions": [_exclusions(each) for each in analysis.exclusions],
    }


def _lost(outcome: Outcome) -> dict[str, Any]:
    return {
        **in_json.trial(outcome),
        "status": outcome.status.value,
        "excluded_by": outcome.excluded_by and outcome.excluded_by.value,
        "reason": outcome.reason,
        "excerpt": outcome.excerpt,
    }


def _exclusions(arm: Exclusions) -> dict[str, Any]:
    return {
        "cell": in_json.cell(arm.cell),
        "environment": arm.environment,
        "trials": arm.trials,
        "excluded": {rule.value: count for rule, count in arm.excluded.items()},
    }


def skipped_json(skipped: Skipped) -> dict[str, Any]:
    return {
        "environment": skipped.environment,
        "reason": skipped.reason,
        "remedy": skipped.remedy,
        "blocks": skipped.blocks,
    }


def remarks(analysis: Analysis) -> Iterator[Text]:
    """The lines at the end of a terminal's tables."""
    yield from _losses_said(analysis)
    for cell, said in exclusions_said(analysis):
        yield Text(f"taken out by rules, {place(cell)}: {said}")
    for cell, warning in warnings_said(analysis):
        yield Text(f"Warning: {place(cell)}: {warning}", style="red")
    if repeated := repeated_said(analysis):
        yield Text(f"Warning: {repeated}", style="red")
    for skipped in analysis.skipped:
        reason = f"{one_line(skipped.environment)} {skip_said(skipped)}: {one_line(skipped.reason)}"
        yield Text(f"{reason}. To get it: {one_line(skipped.remedy)}")
    done = len(analysis.outcomes)
    if done < analysis.planned_trials:
        why = ": the time budget ended first" if analysis.cut_by_budget else ""
        yield Text(f"{done} of {analysis.planned_trials} planned trials were run{why}")


def _losses_said(analysis: Analysis) -> Iterator[Text]:
    kinds = losses(analysis)
    for loss in kinds[:_MOST_LOSSES]:
        what = f"{counted(len(loss.blocks), 'trial')} {loss.status}"
        yield Text(f"{one_line(loss.environment)} ({place(loss.cell)}): {what}: {loss.reason}", style="red")
    if len(kinds) > _MOST_LOSSES:
        yield Text(f"and {len(kinds) - _MOST_LOSSES} more kinds of loss; the report has them all")


def html(analysis: Analysis, left_out: str | None) -> PageSection:
    """The section of what did not run; ``left_out`` says which metrics the page leaves out."""
    return section(
        "lost",
        "What did not run",
        skipped=analysis.skipped,
        losses=losses(analysis),
        skip_said=skip_said,
        exclusions=exclusions_said(analysis),
        dropped=dropped(analysis),
        repeated_said=repeated_said(analysis),
        left_out=left_out,
        is_damaged=bool(analysis.integrity.warnings),
    )
