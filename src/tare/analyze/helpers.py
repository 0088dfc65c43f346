# SPDX-License-Identifier: Apache-2.0
"""The cost of the environments' own processes on the host."""

from collections.abc import Sequence

from tare.analyze.median import median_estimate
from tare.records import HelperCost, HelperSummary


def helper_costs(summaries: Sequence[HelperSummary]) -> tuple[HelperCost, ...]:
    """Medians over blocks: CPU times near 0 are too skewed for the signed ranks."""
    return tuple(
        HelperCost(
            summary=summary,
            cpu_s=median_estimate(summary.cpu_s) if summary.cpu_s else None,
            share=median_estimate(summary.shares) if summary.shares else None,
        )
        for summary in summaries
    )
