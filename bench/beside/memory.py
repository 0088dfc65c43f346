# SPDX-License-Identifier: Apache-2.0
"""``memory`` beside the STREAM of HPC Challenge, like with like; docs/memory.md says why it is this form.

hpcc cannot do STREAM alone: it is stopped once its two STREAM sections are written. What comes before them takes most
of the time.
"""

import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.beside.pairs import LIMIT_S, Figures, Pair, Side, on_processor
from bench.beside.slices import slices_s
from tare.units import MEBIBYTE
from tare.workloads.hpcc import INPUT, OUTPUT
from tare.workloads.hpcc.input import input_text

WITHIN = 0.03
ARRAY_MIB = 43
PROBLEM_SIZE = 4112
"""N whose matrix is three arrays of ``ARRAY_MIB``, but for 0.002 %."""
OPERATIONS = ("add", "triad")
"""STREAM's others are not alike: Debian's compiler made its copy a memcpy, and our scale has no third array, which
STREAM passes over between two passes."""
ARRAYS = 3
PASSES = 9
"""Of each operation, after one that does not count: STREAM's."""
RUNS = 2
"""hpcc does STREAM twice, as its star and its single test, which are the same for one process."""
_PAGE_BYTE = 4096
"""malloc's arrays are apart by their size and this, as its own words stand before each. In huge pages the distance
decides in which banks and sets the three streams meet."""
_HUGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""malloc asks for huge pages as ours does (GNU C library 2.35). In pages of 4 KiB the real pages that a start gets
decide a tenth of a pass."""
_END = "End of SingleSTREAM section."
_RATE = re.compile(r"^(Add|Triad): +([0-9.]+) ", re.MULTILINE)
_ELEMENTS = re.compile(r"^Array size = ([0-9]+),", re.MULTILINE)
_RIGHT = "Solution Validates"
_LOOK_S = 0.2


def pairs(folder: Path) -> Iterator[Pair]:
    if not shutil.which("hpcc"):
        print("left out: memory; hpcc is not installed")
        return
    best = f"best of {RUNS * PASSES} passes"
    yield Pair(Side("memory", best, lambda: ours(folder)), Side("hpcc", best, lambda: theirs(folder)), WITHIN)


def ours(folder: Path) -> Figures:
    """Slices of one pass, in a program of each operation: with several there would be more arrays than STREAM's."""
    figures = {}
    for operation in OPERATIONS:
        piece = f"{operation}:{ARRAYS * (ARRAY_MIB * MEBIBYTE + _PAGE_BYTE)}"
        best_s = min(
            min(slices_s(folder, {piece: ARRAY_MIB}, PASSES, huge_pages=True)[piece]) for _ in range(RUNS)
        )
        figures[_name(operation)] = ARRAY_MIB * best_s
    return figures


def theirs(folder: Path) -> Figures:
    text = _stream_sections(folder)
    assert text.count(_RIGHT) == RUNS, text[-2000:]
    elements = {int(size) for size in _ELEMENTS.findall(text)}
    assert all(abs(size * 8 / (ARRAY_MIB * MEBIBYTE) - 1) < WITHIN / 100 for size in elements), elements
    rates: dict[str, list[float]] = {}
    for operation, rate in _RATE.findall(text):
        rates.setdefault(operation.lower(), []).append(float(rate))
    assert all(len(rates[operation]) == RUNS for operation in OPERATIONS), text[-2000:]
    byte = ARRAYS * ARRAY_MIB * MEBIBYTE
    return {_name(operation): byte / (max(rates[operation]) * 1e9) for operation in OPERATIONS}


def _name(operation: str) -> str:
    return f"{operation} over {ARRAYS} arrays of {ARRAY_MIB} MiB"


def _stream_sections(folder: Path) -> str:
    with tempfile.TemporaryDirectory(dir=folder) as own:
        place = Path(own)
        (place / INPUT).write_text(input_text(PROBLEM_SIZE, 192, (1, 1)))
        argv = [str(word) for word in on_processor("hpcc")]
        variables = {"OPENBLAS_NUM_THREADS": "1", "TMPDIR": own, "PATH": "/usr/bin:/bin", **_HUGE_PAGES}
        with subprocess.Popen(
            argv, cwd=place, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            try:
                return _once_written(process, place / OUTPUT)
            finally:
                process.send_signal(signal.SIGTERM)


def _once_written(process: subprocess.Popen[bytes], path: Path) -> str:
    deadline_s = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline_s:
        ended = process.poll() is not None
        text = path.read_text() if path.exists() else ""
        if _END in text:
            return text
        if ended:
            raise SystemExit(
                f"hpcc ended with exit code {process.returncode} before its STREAM: {text[-500:]}"
            )
        time.sleep(_LOOK_S)
    raise SystemExit(f"hpcc did not come to its STREAM within {LIMIT_S} s")
