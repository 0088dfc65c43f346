# SPDX-License-Identifier: Apache-2.0
"""Block log-ratios to overheads, and the A/A control; docs/method.md gives the reasons."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tare.analyze.contrasts import contrast_of, controls_of, estimate
from tare.analyze.looks import Arm, control_course, interim_look, looks_at, repeated, repeated_mean, seen
from tare.analyze.scale import as_fraction, transformed
from tare.analyze.student import mean_estimate
from tare.records import CONTROL_NAME, BlockValue, Cell, Course, Direction, Estimate, Look, Overhead, Summary
from tare.treat.aggregate import median, time_per_work

__all__ = ["CONTROL_NAME", "SPIKE_FACTOR", "as_fraction", "controls", "overhead", "transformed"]

SPIKE_FACTOR = 1.2
_ROUNDING = 1e-12


def overhead(summary: Summary, course: Course | None = None) -> Overhead:
    """Estimate the overhead and all that must stand beside it; ``ValueError`` without a complete block.

    With a ``course`` the intervals are those at its last look; without one the number of blocks was fixed.
    """
    if not summary.blocks:
        raise ValueError(f"{summary.environment}, {summary.metric}: no complete block to estimate from")
    looks = _looks(summary, course)
    typical, mean, noise_floor = _intervals(summary, looks)
    if typical.low is None:
        mean = replace(mean, low=None, high=None)  # a t interval over so few blocks is wide beyond use
    native = [value for block in summary.blocks for value in block.native]
    own = [block.environment for block in summary.blocks]
    return Overhead(
        summary=summary,
        typical=typical,
        mean=mean,
        tail_cost=_has_tail_cost(typical, mean),
        spike_rate=_spike_rate(own, summary.direction),
        native_spike_rate=_spike_rate(native, summary.direction),
        native_median=median(native, summary.direction),
        noise_floor=noise_floor,
        looks=looks,
        stopped=course.stop if course else None,
    )


def _looks(summary: Summary, course: Course | None) -> tuple[Look, ...]:
    if course is None:
        return ()
    return looks_at(summary, course) or (interim_look(summary, course),)


def _intervals(summary: Summary, looks: Sequence[Look]) -> tuple[Estimate, Estimate, Estimate]:
    """Typical overhead, mean overhead and noise floor, of the blocks that the last look took in."""
    if not looks:
        estimates = (
            estimate(contrast_of(summary)),
            mean_estimate(summary.log_ratios),
            estimate(controls_of(summary)),
        )
        typical, mean, noise_floor = map(as_fraction, estimates)
        return typical, mean, noise_floor
    return (
        looks[-1].estimate,
        repeated_mean(looks, seen(summary, looks).log_ratios),
        repeated(looks, controls_of(summary, range(looks[-1].blocks))),
    )


def controls(
    summaries: Sequence[Summary], courses: Mapping[Arm, Course] | None = None
) -> tuple[Overhead, ...]:
    """Make the A/A rows, one per cell and metric: the second native slot as if it were an environment.

    A row uses each block that is complete for any environment of its cell, so that one environment's
    failures do not thin the control of the others.
    """
    groups: dict[tuple[Cell, str, str, Direction], list[Summary]] = {}
    for summary in summaries:
        key = (summary.cell, summary.metric, summary.unit, summary.direction)
        groups.setdefault(key, []).append(summary)
    rows = (_control_summary(group) for group in groups.values())
    return tuple(overhead(row, control_course(courses or {}, row.cell)) for row in rows if row.blocks)


def _has_tail_cost(typical: Estimate, mean: Estimate) -> bool:
    if typical.low is None or typical.high is None:
        return False
    return abs(mean.point - typical.point) > (typical.high - typical.low) / 2 + _ROUNDING


def _spike_rate(values: Sequence[float], direction: Direction) -> float:
    times = [time_per_work(value, direction) for value in values]
    limit = SPIKE_FACTOR * median(times, Direction.LESS)
    return sum(time > limit for time in times) / len(times)


def _control_summary(group: Sequence[Summary]) -> Summary:
    found: dict[int, tuple[BlockValue, float]] = {}
    for summary in group:
        for block, log_ratio in zip(summary.blocks, summary.control_log_ratios, strict=True):
            found[block.block] = (replace(block, environment=block.native[1]), log_ratio)
    rows = [found[number] for number in sorted(found)]
    begun = len(group[0].blocks) + group[0].dropped_blocks
    log_ratios = tuple(log_ratio for _, log_ratio in rows)
    return replace(
        group[0],
        environment=CONTROL_NAME,
        blocks=tuple(block for block, _ in rows),
        log_ratios=log_ratios,
        control_log_ratios=log_ratios,
        dropped_blocks=begun - len(rows),
    )
