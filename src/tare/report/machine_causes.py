# SPDX-License-Identifier: Apache-2.0
"""Attributions and interventions for programs; docs/json.md describes them."""

from typing import Any

from tare.records import SCHEMA, Analysis, Attribution, Clue, Explanation, InterventionVerdict, Suspicion
from tare.report import in_json


def causes_json(analysis: Analysis) -> dict[str, Any]:
    """What ``tare explain --json`` prints."""
    return {"schema": SCHEMA, "campaign": analysis.campaign, **causes_keys(analysis)}


def causes_keys(analysis: Analysis) -> dict[str, Any]:
    """The same keys as ``tare show --json`` has."""
    return {
        "explanations": [_explanation(one) for one in analysis.explanations],
        "suspicions": [_suspicion(one) for one in analysis.suspicions],
        "attributions": [_attribution(one) for one in analysis.attributions],
        "interventions": [_intervention(one) for one in analysis.interventions],
    }


def _explanation(one: Explanation) -> dict[str, Any]:
    return {
        "cell": in_json.cell(one.cell),
        "environment": one.environment,
        "metric": one.metric,
        "primary": one.primary,
        "claim": one.claim,
        "standing": one.standing.value,
        "cause": one.cause,
        "title": one.title or None,
        "grounds": one.grounds or None,
        "cure": one.cure or None,
        "knob": one.knob,
        "before": one.before and in_json.estimate(one.before),
        "after": one.after and in_json.estimate(one.after),
        "further": list(one.further),
        "tried": list(one.tried),
        "undecided": list(one.undecided),
        "absent": one.is_absent,
    }


def _suspicion(one: Suspicion) -> dict[str, Any]:
    return {
        "cell": in_json.cell(one.cell),
        "environment": one.environment,
        "metric": one.metric,
        "cause": one.cause,
        "strength": one.strength.name.lower(),
        "grounds": one.grounds,
    }


def _attribution(attribution: Attribution) -> dict[str, Any]:
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


def _intervention(verdict: InterventionVerdict) -> dict[str, Any]:
    own = verdict.intervention
    return {
        "cell": in_json.cell(verdict.cell),
        "environment": own.environment,
        "changed": verdict.turned.changed,
        "knob": verdict.turned.knob,
        "cause": verdict.turned.cause,
        "metric": verdict.metric,
        "standing": verdict.standing.value,
        "role": verdict.role.name.lower(),
        "shift": verdict.shift.name.lower(),
        "before": in_json.estimate(verdict.before),
        "after": in_json.estimate(verdict.after),
        "change": in_json.estimate(verdict.change),
        "chance": in_json.number(verdict.chance),
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
