# SPDX-License-Identifier: Apache-2.0
"""CG computed apart from native/npb/cg: in 80-bit numbers, and without ever making the matrix.

As a program it prints what `verify.cpp` expects of the first outer steps: `python -m tests.npb.independent_cg S 3`.
The matrix is the sum of w_i v_i v_i^T and (0.1 - shift) I (NAS-95-020, section 2.5), so that A p needs only the v_i.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CLASSES = {
    "S": (1400, 7, 10),
    "W": (7000, 8, 12),
    "A": (14000, 11, 20),
    "B": (75000, 13, 60),
    "C": (150000, 15, 110),
}
"""Order, drawn places of each vector, shift."""

INNER_STEPS = 25
WIDE = np.longdouble

Wide = NDArray[np.longdouble]


@dataclass(frozen=True, slots=True)
class Step:
    """What an outer step finds."""

    zeta: float
    recurrence_residual: float
    residual: float


def uniforms() -> Iterator[float]:
    """NPB's pseudo-random numbers, from the second on: the specification throws the first away."""
    state = 314159265 * 5**13 % 2**46
    while True:
        state = state * 5**13 % 2**46
        yield state / 2**46


def drawn_vectors(order: int, drawn: int) -> list[dict[int, float]]:
    """Place → value, of each random vector."""
    numbers = uniforms()
    span = 1 << (order - 1).bit_length()
    vectors = []
    for own in range(order):
        vector: dict[int, float] = {}
        while len(vector) < drawn:
            value = next(numbers)
            place = int(next(numbers) * span)
            if place < order:
                vector.setdefault(place, value)
        vectors.append(vector | {own: 0.5})
    return vectors


class Matrix:
    """The matrix of CG as its random vectors."""

    def __init__(self, order: int, drawn: int, shift: float) -> None:
        vectors = drawn_vectors(order, drawn)
        lengths = np.array([len(vector) for vector in vectors])
        self.places = np.array([place for vector in vectors for place in vector])
        self.values = np.array([value for vector in vectors for value in vector.values()], WIDE)
        self.starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
        self.by_place = np.argsort(self.places, kind="stable")
        self.owners = np.repeat(np.arange(order), lengths)[self.by_place]
        self.place_starts = np.searchsorted(self.places[self.by_place], np.arange(order))
        self.weights = WIDE(0.1) ** (np.arange(order) / WIDE(order))
        self.diagonal = WIDE(0.1) - WIDE(shift)

    def times(self, vector: Wide) -> Wide:
        along = np.add.reduceat(self.values * vector[self.places], self.starts) * self.weights
        sums = np.add.reduceat(self.values[self.by_place] * along[self.owners], self.place_starts)
        product: Wide = sums + self.diagonal * vector
        return product


def solved(matrix: Matrix, right_side: Wide) -> tuple[Wide, np.longdouble]:
    """The textbook's conjugate gradients; the solution, and the residual's length by the recurrence."""
    solution = np.zeros_like(right_side)
    residual = direction = right_side
    square = residual @ residual
    for _ in range(INNER_STEPS):
        product = matrix.times(direction)
        alpha = square / (direction @ product)
        solution = solution + alpha * direction
        residual = residual - alpha * product
        before, square = square, residual @ residual
        direction = residual + square / before * direction
    return solution, np.sqrt(square)


def outer_steps(name: str, count: int) -> list[Step]:
    """The first steps of the inverse power method for a class."""
    order, drawn, shift = CLASSES[name]
    matrix = Matrix(order, drawn, shift)
    vector = np.ones(order, WIDE)
    steps = []
    for _ in range(count):
        solution, recurrence_residual = solved(matrix, vector)
        rest = vector - matrix.times(solution)
        zeta = float(WIDE(shift) + 1 / (vector @ solution))
        steps.append(Step(zeta, float(recurrence_residual), float(np.sqrt(rest @ rest))))
        vector = solution / np.sqrt(solution @ solution)
    return steps


if __name__ == "__main__":
    sys.stdout.writelines(
        f"{number} zeta {step.zeta:.16g} residual {step.recurrence_residual:.10g} true {step.residual:.4g}\n"
        for number, step in enumerate(outer_steps(sys.argv[1], int(sys.argv[2])), 1)
    )
