# SPDX-License-Identifier: Apache-2.0
"""The analysis for programs: JSON of schema 1, described in ``docs/json.md``."""

import math
import statistics
from collections.abc import Sequence
from typing import Any

from tare.records import (
    SCHEMA,
    Analysis,
    Cell,
    CurveEstimate,
    Estimate,
    HelperCost,
    Outcome,
    Overhead,
    Session,
    SharingLoss,
    Skipped,
    Status,
    Verdict,
    WaitCost,
)
from tare.report import arrange
from tare.report.clocks import ClockRemark, timer_inversions
from tare.report.weaker import weaker
from tare.treat import InstanceFigure, per_instance

_FRACTION = "1"
"""The unit of an overhead: a pure number, where 0.05 is 5 %."""


def to_json(analysis: Analysis) -> dict[str, Any]:
    """Give what ``json.dumps`` takes; a missing or not finite number is ``None``, never 0."""
    counts = arrange.status_counts(analysis)
    lost = [outcome for outcome in analysis.outcomes if outcome.status is not Status.OK]
    return {
        "schema": SCHEMA,
        "campaign": analysis.campaign,
        "margin": _number(analysis.margin),
        "trials": {
            "planned": analysis.planned_trials,
            "ok": counts[Status.OK],
            "failed": counts[Status.FAILED],
            "invalid": counts[Status.INVALID],
            "cut_by_budget": analysis.cut_by_budget,
        },
        "verdicts": [_verdict(verdict) for verdict in analysis.verdicts],
        "controls": [_overhead(control) for control in analysis.controls],
        "instances": [_instance(figure) for figure in per_instance(analysis.outcomes)],
        "curves": [_curve(curve) for curve in analysis.curves],
        "sharing": [_sharing(loss) for loss in analysis.sharing],
        "helper_cost": [_helper_cost(cost) for cost in analysis.helper_costs],
        "waiting": [_wait_cost(cost) for cost in analysis.wait_costs],
        "clock_faults": [_clock_fault(outcome) for outcome in analysis.outcomes if outcome.clock_fault],
        "timer_inversions": [_inversions(remark) for remark in timer_inversions(analysis.outcomes)],
        "lost": [_lost(outcome) for outcome in lost],
        "skipped": [_skipped(skipped) for skipped in analysis.skipped],
        "weaker": list(weaker(analysis.outcomes)),
        "sessions": [_session(session) for session in analysis.sessions],
    }


