# SPDX-License-Identifier: Apache-2.0
"""The analysis for programs: JSON of schema 1, described in ``docs/json.md``."""

from collections import Counter
from dataclasses import asdict
from typing import Any

from tare.records import (
    SCHEMA,
    Analysis,
    Answer,
    CurveEstimate,
    Overhead,
    Session,
    Status,
    Verdict,
)
from tare.report import in_json, losses, trust
from tare.report.calibration import calibration_json
from tare.report.emulation import emulated, restored
from tare.report.integrity import integrity_json
from tare.report.provenance import SeenValues, environments_of, seen_values
from tare.report.stops import decision_json, look_json
from tare.report.topics import JSON_ORDER
from tare.report.weaker import weaker
from tare.treat import InstanceFigure, per_instance


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
        "journal": integrity_json(analysis.integrity),
        "repeated_trials": list(analysis.repeated_trials),
        "busy": analysis.busy and asdict(analysis.busy),
        "decisions": [decision_json(one) for one in analysis.decisions],
        "answers": [_answer(answer) for answer in analysis.answers],
        "verdicts": [_verdict(verdict) for verdict in analysis.verdicts],
        "controls": [_control(control) for control in analysis.controls],
        "instances": [_instance(figure) for figure in per_instance(analysis.outcomes)],
        "curves": [_curve(curve) for curve in analysis.curves],
        **{key: value for topic in JSON_ORDER for key, value in topic.json(analysis).items()},
        "skipped": [losses.skipped_json(skipped) for skipped in analysis.skipped],
        "emulated": emulated(analysis.outcomes),
        "restored": restored(analysis.outcomes),
        "weaker": list(weaker(analysis.outcomes)),
        "calibration": analysis.calibration and calibration_json(analysis.calibration),
        "evidence": [_evidence(label, values) for label, values in seen_values(analysis.outcomes).items()],
        "sessions": [_session(session) for session in analysis.sessions],
    }


def _answer(answer: Answer) -> dict[str, Any]:
    return {
        "environment": answer.environment,
        "layout": answer.layout,
        "sentence": answer.sentence,
        "parts": [
            {
                "word": part.word and part.word.name.lower(),
                "metrics": list(part.metrics),
                "text": part.text,
            }
            for part in answer.parts
        ],
    }


def _overhead(overhead: Overhead) -> dict[str, Any]:
    summary = overhead.summary
    n = len(summary.blocks)
    return {
        "cell": in_json.cell(summary.cell),
        "environment": summary.environment,
        "metric": summary.metric,
        "unit": summary.unit,
        "direction": summary.direction.name.lower(),
        "primary": summary.primary,
        "typical": in_json.estimate(overhead.typical),
        "mean": in_json.estimate(overhead.mean),
        "tail_cost": overhead.tail_cost,
        "spike_rate": in_json.without_interval(overhead.spike_rate, in_json.FRACTION, n),
        "native_spike_rate": in_json.without_interval(overhead.native_spike_rate, in_json.FRACTION, 2 * n),
        "native_median": in_json.without_interval(overhead.native_median, summary.unit, n),
        "noise_floor": in_json.estimate(overhead.noise_floor),
        "looks": [look_json(look) for look in overhead.looks],
        "stopped": overhead.stopped and overhead.stopped.name.lower(),
        "blocks": [
            {
                "block": block.block,
                "native": [in_json.number(value) for value in block.native],
                "environment": in_json.number(block.environment),
            }
            for block in summary.blocks
        ],
        "dropped_blocks": summary.dropped_blocks,
    }


def _control(control: Overhead) -> dict[str, Any]:
    return _overhead(control) | {"native_p": in_json.number(control.native_p)}


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return _overhead(verdict.overhead) | {
        "word": verdict.word.name.lower(),
        "within": in_json.number(verdict.within),
        "at_most": in_json.number(verdict.at_most),
        "sentence": verdict.sentence,
        "withheld": verdict.withheld and verdict.withheld.value,
        "more_blocks": verdict.more_blocks,
        "below_noise_floor": verdict.below_noise_floor,
        "warnings": list(verdict.warnings),
        **trust.claim_json(verdict),
    }


def _instance(figure: InstanceFigure) -> dict[str, Any]:
    return {
        "cell": in_json.cell(figure.cell),
        "environment": figure.environment,
        "metric": figure.metric,
        "instance": figure.instance,
        "direction": figure.direction.name.lower(),
        "median": in_json.without_interval(figure.median, figure.unit, figure.n),
        "minimum": in_json.number(figure.minimum),
        "maximum": in_json.number(figure.maximum),
    }


def _curve(estimate: CurveEstimate) -> dict[str, Any]:
    curve = estimate.curve
    return {
        "cell": in_json.cell(curve.cell),
        "environment": curve.environment,
        "metric": curve.metric,
        "direction": curve.direction.name.lower(),
        "x_unit": curve.x_unit,
        "points": [
            {
                "x": in_json.number(point.x),
                "value": in_json.estimate(point.value, curve.unit),
                "overhead": point.overhead and in_json.estimate(point.overhead),
            }
            for point in estimate.points
        ],
    }


def _evidence(label: str, values: SeenValues) -> dict[str, Any]:
    told = [{"value": value, "environments": environments_of(arms)} for value, arms in values.items()]
    return {"label": label, "values": told}


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
