# SPDX-License-Identifier: Apache-2.0
"""Cost of the environments' own host processes, and waiting times of virtual processors for a real one."""

from collections.abc import Sequence

from tare.records import HelperCost, HelperSummary, TimeEstimate, WaitCost, WaitSummary
from tare.statistics.median import median_estimate


def helper_costs(summaries: Sequence[HelperSummary]) -> tuple[HelperCost, ...]:
    """Medians over blocks: CPU times near 0 are too skewed for the signed ranks."""
    return tuple(
        HelperCost(
            summary=summary,
            cpu_s=time_estimate.time_s if time_estimate else None,
            share=time_estimate.share if time_estimate else None,
        )
        for summary in summaries
        for time_estimate in [_estimate(summary.cpu_s, summary.shares)]
    )


def wait_costs(summaries: Sequence[WaitSummary]) -> tuple[WaitCost, ...]:
    """Medians over blocks of the waiting times."""
    return tuple(
        WaitCost(
            summary=summary,
            vcpu_wait=_estimate(summary.vcpu_wait_s, summary.vcpu_wait_shares),
            steal=_estimate(summary.steal_s, summary.steal_shares),
        )
        for summary in summaries
    )


def _estimate(times_s: Sequence[float], shares: Sequence[float]) -> TimeEstimate | None:
    if not times_s:
        return None
    return TimeEstimate(time_s=median_estimate(times_s), share=median_estimate(shares) if shares else None)
