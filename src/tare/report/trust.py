# SPDX-License-Identifier: Apache-2.0
"""How far intervals can be trusted: families of claims, checks, spreads and levels of noise, for every output."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text

from tare.drawing.table import figures_table, print_heading
from tare.drawing.words import NO_VALUE, counted, quantity
from tare.foreign import one_line
from tare.records import (
    Analysis,
    ArmSpread,
    Cell,
    Effect,
    Estimate,
    Family,
    Overhead,
    SharingLoss,
    VarianceSplit,
    Verdict,
    Word,
)
from tare.report.arrange import place
from tare.units import DASH

CHECKS_TITLE = "Checks of the values behind the intervals"
CHECKS_EXPLANATION = "Each finds something in at most one clean series of a hundred, autocorrelation in two."
SPREAD_TITLE = "How runs spread"
SPREAD_EXPLANATION = (
    "Single runs, by time per unit of work (the slow end of a rate is its low end): the median with its exact "
    "interval, the 95th percentile (from 20 runs on) and the slowest run. Descriptive only: no verdict depends on it."
)
_TWO_DIGITS_UP_TO = 99.5
VARIANCE_TITLE = "Where the noise of the primary metric arises"
VARIANCE_EXPLANATION = (
    "Standard deviations of the logarithm, close to coefficients of variation, with 95 % intervals: what all runs of a "
    "block share, what differs from start to start, what differs between the iterations after the first within one "
    "start. Iterations never count as n."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """What a check found on one metric of one environment."""

    verdict: Verdict
    sentence: str
    blocks: bool
    """Whether the interval is wider for it."""


def alone_said(verdict: Verdict | SharingLoss) -> str:
    """Such as "; by itself slower": the word that did not hold among all claims; else empty."""
    if verdict.alone in (None, Word.UNDECIDED) or verdict.alone is verdict.word:
        return ""
    # It may have been within a wider margin than the campaign's.
    return f"; by itself {'within a margin' if verdict.alone is Word.WITHIN else verdict.alone}"


def families_said(analysis: Analysis) -> tuple[str, ...]:
    """One sentence per family with several claims: what holds jointly."""
    sizes = {
        verdict.standing.family: verdict.standing.size for verdict in analysis.verdicts if verdict.standing
    }
    sentences = []
    if sizes.get(Family.PRIMARY, 0) > 1:
        sentences.append(
            f"The intervals of the {sizes[Family.PRIMARY]} primary claims hold jointly at 95 %, and each verdict is "
            "read from its own: the chance that any of them is wrong is at most 5 %."
        )
    if count := sizes.get(Family.EXPLORATORY):
        sentences.append(
            f"{counted(count, 'comparison')} on other metrics {'is' if count == 1 else 'are'} exploratory: about 5 % "
            "of such verdicts, other than undecided, may be wrong (Benjamini and Yekutieli). Confirm what "
            f"{'it suggests' if count == 1 else 'they suggest'} in a new campaign."
        )
    return tuple(sentences)


def tail_said(overhead: Overhead) -> str:
    """Which way the mean parts from the typical run; empty where it does not."""
    if not overhead.tail_cost:
        return ""
    return "tail cost" if overhead.mean.point > overhead.typical.point else "tail gain"


def remarks(analysis: Analysis, *, primary: bool) -> tuple[Remark, ...]:
    """What the checks found on the primary metrics, or on the others."""
    return tuple(
        Remark(verdict=verdict, sentence=finding.sentence, blocks=finding.effect is Effect.WIDENS)
        for verdict in analysis.verdicts
        if verdict.overhead.summary.primary is primary
        for finding in verdict.findings
        if finding.found and finding.effect is not Effect.STORED
    )


def p95(spread: ArmSpread) -> str:
    return NO_VALUE if spread.p95 is None else quantity(spread.p95, spread.unit)


def deviation(variance: Estimate | None) -> str:
    """``"1.2 % (0.8-2.0 %)"`` from a variance of logarithms; "not seen" where it came out below 0."""
    if variance is None:
        return NO_VALUE
    low, high = (_deviation_percent(bound or 0.0) for bound in (variance.low, variance.high))
    point = "not seen" if variance.point <= 0 else f"{_deviation_percent(variance.point)} %"
    return f"{point} ({low}{DASH}{high} %)"


def _deviation_percent(variance: float) -> str:
    """Two digits, but no exponent: "180", not "1.8e+02"."""
    percent = 100 * math.sqrt(max(0.0, variance))
    return f"{percent:.2g}" if percent < _TWO_DIGITS_UP_TO else f"{percent:.0f}"


def iterations_said(split: VarianceSplit) -> str:
    """How many iterations per start would use the time best, and from what."""
    if split.best_iterations is None or split.start_cost_s is None or split.iteration_cost_s is None:
        return NO_VALUE
    costs = f"start {quantity(split.start_cost_s, 's')}, run {quantity(split.iteration_cost_s, 's')}"
    return f"{split.best_iterations} ({costs})"


def table(analysis: Analysis, console: Console, *, show_all: bool) -> None:
    """Print levels of noise, what checks found, and what holds together; with ``show_all`` spreads too."""
    if show_all:
        _print_spreads(analysis, console)
    _print_variances(analysis, console)
    _print_remarks(analysis, console, show_all=show_all)
    for sentence in families_said(analysis):
        console.print(Text(f"\n{sentence}", style="dim"))


def _print_spreads(analysis: Analysis, console: Console) -> None:
    groups: dict[tuple[Cell, str, str], list[ArmSpread]] = {}
    for spread in analysis.spreads:
        groups.setdefault((spread.cell, spread.metric, spread.unit), []).append(spread)
    if not groups:
        return
    print_heading(SPREAD_TITLE, SPREAD_EXPLANATION, console)
    for (cell, metric, _), spreads in groups.items():
        console.print(Text(f"\n{place(cell)}: {one_line(metric)}", style="bold"))
        rows = [
            (
                one_line(spread.environment),
                quantity(spread.p50.point, spread.unit),
                p95(spread),
                quantity(spread.slowest, spread.unit),
                str(spread.n),
            )
            for spread in spreads
        ]
        console.print(figures_table(("environment", "median", "p95", "slowest", "n runs"), rows))


def _print_variances(analysis: Analysis, console: Console) -> None:
    shown = [split for split in analysis.variances if split.between_iterations]
    if not shown:
        return
    print_heading(VARIANCE_TITLE, VARIANCE_EXPLANATION, console)
    for split in shown:
        where = f"{one_line(split.environment)} ({place(split.cell)})"
        levels = (
            f"blocks {deviation(split.between_blocks)}, "
            f"starts {deviation(split.between_starts)}, "
            f"iterations {deviation(split.between_iterations)}"
        )
        console.print(Text(f"{where}: {levels} (n = {split.between_starts.n} blocks)"))
        if (best := iterations_said(split)) != NO_VALUE:
            console.print(Text(f"  iterations per start that use the time best: about {best}"))


def _print_remarks(analysis: Analysis, console: Console, *, show_all: bool) -> None:
    primary = remarks(analysis, primary=True)
    others = remarks(analysis, primary=False)
    if not (primary or others):
        return
    print_heading(CHECKS_TITLE, CHECKS_EXPLANATION, console)
    for remark in (*primary, *(others if show_all else ())):
        summary = remark.verdict.overhead.summary
        where = f"{one_line(summary.environment)} ({place(summary.cell)}), {one_line(summary.metric)}"
        console.print(Text(f"{where}: {remark.sentence}", style="red" if remark.blocks else "yellow"))
    if others and not show_all:
        console.print(
            Text(f"{counted(len(others), 'finding')} on other metrics; --all shows them", style="dim")
        )


def page_values(analysis: Analysis) -> Mapping[str, Any]:
    """What the template of comparisons needs of this."""
    return {
        "checks_title": CHECKS_TITLE,
        "checks_explanation": CHECKS_EXPLANATION,
        "families": families_said(analysis),
        "primary_remarks": remarks(analysis, primary=True),
        "other_remarks": remarks(analysis, primary=False),
        "variance_title": VARIANCE_TITLE,
        "variance_explanation": VARIANCE_EXPLANATION,
        "variances": analysis.variances,
        "deviation": deviation,
        "iterations_said": iterations_said,
        "spread_title": SPREAD_TITLE,
        "spread_explanation": SPREAD_EXPLANATION,
        "spreads": analysis.spreads,
        "p95": p95,
    }
