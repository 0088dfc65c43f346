# SPDX-License-Identifier: Apache-2.0
"""Every kernel reproduces the published values of larger classes: minutes, so that only `make test-long` asks for it.

pytest collects this file only when it is named. What was seen goes into build/npb-long.md, row by row.
"""

import math
from pathlib import Path
from typing import Any

import pytest

from tare.workloads.npb.problems import active_ranks
from tests.conftest import REPOSITORY
from tests.npb.kernels import KERNELS, run_kernel

TABLE = REPOSITORY / "build" / "npb-long.md"
HEAD = (
    "| kernel | class | ranks | taking part | vector code | time, s | Mop/s | worst error / tolerance | verification |",
    "|---|---|---|---|---|---|---|---|---|",
)
LIMIT_S = 1500
CASES = [*((name, ranks) for name in "AB" for ranks in (1, 2)), ("C", 2)]
"""Class C once: some minutes more, and up to 5 GB of memory for FT."""


@pytest.fixture(scope="module")
def table() -> Path:
    """The file of the results, empty but for its head."""
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text("\n".join(HEAD) + "\n")
    return TABLE


def row(said: dict[str, Any]) -> str:
    cells = (
        *(said["kernel"], said["class"], said["ranks"], said["active_ranks"], said["simd"]),
        *(f"{said['wall_s']:.2f}", f"{said['million_operations_per_s']:.0f}", f"{worst(said):.1e}"),
        said["verification"],
    )
    return f"| {' | '.join(str(cell) for cell in cells)} |\n"


def worst(said: dict[str, Any]) -> float:
    """How much of its tolerance the worst value needs; above 1 is wrong."""
    return max(part_of_tolerance(check) for check in said["checks"])


def part_of_tolerance(check: dict[str, Any]) -> float:
    error = check["relative_error"]
    if error is None:
        return math.inf
    exact = 0.0 if error == 0 else math.inf
    return error / check["tolerance"] if check["tolerance"] else exact


@pytest.mark.timeout(LIMIT_S + 30)
@pytest.mark.parametrize(("problem_class", "ranks"), CASES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_published_values_are_reproduced(
    programs: Path, table: Path, kernel: str, problem_class: str, ranks: int
) -> None:
    run = run_kernel(programs, kernel, "--class", problem_class, "--json", ranks=ranks, limit_s=LIMIT_S)
    if run.stdout:
        with table.open("a") as file:
            file.write(row(run.said))
    assert run.code == 0, run.stderr
    assert run.said["verification"] == "SUCCESSFUL"
    assert run.said["checks"]
    assert all(check["relative_error"] <= check["tolerance"] for check in run.said["checks"])
    assert run.said["active_ranks"] == active_ranks(kernel, ranks)
