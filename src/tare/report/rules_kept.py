# SPDX-License-Identifier: Apache-2.0
"""The twelve rules of Hoefler and Belli (SC 2015), each with what this result shows of it.

The rules are in Tare's own words. A rule that only authors can keep is "not kept" until they do: the table says
what to write.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from tare.analyze.answers import joined
from tare.drawing.words import counted, least_level, quantity
from tare.foreign import one_line
from tare.records import Analysis, Check, Direction, Layout, Verdict
from tare.report.exports import TextTable

TITLE = "The twelve rules of Hoefler and Belli (SC 2015), as this result keeps them"
_MOST = 4
_COLUMNS = r"rp{0.33\linewidth}lp{0.45\linewidth}"
_PERCENTILES_FROM = 20


class HowKept(StrEnum):
    """How a result stands to a rule."""

    KEPT = "kept"
    NOT_KEPT = "not kept"
    NOT_APPLICABLE = "does not apply"


@dataclass(frozen=True, slots=True)
class RuleKept:
    """One rule."""

    number: int
    rule: str
    kept: HowKept
    evidence: str
    """From this result; for what is not kept also what to do."""


_Answer = tuple[HowKept, str]


def rules_kept(analysis: Analysis) -> tuple[RuleKept, ...]:
    """All twelve, in their order."""
    return tuple(
        RuleKept(number, rule, *answer(analysis)) for number, (rule, answer) in enumerate(_RULES.items(), 1)
    )


def rules_table(analysis: Analysis) -> TextTable:
    rows = tuple(
        (str(each.number), each.rule, each.kept.value, each.evidence) for each in rules_kept(analysis)
    )
    return TextTable(("", "rule", "", "evidence in this result"), rows, kinds=_COLUMNS)


def _base_case(analysis: Analysis) -> _Answer:
    if not analysis.verdicts:
        return HowKept.NOT_APPLICABLE, "no ratio is given"
    overhead = _first(analysis).overhead
    value = quantity(overhead.native_median, overhead.summary.unit)
    return HowKept.KEPT, (
        f"each of the {counted(len(analysis.verdicts), 'overhead')} stands beside native's own median, such as "
        f"{one_line(overhead.summary.metric)}: {value}"
    )


def _subset(analysis: Analysis) -> _Answer:
    skipped = [f"{each.environment} ({each.reason})" for each in analysis.skipped]
    workloads = dict.fromkeys(outcome.trial.workload.name for outcome in analysis.outcomes)
    said = (
        f"not measured, with the reason: {one_line('; '.join(skipped))}"
        if skipped
        else "none planned was left out"
    )
    return HowKept.NOT_KEPT, (
        f"{said}; but a journal cannot know why you chose {_some(list(workloads))} and these processors: say "
        "it in the paper"
    )


def _means(analysis: Analysis) -> _Answer:
    rates = {
        verdict.overhead.summary.metric
        for verdict in analysis.verdicts
        if verdict.overhead.summary.direction is Direction.MORE
    }
    said = (
        f"{counted(len(rates), 'rate')} became times per unit of work first" if rates else "there is no rate"
    )
    return HowKept.KEPT, f"{said}; no arithmetic mean of rates or ratios is taken anywhere"


def _ratios(analysis: Analysis) -> _Answer:
    if across := analysis.across_workloads:
        workloads = max(len(each.workloads) for each in across)
        return HowKept.KEPT, f"over {workloads} workloads the geometric mean is given, and called that"
    return (
        HowKept.KEPT,
        "no ratio is averaged over workloads; an overhead is estimated from the pairs of one quantity",
    )


def _intervals(analysis: Analysis) -> _Answer:
    estimates = [verdict.shown for verdict in analysis.verdicts]
    without = sum(estimate.low is None for estimate in estimates)
    if not estimates or without:
        which = f"{without} of {len(estimates)} comparisons have" if estimates else "no comparison has"
        return (
            HowKept.NOT_KEPT,
            f"{which} no interval: run six complete blocks or more (tare run RESULT --more)",
        )
    return HowKept.KEPT, (
        f"all {counted(len(estimates), 'comparison')} have intervals at {least_level(estimates)}, of "
        f"{min(estimate.n for estimate in estimates)} blocks or more"
    )


def _normality(analysis: Analysis) -> _Answer:
    findings = [
        finding
        for verdict in analysis.verdicts
        for finding in verdict.findings
        if finding.check is Check.NORMALITY
    ]
    seen = sum(finding.found for finding in findings)
    tested = f"it was tested in {counted(len(findings), 'series', 'series')} and rejected in {seen}"
    return HowKept.KEPT, (
        f"verdicts rest on ranks and assume no normality; {tested if findings else 'no series was long enough to test'}"
    )


def _comparison(analysis: Analysis) -> _Answer:
    primary = sum(verdict.overhead.summary.primary for verdict in analysis.verdicts)
    if all(verdict.shown.low is None for verdict in analysis.verdicts):
        return HowKept.NOT_KEPT, "nothing has an interval yet"
    return HowKept.KEPT, (
        f"studentized aligned ranks within blocks; {counted(primary, 'primary claim')} with intervals that hold "
        f"jointly (Bonferroni), {len(analysis.verdicts) - primary} others by Benjamini and Yekutieli; each word is "
        "read from its interval"
    )


def _summary(analysis: Analysis) -> _Answer:
    if not analysis.spreads:
        return (
            HowKept.NOT_KEPT,
            "no spread of single runs is known; tare show RESULT --all shows it when there are blocks",
        )
    long = sum(spread.p95 is not None for spread in analysis.spreads)
    tail = sum(verdict.overhead.tail_cost for verdict in analysis.verdicts)
    return HowKept.KEPT, (
        f"median and slowest run of {counted(len(analysis.spreads), 'series', 'series')}, the 95th percentile of "
        f"{long} (from {_PERCENTILES_FROM} runs on); mean and typical overhead differ notably in {tail}"
    )


def _setup(analysis: Analysis) -> _Answer:
    facts = {label: value for session in analysis.sessions for label, value in session.host.items()}
    unknown = [label for label, value in facts.items() if value.startswith("not readable")]
    if len({session.image_digest for session in analysis.sessions}) > 1:
        return (
            HowKept.NOT_KEPT,
            "the sessions of this result ran different images: state what differs, or measure again",
        )
    said = f"; not readable on this host: {', '.join(map(one_line, unknown))}" if unknown else ""
    return HowKept.KEPT, (
        f"{counted(len(facts), 'fact')} of the host, image digest, limits, order's seed and options are in the "
        f"artifact{said}"
    )


def _parallel(analysis: Analysis) -> _Answer:
    if all(_is_serial(outcome.trial.layout) for outcome in analysis.outcomes):
        return HowKept.NOT_APPLICABLE, "every trial was one process on one processor"
    skews = [outcome.barrier_skew_s for outcome in analysis.outcomes if outcome.barrier_skew_s is not None]
    started = f"instances started together, at most {quantity(max(skews), 's')} apart; " if skews else ""
    return HowKept.KEPT, (
        f"{started}the slowest instance counts, and rates are added; times are wall times by the host's clock, checked "
        "against each node's"
    )


def _is_serial(layout: Layout) -> bool:
    return layout.total_processors == layout.instances == 1


def _bounds(_: Analysis) -> _Answer:
    return HowKept.NOT_KEPT, (
        "Tare knows no upper bound of a workload; native execution is the reference, not a bound: state the machine's "
        "peak or a roofline where you have one"
    )


def _plots(analysis: Analysis) -> _Answer:
    curves = len(analysis.curves)
    joins = (
        f"; {counted(curves, 'curve')} mark each measured point, and lines between them only lead the eye"
        if curves
        else "; no points are joined"
    )
    return (
        HowKept.KEPT,
        f"figures show intervals, margin, native against itself, and the samples of each block{joins}",
    )


_RULES: dict[str, Callable[[Analysis], _Answer]] = {
    "A speed-up or overhead names its base case, and the base's absolute value": _base_case,
    "If only some benchmarks or resources are used, it is said why": _subset,
    "Arithmetic means for costs only, harmonic ones for rates": _means,
    "Ratios are not averaged; if they must be, by the geometric mean": _ratios,
    "A value is called deterministic, or has a confidence interval": _intervals,
    "Normality is not assumed without a check": _normality,
    "Comparisons rest on sound statistics": _comparison,
    "It is asked whether mean, median or a percentile matters": _summary,
    "All factors, their levels and the whole set-up are documented": _setup,
    "For parallel times it is said how they were measured, synchronized and summarized": _parallel,
    "Upper bounds of the performance are shown where possible": _bounds,
    "Plots hold what explains the result; lines join points only where that is valid": _plots,
}
"""Rule → its answer."""


def _first(analysis: Analysis) -> Verdict:
    primary = [verdict for verdict in analysis.verdicts if verdict.overhead.summary.primary]
    return (primary or list(analysis.verdicts))[0]


def _some(names: list[str]) -> str:
    shown = [one_line(name) for name in names]
    return joined(shown) if len(shown) <= _MOST else f"these {len(shown)} workloads"
