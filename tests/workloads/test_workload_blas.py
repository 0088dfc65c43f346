# SPDX-License-Identifier: Apache-2.0
"""Which OpenBLAS kernel a host's CPU flags allow."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.workloads.code_path import common_flags
from tare.workloads.hpcc import KERNELS, blas_facts, blas_variables

NEHALEM = frozenset({"sse2", "pni", "ssse3", "sse4_1", "sse4_2"})
SANDYBRIDGE = NEHALEM | {"avx"}
HASWELL = SANDYBRIDGE | {"avx2", "fma"}
SKYLAKEX = HASWELL | {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}
KNIGHTS_LANDING = HASWELL | {"avx512f", "avx512cd", "avx512er", "avx512pf"}


@pytest.mark.parametrize(
    ("cpu_flags", "kernel"),
    [
        (NEHALEM, "Nehalem"),
        (SANDYBRIDGE, "Sandybridge"),
        (HASWELL, "Haswell"),
        (SKYLAKEX, "SkylakeX"),
        (KNIGHTS_LANDING, "Haswell"),
        (frozenset({"fp", "asimd"}), "ARMV8"),
        (frozenset(), None),
    ],
)
def test_the_kernel_is_the_best_that_the_flags_allow(cpu_flags: frozenset[str], kernel: str | None) -> None:
    assert KERNELS.best(cpu_flags) == kernel


@given(st.sets(st.sampled_from(sorted(SKYLAKEX))))
def test_an_unknown_processor_is_left_to_openblas_rather_than_set_to_nothing(cpu_flags: set[str]) -> None:
    """An empty OPENBLAS_CORETYPE is not the same as none."""
    variables = blas_variables("pinned", cpu_flags, {})
    assert variables.get("OPENBLAS_CORETYPE") == KERNELS.best(cpu_flags)
    assert "" not in variables.values()


def test_natural_leaves_the_choice_to_openblas_but_not_the_number_of_threads() -> None:
    assert blas_variables("natural", SKYLAKEX, {}) == {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


@given(st.dictionaries(st.text(max_size=3), st.sets(st.sampled_from(sorted(SKYLAKEX)))))
def test_no_environment_is_given_a_kernel_that_needs_what_it_lacks(lacking: dict[str, set[str]]) -> None:
    common = common_flags(SKYLAKEX, lacking)
    assert common <= SKYLAKEX
    assert all(not common & flags for flags in lacking.values())
    blas_fact = blas_facts("pinned", SKYLAKEX, lacking)["blas kernel pinned"]
    assert blas_fact.startswith(KERNELS.best(common) or "none is known to fit")


def test_the_choice_is_told_with_who_lacks_what_for_the_hosts_own() -> None:
    avx512 = sorted(SKYLAKEX - HASWELL)
    lacking = {"b": avx512, "a": [*avx512, "avx2"], "c": avx512, "d": ["sse2"]}
    assert blas_facts("pinned", SKYLAKEX, lacking) == {
        "blas kernel pinned": "Sandybridge in every environment, not the host's SkylakeX: "
        "a without avx2, avx512bw, avx512cd, avx512dq, avx512f, avx512vl; "
        "b, c without avx512bw, avx512cd, avx512dq, avx512f, avx512vl"
    }
    assert blas_facts("pinned", SKYLAKEX, {"d": ["sse2"]}) == {
        "blas kernel pinned": "SkylakeX, by the host's processor"
    }


@pytest.mark.parametrize("choice", ["natural", "Haswell"])
def test_a_choice_that_is_not_ours_has_no_reason(choice: str) -> None:
    assert blas_facts(choice, SKYLAKEX, {"a": ["avx2"]}) == {}


def test_the_flags_are_all_that_any_kernel_needs() -> None:
    assert SKYLAKEX - {"sse2", "sse4_1"} <= KERNELS.flags
