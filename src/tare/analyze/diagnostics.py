# SPDX-License-Identifier: Apache-2.0
"""Checks of the values behind an interval, which widen or qualify it; docs/method.md gives the rates."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tare.records import Cell, Check, Effect, Finding, Predecessors, Summary, Verdict
from tare.statistics.series import FEWEST_FOR_LAG, carry_over, jump, kendall, lag_limit, lag_one, widening
from tare.statistics.shape import normality, skew, two_groups
from tare.units import signed

REMARKABLE = 0.01
"""A qualifying check has a finding at this p-value or less."""
FEWEST = 10
"""With fewer values the other checks see too little to be worth their false alarms."""
FEWEST_FOR_NORMALITY = 5


def diagnosed(verdicts: Sequence[Verdict], predecessors: Sequence[Predecessors] = ()) -> tuple[Verdict, ...]:
    """Check each verdict's log-ratios; any widening was already applied in the estimation."""
    before = {(each.cell, each.environment): each.before for each in predecessors}
    return tuple(_diagnosed(verdict, before) for verdict in verdicts)


def _diagnosed(verdict: Verdict, before: Mapping[tuple[Cell, str], Mapping[int, str]]) -> Verdict:
    summary = verdict.overhead.summary
    known = before.get((summary.cell, summary.environment))
    checked = findings(summary.log_ratios, _in_blocks(summary, known))
    return replace(verdict, findings=checked)


def _in_blocks(summary: Summary, before: Mapping[int, str] | None) -> list[str] | None:
    if before is None or not all(block.block in before for block in summary.blocks):
        return None
    return [before[block.block] for block in summary.blocks]


def findings(log_ratios: Sequence[float], before: Sequence[str] | None) -> tuple[Finding, ...]:
    """Run every check for which there are enough values.

    ``log_ratios`` are in the order of their blocks; ``before`` names what ran just before each; ``None`` if unknown.
    """
    return tuple(_all(log_ratios, before))


def _all(values: Sequence[float], before: Sequence[str] | None) -> Iterator[Finding]:
    n = len(values)
    if n >= FEWEST_FOR_LAG:
        yield _autocorrelation(values)
    if n >= FEWEST:
        yield _drift(values)
        yield _change_point(values)
        if before is not None and (effect := carry_over(values, before)):
            sentence = f"what ran just before makes a difference (p = {effect[1]:.2g})"
            yield _by_p(Check.CARRY_OVER, effect[0], effect[1], n, sentence)
        yield _modes(values)
        yield _symmetry(values)
    if n >= FEWEST_FOR_NORMALITY:
        statistic, p = normality(values)
        yield _finding(Check.NORMALITY, Effect.STORED, statistic, p, n, "")


def _autocorrelation(values: Sequence[float]) -> Finding:
    lag, limit = lag_one(values), lag_limit(len(values))
    sentence = (
        f"successive blocks depend on each other (lag-1 autocorrelation {lag:.2f}, limit {limit:.2f}), "
        f"so the interval is {widening(values):.1f} times as wide as of independent ones"
    )
    return Finding(
        check=Check.AUTOCORRELATION,
        effect=Effect.WIDENS,
        statistic=lag,
        limit=limit,
        p=None,
        n=len(values),
        found=lag > limit,
        sentence=sentence if lag > limit else "",
    )


def _drift(values: Sequence[float]) -> Finding:
    tau, p = kendall(values)
    way = "rose" if tau > 0 else "fell"
    sentence = f"the overhead {way} over the blocks (Kendall's tau {signed(f'{tau:.2f}')}, p = {p:.2g})"
    return _by_p(Check.DRIFT, tau, p, len(values), sentence)


def _change_point(values: Sequence[float]) -> Finding:
    change = jump(values)
    sentence = f"the overhead changed after {change.after} of {len(values)} blocks (p = {change.p:.2g})"
    return _by_p(Check.CHANGE_POINT, change.statistic, change.p, len(values), sentence)


def _modes(values: Sequence[float]) -> Finding:
    groups = two_groups(values)
    lower, upper = (_percent(centre) for centre in (groups.lower, groups.upper))
    sentence = (
        f"the blocks fall into two groups, at {lower} and {upper} (the smaller holds "
        f"{100 * groups.smaller_share:.0f} %, p = {groups.p:.2g}): the typical overhead may be neither"
    )
    return _by_p(Check.MODES, groups.statistic, groups.p, len(values), sentence)


def _symmetry(values: Sequence[float]) -> Finding:
    statistic, p = skew(values)
    sentence = (
        f"the blocks lean to the {'slower' if statistic > 0 else 'faster'} side (p = {p:.2g}); "
        "few runs make the mean, and the typical overhead is another"
    )
    return _by_p(Check.SYMMETRY, statistic, p, len(values), sentence)


def _by_p(check: Check, statistic: float, p: float, n: int, sentence: str) -> Finding:
    return _finding(check, Effect.QUALIFIES, statistic, p, n, sentence)


def _finding(check: Check, effect: Effect, statistic: float, p: float, n: int, sentence: str) -> Finding:
    finding = p <= REMARKABLE
    return Finding(
        check=check,
        effect=effect,
        statistic=statistic,
        limit=None,
        p=p,
        n=n,
        found=finding,
        sentence=sentence if finding else "",
    )


def _percent(log_ratio: float) -> str:
    return f"{signed(f'{100 * math.expm1(min(log_ratio, 700.0)):.3g}')} %"
