# SPDX-License-Identifier: Apache-2.0
"""``bench.npb`` says how the reference was made, and keeps each vector code's figures apart."""

from pathlib import Path

import pytest
from bench.npb import Case, Programs, Run, claims_hold, compared, otherwise_made, row

FORTRAN = """
 Compile options:
    MPIFC        = mpif90
    FFLAGS       = -O3 -march=native -fallow-argument-mismatch...
    FLINKFLAGS   = $(FFLAGS)
    RAND         = randi8
"""
C = """
    CFLAGS       = -O3 -march=native
    CLINKFLAGS   = $(CFLAGS)
"""


def run(rate: float, said: str = "") -> Run:
    return Run(million_operations_per_s=rate, rank_byte=0, said=said)


@pytest.mark.parametrize("said", [FORTRAN, FORTRAN.replace("randi8", "(none)"), C, ""])
def test_a_reference_that_was_made_as_documented_is_not_remarked_on(said: str) -> None:
    assert [*otherwise_made(said, "avx512")] == []


def test_each_flag_and_the_choice_of_random_numbers_that_differ_are_said() -> None:
    said = FORTRAN.replace("-O3", "-Ofast").replace("randi8", "randdp")
    first, second = otherwise_made(said, "avx512")
    assert first.startswith("FFLAGS = -Ofast -march=native")
    assert second == "RAND = randdp, not randi8"


def test_a_reference_for_all_of_this_processor_is_not_the_one_of_avx2() -> None:
    (said,) = otherwise_made(C, "avx2")
    assert said == "CFLAGS = -O3 -march=native, not -O3 -march=x86-64-v3"


def test_each_vector_code_has_a_ratio_of_its_own_beside_its_own_reference() -> None:
    folders = {"reference": Path("native"), "reference, AVX2": Path("avx2"), "fast": Path("fast")}
    programs = Programs(folders, None, ("avx512", "avx2"))
    assert compared(programs) == [
        ("avx512", "reference"),
        ("avx2", "reference, AVX2"),
        ("avx512", "fast"),
    ]
    rates = {"avx512": 80, "avx2": 30, "reference": 20, "reference, AVX2": 10, "fast": 40}
    runs = {label: [run(rate)] for label, rate in rates.items()}
    printed = row(Case(kernel="cg", problem_class="S", ranks=1), runs, programs)
    assert "| 4.00 | 3.00 | 2.00 |" in printed


def test_without_a_reference_for_avx2_the_given_one_stands_beside_it() -> None:
    assert Programs({"reference": Path("native")}, None, ("avx512", "avx2")).reference("avx2") == "reference"


def test_the_claims_name_their_vector_code_and_how_its_reference_differs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ratios = {Case(kernel="cg", problem_class="S", ranks=1): 2.0}
    assert claims_hold("avx2 beside reference", ratios, {}, ["CFLAGS = -O1, not -O3"])
    printed = capsys.readouterr().out
    assert "avx2 beside reference" in printed
    assert "not as docs/npb.md has it: CFLAGS = -O1, not -O3" in printed
    assert "holds: geometric mean of 1 ratios 2.00" in printed
