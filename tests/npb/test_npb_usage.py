# SPDX-License-Identifier: Apache-2.0
"""What a kernel's command line refuses, and what its exit code says."""

from pathlib import Path

import pytest

from tests.npb.kernels import KERNELS, run_alone, run_kernel

WRONG = 1
USAGE = 2
UNVERIFIED = 3
OWN = {
    "bt": "steps=3",
    "cg": "iterations=2",
    "ep": "exponent=20",
    "ft": "iterations=1",
    "is": "iterations=2",
    "lu": "steps=3",
    "mg": "iterations=1",
    "sp": "steps=3",
}
"""A small problem of one's own for each kernel."""


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--class", "X"), "there is no class 'X'"),
        (("--simd", "mmx"), "'mmx' is none of plain, avx2, avx512, widest"),
        (("--threads", "0"), "'0' is not a number of threads"),
        (("--fast",), "unknown option '--fast'"),
        (("--set", "colour=3"), "this kernel has no setting 'colour'"),
        (("--set", "nonsense"), "'nonsense' is not NAME=NUMBER"),
    ],
)
def test_what_does_not_exist_is_refused_with_the_reason(
    programs: Path, kernel: str, arguments: tuple[str, ...], reason: str
) -> None:
    run = run_alone(programs, kernel, *arguments)
    assert run.code == USAGE
    assert reason in run.stderr
    assert run.stdout == ""


def test_a_wrong_use_is_told_once_and_not_by_every_rank(programs: Path) -> None:
    run = run_kernel(programs, "ep", "--class", "X", ranks=2)
    assert run.code == USAGE
    assert run.stderr.count("there is no class") == 1


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_problem_of_ones_own_is_run_and_tells_its_values_but_is_not_verified(
    programs: Path, kernel: str
) -> None:
    run = run_alone(programs, kernel, "--set", OWN[kernel], "--json")
    assert run.code == UNVERIFIED
    assert run.said["verification"] == "NOT PERFORMED"
    assert run.said["class"] == "own"
    assert "no published value" in run.stderr
    assert all(isinstance(check["computed"], int | float) for check in run.said["checks"])
    assert any(check["published"] is None for check in run.said["checks"])


def test_the_size_of_a_problem_of_ones_own_is_told(programs: Path) -> None:
    assert run_alone(programs, "ep", "--set", "exponent=20", "--json").said["size"] == str(2**21)


def test_help_names_the_settings(programs: Path) -> None:
    run = run_alone(programs, "ep", "--help")
    assert run.code == 0
    assert "exponent" in run.stdout
