# SPDX-License-Identifier: Apache-2.0
"""What one unit of each resource costs an environment, fitted to known workloads; and how well that predicts them.

An overhead is taken as a sum over resources: rate natively times the extra time of one unit, none of which is below 0.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from tare.records.advice import KnownWorkload, LeftOut, Resource
from tare.statistics.left_out import Without, fewest_cases
from tare.statistics.nonnegative import nonnegative_fit

LEVEL = 0.9
"""Of the interval for one more workload."""
LEAST_KNOWN = fewest_cases(LEVEL)
BEYOND = 1.25
"""An application may use so many times what the known workloads use at most."""
FLOOR = 0.02
"""Part of an error that does not grow with the overhead: what separates two runs of the same program."""
_ENOUGH = 2 / 3
"""Part of the known workloads whose use of a resource must be known, to take it into account."""


@dataclass(frozen=True, slots=True)
class Row:
    """One known workload in one environment."""

    rates: tuple[float, ...]
    log_ratio: float
    """ln(time in the environment / native time)."""


Guess = Callable[[Sequence[Row]], Callable[[Sequence[float]], float]]
"""From known workloads to a function of rates that gives a logarithm of the ratio of times."""


def used_resources(rates: Mapping[Resource, float], known: Sequence[KnownWorkload]) -> tuple[Resource, ...]:
    """The application's resources that are known of enough workloads."""
    least = max(LEAST_KNOWN, _ENOUGH * len(known))
    return tuple(
        resource
        for resource in Resource
        if resource in rates and sum(resource in each.rates for each in known) >= least
    )


def resources_beyond(rates: Mapping[Resource, float], known: Sequence[KnownWorkload]) -> tuple[Resource, ...]:
    """Of which the application uses more than ``BEYOND`` times what any of the workloads is known to."""
    beyond = []
    for resource, rate in rates.items():
        others = [each.rates[resource] for each in known if resource in each.rates]
        if rate > BEYOND * max(others, default=0.0):
            beyond.append(resource)
    return tuple(beyond)


def rows_of(arm: str, known: Sequence[KnownWorkload], resources: Sequence[Resource]) -> dict[str, Row]:
    """Name of each workload that ran there and has all the resources \N{RIGHTWARDS ARROW} its row."""
    return {
        each.name: Row(tuple(each.rates[resource] for resource in resources), math.log1p(each.overheads[arm]))
        for each in known
        if arm in each.overheads and all(resource in each.rates for resource in resources)
    }


def unit_costs(rows: Sequence[Row]) -> tuple[float, ...]:
    """The extra seconds of one unit of each resource; an error counts as a part of the time in the environment."""
    weighed = [math.exp(-row.log_ratio) for row in rows]
    return nonnegative_fit(
        [[rate * weight for rate in row.rates] for row, weight in zip(rows, weighed, strict=True)],
        [math.expm1(row.log_ratio) * weight for row, weight in zip(rows, weighed, strict=True)],
    )


def by_resources(rows: Sequence[Row]) -> Callable[[Sequence[float]], float]:
    """The guess that resources have their costs."""
    costs = unit_costs(rows)
    return lambda rates: math.log1p(sum(cost * rate for cost, rate in zip(costs, rates, strict=True)))


def by_nothing(_rows: Sequence[Row]) -> Callable[[Sequence[float]], float]:
    """The guess that there is no overhead."""
    return lambda _rates: 0.0


def by_median(rows: Sequence[Row]) -> Callable[[Sequence[float]], float]:
    """The guess that the overhead is that of the median workload."""
    middle = median(row.log_ratio for row in rows)
    return lambda _rates: middle


def left_out_by(guess: Guess, rows: Mapping[str, Row], rates: Sequence[float]) -> dict[str, Without]:
    """For each row: what the others say of it, and of the application."""
    every = {}
    for name, row in rows.items():
        said = guess([other for key, other in rows.items() if key != name])
        own, new = said(row.rates), said(rates)
        every[name] = Without(own, FLOOR + abs(own), row.log_ratio, new, FLOOR + abs(new))
    return every


def error_of(left_out: Mapping[str, Without]) -> float:
    """Mean over the rows of the error without the row."""
    return fmean(abs(each.truth - each.own) for each in left_out.values())


def errors(by_guess: Mapping[Guess, Mapping[str, Without]]) -> LeftOut:
    """Of all three guesses."""
    return LeftOut(
        model=error_of(by_guess[by_resources]),
        none=error_of(by_guess[by_nothing]),
        median=error_of(by_guess[by_median]),
    )
