# SPDX-License-Identifier: Apache-2.0
"""CG's early steps, computed independently, and the messages that it sends in place of the reference's."""

from pathlib import Path

import pytest

from tests.npb.independent_cg import outer_steps
from tests.npb.kernels import run_alone, run_kernel


def test_the_early_values_of_cg_are_those_of_an_independent_calculation(programs: Path) -> None:
    said = run_alone(programs, "cg", "--class", "S", "--json").said
    published = {check["name"]: check["published"] for check in said["checks"]}
    for number, step in enumerate(outer_steps("S", 3), 1):
        where = f" after step {number}, computed independently"
        assert published.pop(f"zeta{where}") == pytest.approx(step.zeta, rel=1e-14, abs=0)
        residual = published.pop(f"recurrence's residual{where}", None)
        assert residual == (pytest.approx(step.recurrence_residual, rel=1e-6, abs=0) if number < 3 else None)
    assert published == {"zeta": 8.5971775078648, "products with the matrix, counted": 15 * 26}


@pytest.mark.parametrize("ranks", [1, 2, 8])
def test_cg_with_the_reference_s_messages_verifies(programs: Path, ranks: int) -> None:
    run = run_kernel(programs, "cg", "--class", "S", "--messages", "reference", "--json", ranks=ranks)
    assert run.code == 0, run.stderr
    assert run.said["messages"] == "reference"


def test_cg_has_the_reference_s_messages_for_powers_of_two_alone(programs: Path) -> None:
    run = run_kernel(programs, "cg", "--class", "S", "--messages", "reference", ranks=3)
    assert run.code == 2
    assert "power of two" in run.stderr
