# SPDX-License-Identifier: Apache-2.0
"""From block log-ratios to overheads; docs/method.md gives the reasons."""

from collections.abc import Sequence
from dataclasses import replace

from tare.analyze.contrasts import contrast_of, controls_of
from tare.analyze.looks import interim_look, looks_at, repeated, repeated_mean
from tare.analyze.slow_runs import slow_runs, slow_starts
from tare.records import (
    CONTROL_NAME,
    Course,
    Direction,
    Estimate,
    Look,
    Overhead,
    Summary,
)
from tare.statistics.contrasts import estimate
from tare.statistics.estimate import as_fraction
from tare.statistics.series import widening
from tare.statistics.student import mean_estimate
from tare.treat.aggregate import median, time_per_work
from tare.treat.pairing import control_log_ratio, known_after, log_ratio

SPIKE_FACTOR = 1.2
_ROUNDING = 1e-12


def overhead(summary: Summary, course: Course | None = None) -> Overhead:
    """Estimate the overhead and everything reported with it; ``ValueError`` without a complete block.

    With a ``course`` the intervals are for its last look; without one the number of blocks was fixed.
    """
    if not summary.blocks:
        raise ValueError(f"{summary.environment}, {summary.metric}: no complete block to estimate from")
    if course and course.looks:
        summary = known_after(summary, course.looks[-1])
    looks = _looks(summary, course)
    typical, mean, noise_floor = _intervals(summary, looks)
    if typical.low is None:
        mean = replace(mean, low=None, high=None)  # a t interval over so few blocks is uselessly wide
    native = [value for block in summary.blocks for value in block.native]
    own = [block.environment for block in summary.blocks]
    is_control, most = summary.environment == CONTROL_NAME, looks[-1].blocks if looks else None
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
        slow=None if is_control else slow_runs(summary, most),
        slow_starts=None if is_control else slow_starts(summary, most),
        stopped=course.stop if course else None,
    )


def _looks(summary: Summary, course: Course | None) -> tuple[Look, ...]:
    if course is None:
        return ()
    return looks_at(summary, course) or (interim_look(summary, course),)


def _intervals(summary: Summary, looks: Sequence[Look]) -> tuple[Estimate, Estimate, Estimate]:
    """Typical overhead, mean overhead and noise floor, from the blocks of the last look."""
    if not looks:
        estimates = (
            estimate(contrast_of(summary)),
            _mean(summary),
            estimate(controls_of(summary)),
        )
        typical, mean, noise_floor = map(as_fraction, estimates)
        return typical, mean, noise_floor
    return (
        looks[-1].estimate,
        repeated_mean(looks, _until(summary, looks[-1].blocks)),
        repeated(looks, controls_of(summary, range(looks[-1].blocks))),
    )


def _until(summary: Summary, blocks: int) -> tuple[float, ...]:
    rows = zip(summary.blocks, _ratios_of_means(summary), strict=True)
    return tuple(value for block, value in rows if block.block < blocks)


def _mean(summary: Summary) -> Estimate:
    ratios = _ratios_of_means(summary)
    return mean_estimate(ratios, widening=widening(ratios))


def _ratios_of_means(summary: Summary) -> tuple[float, ...]:
    """Log-ratios of the means; with turns a block's log-ratio is typical, and its values are means over slices."""
    if not all(block.rounds is not None for block in summary.blocks):
        return summary.log_ratios
    ratio = control_log_ratio if summary.environment == CONTROL_NAME else log_ratio
    return tuple(ratio(replace(block, rounds=None), summary.direction) for block in summary.blocks)


def _has_tail_cost(typical: Estimate, mean: Estimate) -> bool:
    if typical.low is None or typical.high is None:
        return False
    return abs(mean.point - typical.point) > (typical.high - typical.low) / 2 + _ROUNDING


def _spike_rate(values: Sequence[float], direction: Direction) -> float:
    times = [time_per_work(value, direction) for value in values]
    limit = SPIKE_FACTOR * median(times, Direction.LESS)
    return sum(time > limit for time in times) / len(times)
