# SPDX-License-Identifier: Apache-2.0
"""Verdicts with what was found about the values behind them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tare.analyze.diagnostics.checks import findings
from tare.records import Cell, Predecessors, Summary, Verdict


def diagnosed(verdicts: Sequence[Verdict], predecessors: Sequence[Predecessors] = ()) -> tuple[Verdict, ...]:
    """Check each verdict's log-ratios; what widens the interval has done so where it was estimated."""
    before = {(each.cell, each.environment): each.before for each in predecessors}
    return tuple(_diagnosed(verdict, before) for verdict in verdicts)


def _diagnosed(verdict: Verdict, before: Mapping[tuple[Cell, str], Mapping[int, str]]) -> Verdict:
    summary = verdict.overhead.summary
    known = before.get((summary.cell, summary.environment))
    found = findings(summary.log_ratios, _in_blocks(summary, known))
    return replace(verdict, findings=found)


def _in_blocks(summary: Summary, before: Mapping[int, str] | None) -> list[str] | None:
    if before is None or not all(block.block in before for block in summary.blocks):
        return None
    return [before[block.block] for block in summary.blocks]
