# SPDX-License-Identifier: Apache-2.0
"""Verdicts with what was found about the values behind them; a blocked interval decides nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tare.analyze.diagnostics.checks import findings
from tare.records import Cell, Effect, Finding, Overhead, Predecessors, Summary, Verdict, Word


def diagnosed(verdicts: Sequence[Verdict], predecessors: Sequence[Predecessors] = ()) -> tuple[Verdict, ...]:
    """Check each verdict's log-ratios; where a check blocks the interval the word is "not enough data"."""
    before = {(each.cell, each.environment): each.before for each in predecessors}
    return tuple(_diagnosed(verdict, before) for verdict in verdicts)


def _diagnosed(verdict: Verdict, before: Mapping[tuple[Cell, str], Mapping[int, str]]) -> Verdict:
    summary = verdict.overhead.summary
    known = before.get((summary.cell, summary.environment))
    found = findings(summary.log_ratios, _in_blocks(summary, known))
    judged = replace(verdict, findings=found)
    blocking = [each for each in found if each.found and each.effect is Effect.BLOCKS]
    return _blocked(judged, blocking) if blocking else judged


def _in_blocks(summary: Summary, before: Mapping[int, str] | None) -> list[str] | None:
    if before is None or not all(block.block in before for block in summary.blocks):
        return None
    return [before[block.block] for block in summary.blocks]


def _blocked(verdict: Verdict, blocking: Sequence[Finding]) -> Verdict:
    name, n = verdict.overhead.summary.environment, verdict.overhead.typical.n
    reasons = "; ".join(each.sentence for each in blocking)
    return replace(
        verdict,
        overhead=_without_interval(verdict.overhead),
        word=Word.UNDECIDED,
        sentence=f"{name}: not enough data: {reasons} (n = {n})",
        more_blocks=None,
        below_noise_floor=False,
    )


def _without_interval(overhead: Overhead) -> Overhead:
    return replace(
        overhead,
        typical=replace(overhead.typical, low=None, high=None),
        mean=replace(overhead.mean, low=None, high=None),
        tail_cost=False,
    )
