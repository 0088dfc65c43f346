# SPDX-License-Identifier: Apache-2.0
"""Which kernel OpenBLAS runs: pinned alike in every arm, so that a guest's CPUID cannot change it (DESIGN §3.13)."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

_KERNELS = (
    ("SkylakeX", frozenset({"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"})),
    ("Haswell", frozenset({"avx2", "fma"})),
    ("Sandybridge", frozenset({"avx"})),
    ("Nehalem", frozenset({"sse4_2", "ssse3"})),
    ("Prescott", frozenset({"pni"})),
    ("ARMV8", frozenset({"asimd"})),
)
"""OpenBLAS's name of a kernel set → CPU flags (as in /proc/cpuinfo) that it needs; best first."""


def pinned_kernel(cpu_flags: AbstractSet[str]) -> str | None:
    """Choose the best kernel set that these flags allow; ``None`` when none is known to fit."""
    return next((name for name, needed in _KERNELS if needed <= cpu_flags), None)


def blas_variables(choice: str, cpu_flags: AbstractSet[str]) -> Mapping[str, str]:
    """Return the variables for one BLAS thread per rank and the kernel ``choice``.

    ``pinned``: from the host's CPU flags; ``natural``: OpenBLAS chooses in the node; else OpenBLAS's own name.
    """
    variables = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    kernel = pinned_kernel(cpu_flags) if choice == "pinned" else choice
    if kernel is not None and kernel != "natural":
        variables["OPENBLAS_CORETYPE"] = kernel
    return variables
