# SPDX-License-Identifier: Apache-2.0
"""Families, checks, rankings, levels and spreads for programs, as docs/json.md describes them."""

from typing import Any

from tare.records import (
    Analysis,
    ArmSpread,
    Finding,
    PairDifference,
    Ranking,
    Standing,
    VarianceSplit,
    Verdict,
)
from tare.report import in_json


def claim_json(verdict: Verdict) -> dict[str, Any]:
    """What a verdict has besides its figures: its family, and what was checked."""
    return {
        "alone": verdict.alone and verdict.alone.name.lower(),
        "standing": verdict.standing and _standing(verdict.standing),
        "findings": [_finding(finding) for finding in verdict.findings],
    }


def comparisons_json(analysis: Analysis) -> dict[str, Any]:
    return {
        "rankings": [_ranking(ranking) for ranking in analysis.rankings],
        "across_workloads": [
            {
                "environment": each.environment,
                "layout": each.layout,
                "workloads": list(each.workloads),
                "overhead": in_json.estimate(each.overhead),
            }
            for each in analysis.across_workloads
        ],
        "variances": [_variance(split) for split in analysis.variances],
        "spreads": [_spread(spread) for spread in analysis.spreads],
    }


def _standing(standing: Standing) -> dict[str, Any]:
    return {
        "family": standing.family.value,
        "size": standing.size,
        "difference_p": standing.difference_p,
        "adjusted_difference_p": standing.adjusted_difference_p,
        "equivalence_p": standing.equivalence_p,
        "adjusted_equivalence_p": standing.adjusted_equivalence_p,
        "together": standing.together and in_json.estimate(standing.together),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "check": finding.check.value,
        "effect": finding.effect.name.lower(),
        "statistic": in_json.number(finding.statistic),
        "limit": in_json.number(finding.limit),
        "p": in_json.number(finding.p),
        "n": finding.n,
        "found": finding.found,
        "sentence": finding.sentence,
    }


def _ranking(ranking: Ranking) -> dict[str, Any]:
    return {
        "cell": in_json.cell(ranking.cell),
        "metric": ranking.metric,
        "places": [
            {
                "environment": place.environment,
                "letters": place.letters,
                "overhead": place.overhead and in_json.estimate(place.overhead),
            }
            for place in ranking.places
        ],
        "pairs": [_pair(pair) for pair in ranking.pairs],
    }


def _pair(pair: PairDifference) -> dict[str, Any]:
    return {
        "first": pair.first,
        "second": pair.second,
        "difference": in_json.estimate(pair.difference),
        "adjusted_p": pair.adjusted_p,
        "adjusted_equivalence_p": pair.adjusted_equivalence_p,
        "distinguished": pair.distinguished,
        "equal": pair.equal,
    }


def _variance(split: VarianceSplit) -> dict[str, Any]:
    inner = split.between_iterations
    return {
        "cell": in_json.cell(split.cell),
        "environment": split.environment,
        "metric": split.metric,
        "between_blocks": in_json.estimate(split.between_blocks),
        "between_starts": in_json.estimate(split.between_starts),
        "between_iterations": inner and in_json.estimate(inner),
        "iterations": split.iterations,
        "best_iterations": split.best_iterations,
        "start_cost_s": in_json.number(split.start_cost_s),
        "iteration_cost_s": in_json.number(split.iteration_cost_s),
    }


def _spread(spread: ArmSpread) -> dict[str, Any]:
    return {
        "cell": in_json.cell(spread.cell),
        "environment": spread.environment,
        "metric": spread.metric,
        "unit": spread.unit,
        "direction": spread.direction.name.lower(),
        "primary": spread.primary,
        "p50": in_json.estimate(spread.p50, spread.unit),
        "p95": in_json.number(spread.p95),
        "slowest": in_json.number(spread.slowest),
        "n": spread.n,
    }
