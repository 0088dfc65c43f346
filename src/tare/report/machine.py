# SPDX-License-Identifier: Apache-2.0
"""The analysis for programs: JSON of schema 1, described in ``docs/json.md``."""

from collections import Counter
from dataclasses import asdict
from typing import Any

from tare.records import SCHEMA, Analysis, Status
from tare.report import calibration, in_json, integrity, losses, provenance
from tare.report.emulation import emulated, restored
from tare.report.topics import JSON_ORDER
from tare.report.weaker import weaker


def to_json(analysis: Analysis) -> dict[str, Any]:
    """Give what ``json.dumps`` takes; a missing or not finite number is ``None``, never 0."""
    counts = Counter(outcome.status for outcome in analysis.outcomes)
    return {
        "schema": SCHEMA,
        "campaign": analysis.campaign,
        "margin": in_json.number(analysis.margin),
        "trials": {
            "planned": analysis.planned_trials,
            "ok": counts[Status.OK],
            "failed": counts[Status.FAILED],
            "invalid": counts[Status.INVALID],
            "cut_by_budget": analysis.cut_by_budget,
            "spared": analysis.spared_trials,
        },
        "journal": integrity.json(analysis.integrity),
        "repeated_trials": list(analysis.repeated_trials),
        "busy": analysis.busy and asdict(analysis.busy),
        **{key: value for topic in JSON_ORDER for key, value in topic.json(analysis).items()},
        "skipped": [losses.skipped_json(skipped) for skipped in analysis.skipped],
        "emulated": emulated(analysis.outcomes),
        "restored": restored(analysis.outcomes),
        "weaker": list(weaker(analysis.outcomes)),
        "calibration": analysis.calibration and calibration.json(analysis.calibration),
        **provenance.json(analysis),
    }
