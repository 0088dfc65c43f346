# SPDX-License-Identifier: Apache-2.0
"""Attributions and interventions for programs; docs/json.md describes them."""

from typing import Any

from tare.records import Attribution, Clue, InterventionVerdict
from tare.report import in_json


def attribution_json(attribution: Attribution) -> dict[str, Any]:
    return {
        "cell": in_json.cell(attribution.cell),
        "environment": attribution.environment,
        "metric": attribution.metric,
        "n": attribution.n,
        "standing": attribution.standing and attribution.standing.value,
        "lost": attribution.lost_s and in_json.estimate(attribution.lost_s, "s"),
        "unexplained": attribution.unexplained and in_json.estimate(attribution.unexplained),
        "signals": [_clue(rank, clue) for rank, clue in enumerate(attribution.clues, start=1)],
        "missing": dict(attribution.missing),
        "sentence": attribution.sentence,
    }


def intervention_json(verdict: InterventionVerdict) -> dict[str, Any]:
    own = verdict.intervention
    return {
        "cell": in_json.cell(verdict.cell),
        "environment": own.environment,
        "changed": own.changed,
        "knob": own.knob,
        "metric": verdict.metric,
        "standing": verdict.standing.value,
        "shift": verdict.shift.name.lower(),
        "before": in_json.estimate(verdict.before),
        "after": in_json.estimate(verdict.after),
        "change": in_json.estimate(verdict.change),
        "parent": {"path": own.parent, "campaign": own.parent_campaign, "session": own.parent_session},
        "sentence": verdict.sentence,
    }


def _clue(rank: int, clue: Clue) -> dict[str, Any]:
    return {
        "rank": rank,
        "signal": clue.signal,
        "title": clue.title,
        "scope": clue.scope.value,
        "standing": clue.standing.value,
        "grounds": [ground.name.lower() for ground in clue.grounds],
        "after": clue.after,
        "excess": in_json.estimate(clue.excess, clue.unit),
        "native": in_json.number(clue.native),
        "share": clue.share and in_json.estimate(clue.share),
        "chance": in_json.number(clue.chance),
        "correlation": clue.correlation
        and {
            "r": in_json.number(clue.correlation.r),
            "chance": in_json.number(clue.correlation.chance),
            "n": clue.correlation.n,
        },
    }
