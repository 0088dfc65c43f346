# SPDX-License-Identifier: Apache-2.0
"""Where profiled programs spent their time: medians over blocks, each activity beside native's."""

from collections.abc import Mapping, Sequence

from tare.records import Activity, ActivityEstimate, ActivitySplit, ActivitySummary, Cell, Estimate, Verdict
from tare.statistics.median import median_estimate

_Overheads = Mapping[tuple[Cell, str, str], Estimate]
"""Cell, environment and metric → typical overhead."""


def activity_splits(
    summaries: Sequence[ActivitySummary], verdicts: Sequence[Verdict]
) -> tuple[ActivitySplit, ...]:
    """One per summary: medians, as times and shares near 0 are too skewed for the signed ranks.

    Overheads come from ``verdicts``, so that none is reported in two ways.
    """
    overheads = {
        (overhead.summary.cell, overhead.summary.environment, overhead.summary.metric): overhead.typical
        for overhead in (verdict.overhead for verdict in verdicts)
    }
    return tuple(_split(summary, overheads) for summary in summaries)


def _split(summary: ActivitySummary, overheads: _Overheads) -> ActivitySplit:
    return ActivitySplit(
        summary=summary,
        activities=tuple(_estimate(summary, activity, overheads) for activity in Activity),
        whole_s=median_estimate(summary.whole_s),
    )


def _estimate(summary: ActivitySummary, activity: Activity, overheads: _Overheads) -> ActivityEstimate:
    return ActivityEstimate(
        activity=activity,
        time_s=median_estimate(summary.times_s[activity]),
        share=median_estimate(summary.shares[activity]),
        overhead=overheads.get((summary.cell, summary.environment, activity.metric)),
    )
