# SPDX-License-Identifier: Apache-2.0
"""Processes of their own for benchmarks, with the sources of a tree of Tare, and what each took by its own word."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

# The peak of getrusage(2) and wait4(2) begins with the parent's, which the child is until it executes.
_TELL = """
import resource as _resource
_used = _resource.getrusage(_resource.RUSAGE_SELF)
_peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:"))
print(_used.ru_utime + _used.ru_stime, int(_peak) << 10)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """CPU seconds with all imports, and the peak of memory."""

    cpu_s: float
    peak_byte: int


def took(tree: Path, code: str, *arguments: object) -> tuple[list[str], Took]:
    """What ``code`` printed, and what it took."""
    *lines, figures = printed(tree, code + _TELL, *arguments)
    cpu_s, peak_byte = figures.split()
    return lines, Took(cpu_s=float(cpu_s), peak_byte=int(peak_byte))


def printed(tree: Path, code: str, *arguments: object) -> list[str]:
    """The lines; all runs but the first find the tree's modules compiled, as an installer leaves them."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": ""},
    )
    return done.stdout.splitlines()
