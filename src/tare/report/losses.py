# SPDX-License-Identifier: Apache-2.0
"""Trials that do not count, and why: failed, invalid, taken out, repeated, skipped; for every output."""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.text import Text

from tare.analyze.load_said import blocks_left_out
from tare.drawing.words import counted
from tare.foreign import one_line
from tare.records import (
    Analysis,
    Cell,
    Exclusions,
    Outcome,
    Overhead,
    Rule,
    Skipped,
    Status,
    Verdict,
)
from tare.records.scaled import Short
from tare.report.arrange import place
from tare.report.page import PageSection, section
from tare.report.shape import ArmShape, JsonShape, TrialShape, key
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


def busy(analysis: Analysis) -> tuple[tuple[Verdict, str], ...]:
    """The primary verdicts that leave busy blocks out, with how many and who took how much."""
    primary = (verdict for verdict in analysis.verdicts if verdict.overhead.summary.primary)
    return tuple((verdict, said) for verdict in primary if (said := blocks_left_out(verdict)))


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


class LostShape(TrialShape):
    """One object per failed or invalid trial."""

    status: Status = key("how it ended: failed or invalid")
    excluded_by: Rule | None = key("the rule that made it invalid; `null` if none did")
    reason: str | None = key("why, as a sentence")
    excerpt: str | None = key("a piece of output that shows why")


class ExclusionsShape(ArmShape):
    """One object per cell and environment, native included; [signals.md](signals.md) explains the rules."""

    trials: int = key("all that were run")
    excluded: dict[Rule, int] = key("rule \N{RIGHTWARDS ARROW} how many trials it excluded; empty if none")


class SkippedShape(JsonShape):
    """An environment that did not run, or not in all blocks."""

    environment: str = key("its name in the campaign")
    reason: str = key("why")
    remedy: str = key("what to do about it")
    blocks: int | None = key("how many blocks ran without it; `null`: it never ran")


class ScaledShape(JsonShape):
    """What the host measured otherwise than the campaign asked, or not at all, as it cannot."""

    what: str = key("what it is about, in words")
    asked: str = key("what was asked for; empty where `what` says it all")
    here: str | None = key("what is measured instead; `null`: it is left out")
    why: str = key("why")
    short_of: Short = key("what the host has too little of")
    workloads: list[str] = key("the workloads that it concerns; empty: all")
    layouts: list[str] = key("the settings that it concerns, as they are measured here; empty: all")
    sentence: str = key("the same as a sentence")


class LossesJson(JsonShape):
    scaled: list[ScaledShape] = key(
        "each point in which the host measured otherwise than the campaign asked, or not at all; empty without "
        "`fit = true`"
    )
    lost: list[LostShape] = key(
        "failed and invalid trials",
        lambda analysis: [outcome for outcome in analysis.outcomes if outcome.status is not Status.OK],
    )
    exclusions: list[ExclusionsShape] = key("how many trials of each environment were excluded by rules")


def remarks(analysis: Analysis) -> Iterator[Text]:
    """The lines at the end of a terminal's tables."""
    yield from _losses_said(analysis)
    for cell, said in exclusions_said(analysis):
        yield Text(f"excluded by rules, {place(cell)}: {said}")
    for cell, warning in warnings_said(analysis):
        yield Text(f"Warning: {place(cell)}: {warning}", style="red")
    if repeated := repeated_said(analysis):
        yield Text(f"Warning: {repeated}", style="red")
    for point in analysis.scaled:
        yield Text(f"not as asked: {one_line(point.sentence)}")
    for skipped in analysis.skipped:
        reason = f"{one_line(skipped.environment)} {skip_said(skipped)}: {one_line(skipped.reason)}"
        yield Text(f"{reason}. To get it: {one_line(skipped.remedy)}")
    if unfinished := _not_run(analysis):
        yield Text(unfinished)


def _not_run(analysis: Analysis) -> str | None:
    """How many of the planned trials were run; ``None`` if all were."""
    done = len(analysis.outcomes)
    if done >= analysis.planned_trials:
        return None
    why = ": the time budget ended first" if analysis.cut_by_budget else ""
    return f"{done} of {analysis.planned_trials} planned trials were run{why}"


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
        scaled=[point.sentence for point in analysis.scaled],
        skipped=analysis.skipped,
        losses=losses(analysis),
        skip_said=skip_said,
        exclusions=exclusions_said(analysis),
        dropped=dropped(analysis),
        busy=busy(analysis),
        repeated_said=repeated_said(analysis),
        left_out=left_out,
        not_run=_not_run(analysis),
        is_damaged=bool(analysis.integrity.warnings),
    )
