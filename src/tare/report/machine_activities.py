# SPDX-License-Identifier: Apache-2.0
"""Where the time of profiled programs went, for programs (docs/json.md)."""

from typing import Any

from tare.records import ActivitySplit
from tare.report import in_json


def activity_json(split: ActivitySplit) -> dict[str, Any]:
    summary = split.summary
    return {
        "cell": in_json.cell(summary.cell),
        "environment": summary.environment,
        "activities": [
            {
                "activity": one.activity.value,
                "time_s": in_json.estimate(one.time_s, "s"),
                "share": in_json.estimate(one.share),
                "overhead": one.overhead and in_json.estimate(one.overhead),
            }
            for one in split.activities
        ],
        "whole_s": in_json.estimate(split.whole_s, "s"),
        "blocks": [
            {"block": block, "times_s": [in_json.number(time_s) for time_s in times_s]}
            for block, times_s in zip(
                summary.blocks, zip(*summary.times_s.values(), strict=True), strict=True
            )
        ],
    }
