# SPDX-License-Identifier: Apache-2.0
"""Native against itself, row by row, and whether any row shows that the machine treats equal runs differently."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tare.analyze.estimation import overhead
from tare.analyze.looks import Arm, control_course, reach_of, seen
from tare.records import CONTROL_NAME, BlockValue, Cell, Course, Direction, Overhead, Summary
from tare.statistics.evidence import difference_p
from tare.statistics.multiplicity import adjusted, holds


def controls(
    summaries: Sequence[Summary], courses: Mapping[Arm, Course] | None = None
) -> tuple[Overhead, ...]:
    """Make the A/A rows, one per cell and metric: the second native slot as if it were an environment.

    A row uses each block that is complete for any environment of its cell, so that one environment's failures do not
    thin the control of the others. All rows are one family: in at most one good campaign in twenty does any row falsely
    say that native differs from itself (Holm).
    """
    groups: dict[tuple[Cell, str, str, Direction], list[Summary]] = {}
    for summary in summaries:
        key = (summary.cell, summary.metric, summary.unit, summary.direction)
        groups.setdefault(key, []).append(summary)
    rows = (_control_summary(group) for group in groups.values())
    judged = [overhead(row, control_course(courses or {}, row.cell)) for row in rows if row.blocks]
    together = adjusted([_difference_p(row) for row in judged], exploratory=False)
    return tuple(replace(row, native_p=p) for row, p in zip(judged, together, strict=True))


def differs_from_itself(control: Overhead) -> bool:
    """Whether this row shows that two native runs were not alike, among all rows of its campaign."""
    return control.native_p is not None and holds(control.native_p)


def _difference_p(control: Overhead) -> float:
    """P-value of "both natives are alike", unadjusted; 1 where there is no interval."""
    if control.typical.low is None:
        return 1.0
    return difference_p(seen(control.summary, control.looks), reach_of(control))


def _as_control(block: BlockValue) -> BlockValue:
    """The second native in the environment's place; slow slices are not examined in these rows."""
    rounds = block.rounds and replace(block.rounds, log_ratio=block.rounds.control_log_ratio)
    return replace(block, environment=block.native[1], rounds=rounds)


def _control_summary(group: Sequence[Summary]) -> Summary:
    control_summary: dict[int, tuple[BlockValue, float]] = {}
    for summary in group:
        for block, control in zip(summary.blocks, summary.control_log_ratios, strict=True):
            control_summary[block.block] = (_as_control(block), control)
    rows = [control_summary[number] for number in sorted(control_summary)]
    begun = len(group[0].blocks) + len(group[0].busy_blocks) + group[0].dropped_blocks
    left_out = {block.block: _as_control(block) for summary in group for block in summary.busy_blocks}
    busy = [left_out[number] for number in sorted(left_out.keys() - control_summary.keys())]
    log_ratios = tuple(log_ratio for _, log_ratio in rows)
    return replace(
        group[0],
        environment=CONTROL_NAME,
        blocks=tuple(block for block, _ in rows),
        log_ratios=log_ratios,
        control_log_ratios=log_ratios,
        dropped_blocks=max(0, begun - len(rows) - len(busy)),
        busy_blocks=tuple(busy),
    )
