# SPDX-License-Identifier: Apache-2.0
"""No kernel reads or writes where it must not, nor does what C++ leaves undefined, in class S.

pytest collects this file only when it is named, as `make test-sanitized` does: its kernels are compiled for it.
"""

import pytest

from tare.host.facts import cpu_flags
from tare.workloads.npb import VARIANTS
from tests.conftest import REPOSITORY
from tests.npb.kernels import KERNELS, run_kernel

PROGRAMS = REPOSITORY / "build" / "sanitized" / "bin"
# What MPI itself keeps until the end is no fault of a kernel.
OPTIONS = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "halt_on_error=1"}
RUNNABLE = [name for name, needed in VARIANTS.needs if needed <= cpu_flags()]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("simd", RUNNABLE)
@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_sanitizers_find_nothing_and_the_values_are_right(kernel: str, ranks: int, simd: str) -> None:
    assert (PROGRAMS / f"npb-{kernel}").exists(), "make test-sanitized compiles it"
    run = run_kernel(
        PROGRAMS, kernel, "--class", "S", "--simd", simd, "--json", ranks=ranks, variables=OPTIONS
    )
    assert run.code == 0, run.stderr[-4000:]
    assert "runtime error" not in run.stderr
    assert run.said["verification"] == "SUCCESSFUL"


def test_the_programs_were_compiled_with_the_sanitizers() -> None:
    assert b"__asan_init" in (PROGRAMS / "npb-cg").read_bytes()
