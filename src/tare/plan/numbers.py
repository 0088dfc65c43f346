# SPDX-License-Identifier: Apache-2.0
"""Numbers that TOML's text can hold and no campaign can mean."""

import math
from typing import Any

from tare.plan.problems import Problem, shown
from tare.plan.toml_lines import Path

_LARGEST = 2**63 - 1


def number_problems(data: Any) -> list[Problem]:
    """Find every integer beyond 64 bits and every float that is not finite.

    TOML 1.0.0 asks for 64 bits, ``tomllib`` takes any size, and Python refuses to print the largest.
    """
    problems = []
    left: list[tuple[Path, Any]] = [((), data)]
    while left:
        path, value = left.pop()
        if isinstance(value, dict):
            left += [((*path, key), part) for key, part in value.items()]
        elif isinstance(value, list):
            left += [((*path, position), part) for position, part in enumerate(value)]
        elif _is_strange(value):
            text = f"must be a finite number of at most 64 bits, but is {shown(value)}"
            problems.append(Problem(path, text))
    return problems


def _is_strange(value: object) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    return isinstance(value, int) and abs(value) > _LARGEST
