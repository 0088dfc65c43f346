# SPDX-License-Identifier: Apache-2.0
"""The kernels' vector instructions: the names in native/npb/common/simd.cpp and the flags that GCC's levels need."""

from tare.workloads.code_path import Variants

_V3 = frozenset({"avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"})
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}

VARIANTS = Variants((("avx512", _V4), ("avx2", _V3), ("plain", frozenset())))
"""x86-64-v4, x86-64-v3 (System V ABI, processor supplement), and the architecture's baseline."""
