# SPDX-License-Identifier: Apache-2.0
"""Which kernel OpenBLAS runs, and how it is selected."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from tare.workloads.code_path import NATURAL, PINNED, Lacking, Variants, common_flags

KERNELS = Variants(
    (
        ("SkylakeX", frozenset({"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"})),
        ("Haswell", frozenset({"avx2", "fma"})),
        ("Sandybridge", frozenset({"avx"})),
        ("Nehalem", frozenset({"sse4_2", "ssse3"})),
        ("Prescott", frozenset({"pni"})),
        ("ARMV8", frozenset({"asimd"})),
    )
)
"""OpenBLAS's names for its kernel sets."""


def blas_variables(choice: str, cpu_flags: AbstractSet[str], lacking: Lacking) -> Mapping[str, str]:
    """Return the variables for one BLAS thread per rank and the kernel ``choice``.

    ``pinned``: the best that all nodes can run; ``natural``: OpenBLAS chooses in the node; else OpenBLAS's own name.
    """
    variables = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    kernel = KERNELS.best(common_flags(cpu_flags, lacking)) if choice == PINNED else choice
    if kernel is not None and kernel != NATURAL:
        variables["OPENBLAS_CORETYPE"] = kernel
    return variables


def blas_facts(choice: str, cpu_flags: AbstractSet[str], lacking: Lacking) -> Mapping[str, str]:
    """Which kernel is pinned and why; empty if the campaign or OpenBLAS chose it."""
    return {"blas kernel pinned": KERNELS.told(cpu_flags, lacking)} if choice == PINNED else {}