def _number(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _estimate(estimate: Estimate, unit: str = _FRACTION) -> dict[str, Any]:
    return {
        "point": _number(estimate.point),
        "low": _number(estimate.low),
        "high": _number(estimate.high),
        "level": _number(estimate.level),
        "n": estimate.n,
        "unit": unit,
    }


def _without_interval(value: float, unit: str, n: int) -> dict[str, Any]:
    return {"point": _number(value), "low": None, "high": None, "level": None, "n": n, "unit": unit}


def _cell(cell: Cell) -> dict[str, str]:
    return {"workload": cell.workload, "layout": cell.layout}


def _overhead(overhead: Overhead) -> dict[str, Any]:
    summary = overhead.summary
    n = len(summary.blocks)
    return {
        "cell": _cell(summary.cell),
        "environment": summary.environment,
        "metric": summary.metric,
        "unit": summary.unit,
        "direction": summary.direction.name.lower(),
        "primary": summary.primary,
        "typical": _estimate(overhead.typical),
        "mean": _estimate(overhead.mean),
        "tail_cost": overhead.tail_cost,
        "spike_rate": _without_interval(overhead.spike_rate, _FRACTION, n),
        "native_spike_rate": _without_interval(overhead.native_spike_rate, _FRACTION, 2 * n),
        "native_median": _without_interval(overhead.native_median, summary.unit, n),
        "noise_floor": _estimate(overhead.noise_floor),
        "blocks": [
            {
                "block": block.block,
                "native": [_number(value) for value in block.native],
                "environment": _number(block.environment),
            }
            for block in summary.blocks
        ],
        "dropped_blocks": summary.dropped_blocks,
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return _overhead(verdict.overhead) | {
        "word": verdict.word.name.lower(),
        "sentence": verdict.sentence,
        "more_blocks": verdict.more_blocks,
        "below_noise_floor": verdict.below_noise_floor,
    }


def _instance(figure: InstanceFigure) -> dict[str, Any]:
    return {
        "cell": _cell(figure.cell),
        "environment": figure.environment,
        "metric": figure.metric,
        "instance": figure.instance,
        "direction": figure.direction.name.lower(),
        "median": _without_interval(figure.median, figure.unit, figure.n),
        "minimum": _number(figure.minimum),
        "maximum": _number(figure.maximum),
    }


def _curve(estimate: CurveEstimate) -> dict[str, Any]:
    curve = estimate.curve
    return {
        "cell": _cell(curve.cell),
        "environment": curve.environment,
        "metric": curve.metric,
        "direction": curve.direction.name.lower(),
        "x_unit": curve.x_unit,
        "points": [
            {
                "x": _number(point.x),
                "value": _estimate(point.value, curve.unit),
                "overhead": point.overhead and _estimate(point.overhead),
            }
            for point in estimate.points
        ],
    }


def _sharing(loss: SharingLoss) -> dict[str, Any]:
    summary = loss.summary
    return {
        "cell": _cell(summary.cells.shared),
        "alone": _cell(summary.cells.alone),
        "environment": summary.environment,
        "metric": summary.metric,
        "direction": summary.direction.name.lower(),
        "primary": summary.primary,
        "loss": _estimate(loss.typical),
        "word": loss.word.name.lower(),
        "each": [_estimate(each) for each in loss.each],
        "beyond_native": loss.beyond_native and _estimate(loss.beyond_native),
        "spread": loss.spread and _estimate(loss.spread),
        "jain_index": loss.jain_index and _estimate(loss.jain_index),
        "barrier_skew": _skew(summary.skews_s),
        "blocks": [
            {"block": block, "log_losses": [_number(value) for value in values]}
            for block, values in zip(summary.blocks, summary.log_losses, strict=True)
        ],
        "dropped_blocks": summary.dropped_blocks,
    }


def _skew(skews_s: Sequence[float]) -> dict[str, Any] | None:
    if not skews_s:
        return None
    return {
        "median": _without_interval(statistics.median(skews_s), "s", len(skews_s)),
        "maximum": _number(max(skews_s)),
    }


def _helper_cost(cost: HelperCost) -> dict[str, Any]:
    return {
        "cell": _cell(cost.summary.cell),
        "environment": cost.summary.environment,
        "helpers": cost.summary.helpers,
        "cpu_s": cost.cpu_s and _estimate(cost.cpu_s, "s"),
        "share": cost.share and _estimate(cost.share),
    }


def _wait_cost(cost: WaitCost) -> dict[str, Any]:
    return {
        "cell": _cell(cost.summary.cell),
        "environment": cost.summary.environment,
        "vcpu_wait_s": cost.vcpu_wait and _estimate(cost.vcpu_wait.time_s, "s"),
        "vcpu_wait_share": cost.vcpu_wait and cost.vcpu_wait.share and _estimate(cost.vcpu_wait.share),
        "steal_s": cost.steal and _estimate(cost.steal.time_s, "s"),
        "steal_share": cost.steal and cost.steal.share and _estimate(cost.steal.share),
    }


def _clock_fault(outcome: Outcome) -> dict[str, Any]:
    return {**_whose(outcome), "status": outcome.status.value, "fault": outcome.clock_fault}


def _inversions(remark: ClockRemark) -> dict[str, Any]:
    return {
        "cell": _cell(remark.cell),
        "environment": remark.environment,
        "inverted": len(remark.blocks),
        "of": remark.trials,
    }


def _lost(outcome: Outcome) -> dict[str, Any]:
    return {
        **_whose(outcome),
        "status": outcome.status.value,
        "reason": outcome.reason,
        "excerpt": outcome.excerpt,
    }


def _whose(outcome: Outcome) -> dict[str, Any]:
    return {
        "trial": outcome.trial.identity,
        "block": outcome.trial.block,
        "cell": _cell(arrange.cell_of(outcome)),
        "environment": outcome.trial.environment.name,
    }


def _skipped(skipped: Skipped) -> dict[str, str]:
    return {"environment": skipped.environment, "reason": skipped.reason, "remedy": skipped.remedy}


def _session(session: Session) -> dict[str, Any]:
    return {
        "identity": session.identity,
        "started_utc": session.started_utc,
        "tare_version": session.tare_version,
        "seed": session.seed,
        "image_name": session.image_name,
        "image_digest": session.image_digest,
        "host": dict(session.host),
        "planned_trials": session.planned_trials,
    }
