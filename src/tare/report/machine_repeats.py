# SPDX-License-Identifier: Apache-2.0
"""For programs: order experiments, courses of iterations, and what the clocks of nodes are (docs/json.md)."""

from typing import Any

from tare.records import Analysis, ClockQuality, OrderVerdict, Outcome
from tare.report import in_json


def repeats(analysis: Analysis) -> dict[str, Any]:
    """The parts of the document that are about several runs within one start, and about clocks."""
    return {
        "orders": [_order(verdict) for verdict in analysis.orders],
        "iterations": [
            {
                "cell": in_json.cell(one.cell),
                "environment": one.environment,
                "metric": one.metric,
                "iterations": one.iterations,
                "starts": one.starts,
                "courses": {course.value: count for course, count in one.counts.items()},
            }
            for one in analysis.steadiness
        ],
        "cpu_over_wall": [
            {
                "cell": in_json.cell(one.summary.cell),
                "environment": one.summary.environment,
                "difference": in_json.estimate(one.difference),
                "band": in_json.estimate(one.band),
                "disagrees": one.disagrees,
            }
            for one in analysis.timers
        ],
        "clock_tests": [
            _quality(outcome, quality) for outcome in analysis.outcomes for quality in outcome.clock_quality
        ],
    }


def _order(verdict: OrderVerdict) -> dict[str, Any]:
    summary = verdict.summary
    return {
        "cell": in_json.cell(summary.cell),
        "environment": summary.environment,
        "option": summary.option,
        "metric": summary.metric,
        "growth": in_json.estimate(verdict.growth),
        "span_s": verdict.span_s,
        "permutation_p": verdict.permutation_p,
        "margin": verdict.margin,
        "word": verdict.word.name.lower(),
        "sentence": verdict.sentence,
        "late_over_early": [
            {"value": one.value, **in_json.estimate(one.late_over_early)} for one in verdict.contrasts
        ],
        "blocks": [
            {
                "block": block.block,
                "starts": [
                    {
                        "order": start.ordering.value,
                        "runs": [
                            {"value": run.value, "uptime_s": run.uptime_s, "log_time": run.log_time}
                            for run in start.runs
                        ],
                    }
                    for start in block.starts
                ],
            }
            for block in summary.blocks
        ],
        "dropped_blocks": summary.dropped_blocks,
    }


def _quality(outcome: Outcome, quality: ClockQuality) -> dict[str, Any]:
    return {
        "trial": outcome.trial.identity,
        "environment": outcome.trial.environment.name,
        "node": quality.node,
        "own_clock": quality.own_clock,
        "source": quality.source,
        "tsc_flags": quality.tsc_flags and list(quality.tsc_flags),
        "invariant_tsc": quality.invariant_tsc,
        "clocks": {
            name: {
                "resolution_ns": clock.resolution_ns,
                "least_step_ns": clock.least_step_ns,
                "readings": clock.readings,
                "backward_steps": clock.backward_steps,
            }
            for name, clock in quality.clocks.items()
        },
        "pairs": quality.pairs,
        "exchanges": quality.exchanges,
        "backward_exchanges": quality.backward_exchanges,
        "worst_backward_ns": quality.worst_backward_ns,
    }
