# SPDX-License-Identifier: Apache-2.0
"""Signals and exclusions for programs; docs/json.md describes them."""

from typing import Any

from tare.records import Analysis, Exclusions, Outcome, SignalTable
from tare.report import in_json
from tare.treat.pairing import cell_of


def signals_json(analysis: Analysis) -> dict[str, Any]:
    """What was counted beside every trial, and each environment against native."""
    kinds = {signal.name: signal for outcome in analysis.outcomes for signal in outcome.signals}
    return {
        "kinds": {
            name: {"unit": kind.unit, "lost_time": kind.lost_time} for name, kind in sorted(kinds.items())
        },
        "trials": [_trial(outcome, sorted(kinds)) for outcome in analysis.outcomes if outcome.signals],
        "environments": [_table(table) for table in analysis.signals],
    }


def _trial(outcome: Outcome, names: list[str]) -> dict[str, Any]:
    own = {signal.name: signal for signal in outcome.signals}
    return {
        "trial": outcome.trial.identity,
        "block": outcome.trial.block,
        "cell": in_json.cell(cell_of(outcome)),
        "environment": outcome.trial.environment.name,
        "excluded_by": outcome.excluded_by and outcome.excluded_by.value,
        "values": {name: in_json.number(own[name].value) if name in own else None for name in names},
        "of_the_host": sorted(name for name, signal in own.items() if signal.scope == "host"),
    }


def _table(table: SignalTable) -> dict[str, Any]:
    return {
        "cell": in_json.cell(table.cell),
        "environment": table.environment,
        "differences": [
            {
                "signal": one.name,
                "scope": one.scope.value,
                "native": {"point": in_json.number(one.native), "unit": one.unit, "n": one.difference.n},
                "difference": in_json.estimate(one.difference, one.unit),
            }
            for one in table.differences
        ],
        "missing": dict(table.missing),
    }


def exclusions_json(one: Exclusions) -> dict[str, Any]:
    return {
        "cell": in_json.cell(one.cell),
        "environment": one.environment,
        "trials": one.trials,
        "excluded": {rule.value: count for rule, count in one.excluded.items()},
    }
