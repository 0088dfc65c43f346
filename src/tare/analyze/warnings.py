# SPDX-License-Identifier: Apache-2.0
"""Warnings beside a verdict: trials that rules excluded, arms with other programs, clocks, unseen iterations."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from tare.records import BLAS, NATIVE, Cell, ClockQuality, Exclusions, Outcome, Unlike, Verdict

MOST_EXCLUDED = 0.1
"""Share of an arm's trials; when rules exclude more, the rest may be another population.

docs/signals.md, "Rules that take a trial out"."""
UNSEEN = (
    "too many samples to look at iterations one by one: whether starts reached a steady state was not checked"
)


def with_warnings(
    verdicts: Sequence[Verdict], exclusions: Sequence[Exclusions], different: Sequence[Unlike]
) -> tuple[Verdict, ...]:
    """Add each warning to the verdicts that it concerns; existing ones stay.

    Excluding more than a tenth of one arm's trials concerns all verdicts of its cell, as native or the whole block may
    be missing. Another program concerns the verdicts of its environment.
    """
    return tuple(
        replace(verdict, warnings=(*verdict.warnings, *_warnings(verdict, exclusions, different)))
        for verdict in verdicts
    )


def with_order_warnings(
    verdicts: Sequence[Verdict], apart: Sequence[tuple[Cell, int]]
) -> tuple[Verdict, ...]:
    """Say for each cell how many of its blocks were not run together (``treat.blocks_out_of_order``)."""
    counts = Counter(cell for cell, _ in apart)
    return tuple(
        replace(verdict, warnings=(*verdict.warnings, _apart(counts[verdict.overhead.summary.cell])))
        if verdict.overhead.summary.cell in counts
        else verdict
        for verdict in verdicts
    )


def _apart(count: int) -> str:
    blocks = "a block was" if count == 1 else f"{count} blocks were"
    return f"{blocks} not run together: a drift of the machine may count as overhead here"


def _warnings(verdict: Verdict, exclusions: Sequence[Exclusions], different: Sequence[Unlike]) -> list[str]:
    summary = verdict.overhead.summary
    taken = [
        _taken_out(exclusions)
        for exclusions in exclusions
        if exclusions.cell == summary.cell and exclusions.share > MOST_EXCLUDED
    ]
    others = [
        _other(unlike)
        for unlike in different
        if (unlike.cell, unlike.environment) == (summary.cell, summary.environment)
    ]
    return [*taken, *others]


def _taken_out(lost: Exclusions) -> str:
    rules = ", ".join(f"{count} for {rule}" for rule, count in lost.excluded.items())
    return f"rules took out {sum(lost.excluded.values())} of {lost.trials} trials of {lost.environment} ({rules})"


def _other(unlike: Unlike) -> str:
    what = "BLAS kernel differs" if unlike.fact == BLAS else "binary differs"
    return f"{what}: {unlike.here} in {unlike.environment}, {unlike.native} natively"


def with_clock_warnings(verdicts: Sequence[Verdict], outcomes: Sequence[Outcome]) -> tuple[Verdict, ...]:
    """Put the warning on all verdicts of an environment; native's concerns every verdict."""
    warnings: dict[str, str] = {}
    for outcome in outcomes:
        for quality in outcome.clock_quality:
            for words in _backward(quality):
                name = outcome.trial.environment.name
                warnings.setdefault(name, f"a clock of {name} went backward: {words}")
    return tuple(
        replace(verdict, warnings=(*verdict.warnings, *_own(verdict, warnings))) for verdict in verdicts
    )


def _own(verdict: Verdict, warnings: dict[str, str]) -> list[str]:
    names = dict.fromkeys((NATIVE, verdict.overhead.summary.environment))
    return [warnings[name] for name in names if name in warnings]


def _backward(quality: ClockQuality) -> Iterator[str]:
    if quality.backward_exchanges:
        yield (
            f"{quality.backward_exchanges} of {quality.exchanges} readings passed between processors, "
            f"by up to {quality.worst_backward_ns} ns"
        )
    for name, clock in quality.clocks.items():
        if clock.backward_steps:
            yield f"{clock.backward_steps} of {clock.readings} readings of {name} in one thread"


def with_unseen_iterations(verdicts: Sequence[Verdict], repeated: Collection[str]) -> tuple[Verdict, ...]:
    """Warn where a workload has several iterations; ``repeated``: the names of these workloads."""
    return tuple(
        replace(verdict, warnings=(*verdict.warnings, UNSEEN))
        if verdict.overhead.summary.cell.workload in repeated
        else verdict
        for verdict in verdicts
    )
