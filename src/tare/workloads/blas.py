# SPDX-License-Identifier: Apache-2.0
"""Which kernel OpenBLAS runs: pinned alike in every arm, so that a guest's CPUID cannot change it (DESIGN §3.13)."""

from collections.abc import Collection, Mapping
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
FLAGS = frozenset[str]().union(*(needed for _, needed in _KERNELS))
"""All CPU flags on which the choice depends."""
_PINNED = "pinned"
_Lacking = Mapping[str, Collection[str]]


def pinned_kernel(cpu_flags: AbstractSet[str]) -> str | None:
    """Choose the best kernel set that these flags allow; ``None`` when none is known to fit."""
    return next((name for name, needed in _KERNELS if needed <= cpu_flags), None)


def common_flags(cpu_flags: AbstractSet[str], lacking: _Lacking) -> frozenset[str]:
    """The host's flags without those that the nodes of any environment lack."""
    return frozenset(cpu_flags).difference(*lacking.values())


def blas_variables(choice: str, cpu_flags: AbstractSet[str]) -> Mapping[str, str]:
    """Return the variables for one BLAS thread per rank and the kernel ``choice``.

    ``pinned``: from CPU flags that all nodes have; ``natural``: OpenBLAS chooses in the node; else OpenBLAS's own name.
    """
    variables = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    kernel = pinned_kernel(cpu_flags) if choice == _PINNED else choice
    if kernel is not None and kernel != "natural":
        variables["OPENBLAS_CORETYPE"] = kernel
    return variables


def blas_facts(choice: str, cpu_flags: AbstractSet[str], lacking: _Lacking) -> Mapping[str, str]:
    """Which kernel is pinned and why, in words; none where the choice is the campaign's or OpenBLAS's."""
    if choice != _PINNED:
        return {}
    hosts, kernel = pinned_kernel(cpu_flags), pinned_kernel(common_flags(cpu_flags, lacking))
    if kernel == hosts:
        return {"blas kernel pinned": f"{kernel or 'none is known to fit'}, by the host's processor"}
    told = f"{kernel or 'none is known to fit'} in every environment, not the host's {hosts}"
    return {"blas kernel pinned": f"{told}: {_lacks(_needed_beyond(kernel) & cpu_flags, lacking)}"}


def _needed_beyond(kernel: str | None) -> frozenset[str]:
    """The flags that kernels better than this one need."""
    names = [name for name, _ in _KERNELS]
    better = _KERNELS if kernel is None else _KERNELS[: names.index(kernel)]
    return frozenset[str]().union(*(needed for _, needed in better))


def _lacks(needed: AbstractSet[str], lacking: _Lacking) -> str:
    """Who lacks which of these flags."""
    missing: dict[str, list[str]] = {}
    for name in sorted(lacking):
        if words := ", ".join(sorted(needed & set(lacking[name]))):
            missing.setdefault(words, []).append(name)
    return "; ".join(f"{', '.join(names)} without {words}" for words, names in missing.items())
