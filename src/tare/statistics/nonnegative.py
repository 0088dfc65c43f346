# SPDX-License-Identifier: Apache-2.0
"""Least squares with coefficients that cannot be negative.

Lawson and Hanson, "Solving Least Squares Problems" (1974), chapter 23, algorithm NNLS. In double precision and for a
few columns only, which is what the normal equations bear.
"""

from collections.abc import Sequence

_TOLERANCE = 1e-10
_MOST_STEPS = 10


def nonnegative_fit(rows: Sequence[Sequence[float]], values: Sequence[float]) -> tuple[float, ...]:
    """One coefficient for each column, none below 0, with the least sum of squares; a column of zeros gets 0."""
    columns = list(zip(*rows, strict=True)) if rows else []
    scales = [sum(cell * cell for cell in column) ** 0.5 for column in columns]
    used = [place for place, scale in enumerate(scales) if scale > 0]
    unit = [[cell / scales[place] for cell in columns[place]] for place in used]
    fitted = _fit(unit, values)
    coefficients = [0.0] * len(columns)
    for place, value in zip(used, fitted, strict=True):
        coefficients[place] = value / scales[place]
    return tuple(coefficients)


def _fit(columns: Sequence[Sequence[float]], values: Sequence[float]) -> list[float]:
    """For columns of length 1: coefficients enter one by one, those that would be negative leave."""
    products = [[_dot(left, right) for right in columns] for left in columns]
    aims = [_dot(column, values) for column in columns]
    solution, active = [0.0] * len(columns), set[int]()
    size = max(map(abs, values), default=0.0)
    for _ in range(_MOST_STEPS * (len(columns) + 1)):
        slopes = {
            place: aims[place] - _dot(products[place], solution)
            for place in range(len(columns))
            if place not in active
        }
        best = max(slopes, key=lambda place: slopes[place], default=None)
        if best is None or slopes[best] <= _TOLERANCE * size:
            break
        active.add(best)
        solution = _settled(products, aims, solution, active)
    return solution


def _settled(
    products: Sequence[Sequence[float]], aims: Sequence[float], before: list[float], active: set[int]
) -> list[float]:
    """The solution for the active columns; each that would fall below 0 on the way leaves ``active``."""
    while active:
        own = sorted(active)
        wanted = dict(
            zip(
                own,
                _solved([[products[i][j] for j in own] for i in own], [aims[i] for i in own]),
                strict=True,
            )
        )
        negative = [place for place in own if wanted[place] <= 0]
        if not negative:
            return [wanted.get(place, 0.0) for place in range(len(before))]
        way = min(
            before[place] / (before[place] - wanted[place]) if before[place] > 0 else 0.0
            for place in negative
        )
        before = [
            value + way * (wanted[place] - value) if place in active else 0.0
            for place, value in enumerate(before)
        ]
        active -= {place for place in negative if before[place] <= _TOLERANCE}
    return [0.0] * len(before)


def _solved(matrix: list[list[float]], aims: list[float]) -> list[float]:
    """Gauss's elimination with a ridge so small that equal columns share their coefficient."""
    size = len(aims)
    rows = [
        [*(cell + (_TOLERANCE if i == j else 0.0) for j, cell in enumerate(row)), aim]
        for i, (row, aim) in enumerate(zip(matrix, aims, strict=True))
    ]
    for place in range(size):
        pivot = max(range(place, size), key=lambda i: abs(rows[i][place]))
        rows[place], rows[pivot] = rows[pivot], rows[place]
        for other in range(place + 1, size):
            factor = rows[other][place] / rows[place][place]
            rows[other] = [
                cell - factor * above for cell, above in zip(rows[other], rows[place], strict=True)
            ]
    solution = [0.0] * size
    for place in reversed(range(size)):
        known = sum(rows[place][j] * solution[j] for j in range(place + 1, size))
        solution[place] = (rows[place][size] - known) / rows[place][place]
    return solution


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))
