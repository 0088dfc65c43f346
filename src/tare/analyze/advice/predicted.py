# SPDX-License-Identifier: Apache-2.0
"""The overhead that an application should have in one environment, if the known workloads tell it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tare.analyze.advice.costs import (
    LEAST_KNOWN,
    LEVEL,
    Guess,
    Row,
    by_median,
    by_nothing,
    by_resources,
    errors,
    left_out_by,
    resources_beyond,
    rows_of,
    unit_costs,
)
from tare.records import Estimate
from tare.records.advice import Basis, Candidate, KnownWorkload, LeftOut, Predicted, Resource
from tare.statistics.estimate import as_fraction
from tare.statistics.left_out import Without, interval

SKILL = 0.7
"""The costs of resources must err less than so much of the better simple guess: a little less is luck. Where overheads
had nothing to do with resources, 1 to 3 % of environments passed, by simulation (docs/advise.md)."""
ALIKE = 0.05
"""Where no known workload has a larger overhead, there is nothing to predict."""


@dataclass(frozen=True, slots=True)
class Foreseen:
    """A prediction, and what it says of each known workload without it."""

    predicted: Predicted
    left_out: Mapping[str, Without] = field(default_factory=dict)
    """Empty: the application must be measured."""


def foreseen(
    arm: Candidate,
    known: Sequence[KnownWorkload],
    rates: Mapping[Resource, float],
    resources: Sequence[Resource],
) -> Foreseen:
    """Predict one arm; ``resources``: those that are taken into account."""
    rows = rows_of(arm.name, known, resources)
    if len(rows) < LEAST_KNOWN:
        return Foreseen(_without(arm, rows, Basis.TOO_FEW))
    own = [each for each in known if each.name in rows]
    own_rates = tuple(rates[resource] for resource in resources)
    guesses: tuple[Guess, ...] = (by_resources, by_nothing, by_median)
    by_guess = {guess: left_out_by(guess, rows, own_rates) for guess in guesses}
    erring = errors(by_guess)
    if beyond := resources_beyond(rates, own):
        unknown = tuple(each for each in beyond if not any(each in workload.rates for workload in own))
        outside = _without(arm, rows, Basis.OUTSIDE, erring)
        return Foreseen(replace(outside, beyond=beyond, unknown=unknown))
    simple = by_nothing if erring.none <= erring.median else by_median
    if erring.model < SKILL * min(erring.none, erring.median):
        own_left_out = by_guess[by_resources]
        skilled = _by(by_resources, Basis.RESOURCES, arm, rows, own_left_out, erring, own_rates)
        return Foreseen(replace(skilled, parts=_parts(rows, resources, own_rates)), own_left_out)
    harmless = all(abs(math.expm1(row.log_ratio)) <= ALIKE for row in rows.values())
    basis = Basis.ALIKE if harmless else Basis.NO_SKILL
    guessed = _by(simple, basis, arm, rows, by_guess[simple], erring, own_rates)
    return Foreseen(guessed, by_guess[simple] if harmless else {})


def _by(
    guess: Guess,
    basis: Basis,
    arm: Candidate,
    rows: Mapping[str, Row],
    left_out: Mapping[str, Without],
    erring: LeftOut,
    rates: Sequence[float],
) -> Predicted:
    # Taken for harmless because no workload lost much there: it owes the reach of its worst.
    level = LEVEL if basis is not Basis.ALIKE else len(rows) / (len(rows) + 1)
    low, high = interval(list(left_out.values()), level) or (None, None)
    point = guess(list(rows.values()))(rates)
    return Predicted(
        arm=arm,
        basis=basis,
        n=len(rows),
        overhead=as_fraction(Estimate(point=point, low=low, high=high, level=LEVEL, n=len(rows))),
        known=_range(rows),
        left_out=erring,
    )


def _without(
    arm: Candidate,
    rows: Mapping[str, Row],
    ground: Basis,
    erring: LeftOut | None = None,
) -> Predicted:
    return Predicted(arm=arm, basis=ground, n=len(rows), overhead=None, known=_range(rows), left_out=erring)


def _range(rows: Mapping[str, Row]) -> tuple[float, float] | None:
    ratios = [math.expm1(row.log_ratio) for row in rows.values()]
    return (min(ratios), max(ratios)) if ratios else None


def _parts(
    rows: Mapping[str, Row], resources: Sequence[Resource], rates: Sequence[float]
) -> dict[Resource, float]:
    """What adds most stands first."""
    costs = unit_costs(list(rows.values()))
    parts = {resource: cost * rate for resource, cost, rate in zip(resources, costs, rates, strict=True)}
    return dict(sorted(((key, part) for key, part in parts.items() if part > 0), key=lambda item: -item[1]))
