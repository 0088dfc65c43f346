# SPDX-License-Identifier: Apache-2.0
"""Means that fit what is averaged, and a refusal of those that do not: Hoefler and Belli, SC15, rules 3 and 4."""

import math
from collections.abc import Sequence
from enum import StrEnum


class Quantity(StrEnum):
    """What a number is, which decides how it may be averaged."""

    COST = "cost"
    """A time, an energy, a count: what adds up."""
    RATE = "rate"
    """Work per time."""
    RATIO = "ratio"
    """One thing per another of the same kind, such as an overhead."""
    LOGARITHM = "logarithm"
    """Of a cost, a rate or a ratio."""


_INSTEAD = {Quantity.RATE: "their harmonic mean", Quantity.RATIO: "their geometric mean"}


def arithmetic_mean(values: Sequence[float], quantity: Quantity) -> float:
    """Average costs or logarithms; ``ValueError`` for rates and ratios, and without values."""
    if quantity in _INSTEAD:
        raise ValueError(
            f"an arithmetic mean of {quantity}s says nothing about any amount of work; take {_INSTEAD[quantity]}"
        )
    return math.fsum(values) / _count(values)


def harmonic_mean(rates: Sequence[float]) -> float:
    """Average rates at which equal amounts of work were done; ``ValueError`` without values."""
    return _count(rates) / math.fsum(1 / rate for rate in rates)


def geometric_mean(ratios: Sequence[float]) -> float:
    """Average ratios, by their logarithms; ``ValueError`` without values."""
    return math.exp(arithmetic_mean([math.log(ratio) for ratio in ratios], Quantity.LOGARITHM))


def mean_of(values: Sequence[float], quantity: Quantity) -> float:
    """Take the mean that fits: arithmetic of costs and logarithms, harmonic of rates, geometric of ratios."""
    if quantity is Quantity.RATE:
        return harmonic_mean(values)
    return geometric_mean(values) if quantity is Quantity.RATIO else arithmetic_mean(values, quantity)


def _count(values: Sequence[float]) -> int:
    if not values:
        raise ValueError("no values to average")
    return len(values)
