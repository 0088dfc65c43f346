# SPDX-License-Identifier: Apache-2.0
"""The benchmarks and what each requires of a layout: legal rank counts, memory, time (NAS-95-020, NPB 3.4)."""

import math
from typing import Literal, get_args

from tare.errors import InputError
from tare.units import format_byte

Benchmark = Literal["bt", "cg", "ep", "ft", "is", "lu", "mg", "sp"]
ProblemClass = Literal["S", "W", "A", "B", "C", "D"]

SQUARES = {"bt", "sp"}
"""These run on the largest square number of ranks; the other ranks wait."""

_SIZES: dict[str, dict[str, float]] = {
    "bt": {"S": 12**3, "W": 24**3, "A": 64**3, "B": 102**3, "C": 162**3, "D": 408**3},
    "cg": {
        "S": 1400 * 64,
        "W": 7000 * 81,
        "A": 14000 * 144,
        "B": 75000 * 196,
        "C": 150000 * 256,
        "D": 1500000 * 484,
    },
    "ep": {"S": 2**25, "W": 2**26, "A": 2**29, "B": 2**31, "C": 2**33, "D": 2**37},
    "ft": {"S": 2**18, "W": 2**19, "A": 2**23, "B": 2**25, "C": 2**27, "D": 2**31},
    "is": {"S": 2**16, "W": 2**20, "A": 2**23, "B": 2**25, "C": 2**27, "D": 2**31},
    "lu": {"S": 12**3, "W": 33**3, "A": 64**3, "B": 102**3, "C": 162**3, "D": 408**3},
    "mg": {"S": 2**15, "W": 2**21, "A": 2**24, "B": 2**24, "C": 2**27, "D": 2**30},
    "sp": {"S": 12**3, "W": 36**3, "A": 64**3, "B": 102**3, "C": 162**3, "D": 408**3},
}
"""Elements: grid points, keys, numbers, or (cg) approximately the nonzeros of the matrix."""

_ITERATIONS: dict[str, dict[str, int]] = {
    "bt": {"S": 60, "W": 200, "A": 200, "B": 200, "C": 200, "D": 250},
    "cg": {"S": 15, "W": 15, "A": 15, "B": 75, "C": 75, "D": 100},
    "ep": dict.fromkeys("SWABCD", 1),
    "ft": {"S": 6, "W": 6, "A": 6, "B": 20, "C": 20, "D": 25},
    "is": dict.fromkeys("SWABCD", 10),
    "lu": {"S": 50, "W": 300, "A": 250, "B": 250, "C": 250, "D": 300},
    "mg": {"S": 4, "W": 4, "A": 4, "B": 20, "C": 20, "D": 50},
    "sp": {"S": 100, "W": 400, "A": 400, "B": 400, "C": 400, "D": 500},
}

_ELEMENT_S = {
    "bt": 3e-7,
    "cg": 2e-8,
    "ep": 1e-9,
    "ft": 2e-8,
    "is": 2e-9,
    "lu": 2e-7,
    "mg": 8e-9,
    "sp": 1.2e-7,
}
"""Seconds per element and iteration on a processor of 2024."""
_REFERENCE_TIMES = {"is": 3.0, "mg": 2.4, "sp": 2.5, "bt": 1.8}
"""How many times as long these take with the reference's messages, which change how they compute: docs/npb.md."""
_ELEMENT_BYTE = {"bt": 120, "cg": 10, "ep": 0, "ft": 32, "is": 4, "lu": 120, "mg": 18, "sp": 120}
"""Minimum bytes per element, over all ranks together."""
_START_S = 1.0


def smaller_class(problem_class: ProblemClass) -> ProblemClass | None:
    """The class below; ``None`` below the smallest."""
    classes = get_args(ProblemClass)
    place = classes.index(problem_class)
    return classes[place - 1] if place else None


def active_ranks(benchmark: str, ranks: int) -> int:
    """Number of ranks that can take part."""
    return math.isqrt(ranks) ** 2 if benchmark in SQUARES else ranks


def check_ranks(benchmark: str, ranks: int) -> None:
    """Raise ``InputError`` if the reference's messages need another number of ranks."""
    if benchmark in {"cg", "ft"} and ranks & (ranks - 1):
        raise InputError(
            f'npb {benchmark} with messages = "reference" needs 1, 2, 4, 8, ... ranks, and has {ranks};'
            " change the layout, or leave messages out"
        )
    if benchmark == "lu" and not _is_nearly_square(ranks):
        raise InputError(
            f'npb lu with messages = "reference" needs ranks in a grid at most twice as long as wide, and has {ranks};'
            " change the layout, or leave messages out"
        )


def _is_nearly_square(ranks: int) -> bool:
    few = next(side for side in range(math.isqrt(ranks), 0, -1) if ranks % side == 0)
    return ranks <= 2 * few**2


def expected_s(
    benchmark: str, problem_class: str, processors: int, threads: int = 1, messages: str = "own"
) -> float:
    """Guess the run time, including the start of MPI and a preparation as long as some iterations."""
    elements = _SIZES[benchmark][problem_class] * (_ITERATIONS[benchmark][problem_class] + 2)
    whole_s = elements * _ELEMENT_S[benchmark] / _busy(benchmark, processors, threads)
    if messages == "reference" and not _is_alone(benchmark, processors, threads):
        whole_s *= _REFERENCE_TIMES.get(benchmark, 1.0)
    return _START_S + whole_s


def _is_alone(benchmark: str, processors: int, threads: int) -> bool:
    """One rank of BT or SP has one cell, and computes as it does with its own messages."""
    return benchmark in SQUARES and active_ranks(benchmark, processors // threads) <= 1


def _busy(benchmark: str, processors: int, threads: int) -> int:
    """At least one: a layout that no rank fits is refused later, in words."""
    return max(1, active_ranks(benchmark, processors // threads) * threads)


def check_fits(benchmark: str, problem_class: str, memory_byte: int) -> None:
    """Raise ``InputError`` if the memory certainly cannot hold the problem."""
    least_byte = int(_SIZES[benchmark][problem_class] * _ELEMENT_BYTE[benchmark])
    if least_byte > memory_byte:
        raise InputError(
            f"npb {benchmark} of class {problem_class} needs more than {format_byte(least_byte)}, but an instance"
            f" has {format_byte(memory_byte)}; give a smaller problem_class, or more memory"
        )
