# SPDX-License-Identifier: Apache-2.0
"""Many claims, rankings and checks in words and in order, for the terminal and for the page alike."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from tare.drawing.words import NO_VALUE, counted, quantity, quantity_interval
from tare.foreign import one_line
from tare.records import Analysis, ArmSpread, Effect, Estimate, Family, Ranking, VarianceSplit, Verdict, Word
from tare.units import DASH

RANKING_TITLE = "Ranking on the primary metric"
SAME_LETTER = "Same letter: not distinguished, not equal."
RANKING_EXPLANATION = (
    f"{SAME_LETTER} All pairs of a table are compared within blocks and hold together (Holm, 5 %); overlapping "
    "intervals are not what decides."
)
ACROSS_TITLE = "Geometric mean across workloads"
ACROSS_EXPLANATION = (
    "Of the primary metrics' overheads in one layout, each workload counting alike: a mix that nobody runs. The "
    "interval is over blocks, by itself."
)
CHECKS_TITLE = "Checks of the values behind the intervals"
CHECKS_EXPLANATION = "Each finds something in at most one clean series of a hundred, autocorrelation in two."
SPREAD_TITLE = "How runs spread"
SPREAD_EXPLANATION = (
    "Of single runs, by time per unit of work, so that of a rate the slow end is the low one: median with its exact "
    "interval, the value that 95 % of the runs do not exceed (from 20 runs on), and the slowest run. A description; "
    "it decides nothing."
)
VARIANCE_TITLE = "Where the noise of the primary metric arises"
VARIANCE_EXPLANATION = (
    "Standard deviations of the logarithm, about coefficients of variation, with 95 % intervals: what all runs of a "
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


def alone_said(verdict: Verdict) -> str:
    """Such as "; by itself slower": the word that did not hold among all claims, else empty."""
    if verdict.alone in (None, Word.UNDECIDED) or verdict.alone is verdict.word:
        return ""
    return f"; by itself {verdict.alone}"


def families_said(analysis: Analysis) -> tuple[str, ...]:
    """One sentence per family with several claims: what holds together."""
    sizes = {
        verdict.standing.family: verdict.standing.size for verdict in analysis.verdicts if verdict.standing
    }
    found = []
    if sizes.get(Family.PRIMARY, 0) > 1:
        found.append(
            f"The {sizes[Family.PRIMARY]} primary claims hold together: the chance that any of their words is wrong "
            "is 5 % at most for differences, and as much for equivalences (Holm). Each interval holds by itself."
        )
    if count := sizes.get(Family.EXPLORATORY):
        found.append(
            f"{counted(count, 'comparison')} on other metrics {'is' if count == 1 else 'are'} exploratory: of the "
            "words among them about 5 % may be wrong (Benjamini and Hochberg). Test what they suggest in a new "
            "campaign."
        )
    return tuple(found)


def remarks(analysis: Analysis, *, primary: bool) -> tuple[Remark, ...]:
    """What the checks found on the primary metrics, or on the others."""
    return tuple(
        Remark(verdict=verdict, sentence=finding.sentence, blocks=finding.effect is Effect.WIDENS)
        for verdict in analysis.verdicts
        if verdict.overhead.summary.primary is primary
        for finding in verdict.findings
        if finding.found and finding.effect is not Effect.STORED
    )


def equals_said(ranking: Ranking) -> str:
    """Such as "Within the margin of each other: docker and lxc."; empty when no pair was shown to be."""
    pairs = [f"{one_line(pair.first)} and {one_line(pair.second)}" for pair in ranking.pairs if pair.equal]
    return f"Shown to be within the margin of each other: {', '.join(pairs)}." if pairs else ""


def reach_said(ranking: Ranking) -> str:
    """Whether some pairs have so few blocks that they may not be told apart whatever they show; else empty."""
    needed = ranking.fewest_blocks
    if all(pair.difference.n >= needed for pair in ranking.pairs):
        return ""
    return f"Among {len(ranking.pairs)} pairs fewer than {needed} common blocks may be too few to tell two apart."


def told_rankings(analysis: Analysis) -> tuple[Ranking, ...]:
    """Those with two environments or more beside native; with one the verdict has said it."""
    return tuple(ranking for ranking in analysis.rankings if len(ranking.places) > 2)  # noqa: PLR2004


def p95(spread: ArmSpread) -> str:
    return NO_VALUE if spread.p95 is None else quantity(spread.p95, spread.unit)


def spread_interval(spread: ArmSpread) -> str:
    return quantity_interval(spread.p50, spread.unit)


def deviation(variance: Estimate | None) -> str:
    """``"1.2 % (0.8-2.0 %)"`` from a variance of logarithms; "not seen" where it came out below 0."""
    if variance is None:
        return NO_VALUE
    low, high = (100 * math.sqrt(max(0.0, bound or 0.0)) for bound in (variance.low, variance.high))
    point = "not seen" if variance.point <= 0 else f"{100 * math.sqrt(variance.point):.2g} %"
    return f"{point} ({low:.2g}{DASH}{high:.2g} %)"


def iterations_said(split: VarianceSplit) -> str:
    """How many iterations per start would use the time best, and from what."""
    if split.best_iterations is None or split.start_cost_s is None or split.iteration_cost_s is None:
        return NO_VALUE
    costs = f"start {quantity(split.start_cost_s, 's')}, run {quantity(split.iteration_cost_s, 's')}"
    return f"{split.best_iterations} ({costs})"


def shown_spreads(analysis: Analysis, *, show_all: bool) -> Iterable[ArmSpread]:
    return (spread for spread in analysis.spreads if show_all or spread.primary)
