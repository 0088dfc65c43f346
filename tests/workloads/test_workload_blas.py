# SPDX-License-Identifier: Apache-2.0
"""Which OpenBLAS kernel a host's CPU flags allow."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.workloads.blas import blas_variables, pinned_kernel

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
    assert pinned_kernel(cpu_flags) == kernel


@given(st.sets(st.sampled_from(sorted(SKYLAKEX))))
def test_an_unknown_processor_is_left_to_openblas_rather_than_set_to_nothing(cpu_flags: set[str]) -> None:
    """An empty OPENBLAS_CORETYPE is not the same as none."""
    variables = blas_variables("pinned", cpu_flags)
    assert variables.get("OPENBLAS_CORETYPE") == pinned_kernel(cpu_flags)
    assert "" not in variables.values()


def test_natural_leaves_the_choice_to_openblas_but_not_the_number_of_threads() -> None:
    assert blas_variables("natural", SKYLAKEX) == {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
