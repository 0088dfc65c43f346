# SPDX-License-Identifier: Apache-2.0
"""``memory`` beside the STREAM of HPC Challenge, like with like; docs/memory.md says why it is this form.

hpcc cannot do STREAM alone: it is stopped once its two STREAM sections are written. What comes before them takes most
of the time.
"""

import mmap
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
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
BEFORE: Mapping[str, Mapping[str, int]] = {"add": {"scale": 2}, "triad": {}}
"""Operation → what our program does before each pass of it, with how many arrays. Nothing: the same again, as the add
before STREAM's triad is alike to it. STREAM's add follows a scale, which leaves more to be written back. Its others
are not alike: Debian's compiler made the copy a memcpy, and our scale has no third array, which STREAM passes over
between two."""
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
_HELD_MIB = 2048
_HUGE_PAGE_BYTE = 2 * MEBIBYTE
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
    ours = Side("memory", best, lambda: with_other_pages(lambda: our_figures(folder)))
    theirs = Side("hpcc", best, lambda: with_other_pages(lambda: their_figures(folder)))
    yield Pair(ours, theirs, WITHIN)


def with_other_pages(run: Callable[[], Figures]) -> Figures:
    """The figures of a run beside memory that is held meanwhile, of a random size.

    The kernel gives a program the pages that the one before it gave back, so a lucky or an unlucky draw would last for
    all rounds.
    """
    held_byte = secrets.randbelow(_HELD_MIB) * MEBIBYTE
    with mmap.mmap(-1, held_byte + _HUGE_PAGE_BYTE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as held:
        held.madvise(mmap.MADV_HUGEPAGE)
        held[::_HUGE_PAGE_BYTE] = bytes(len(held[::_HUGE_PAGE_BYTE]))
        return run()


def our_figures(folder: Path) -> Figures:
    return {_name(operation): _pass_s(folder, operation, before) for operation, before in BEFORE.items()}


def _pass_s(folder: Path, operation: str, before: Mapping[str, int]) -> float:
    """Of slices of one pass, in a program of its own: with more pieces there would be more arrays than STREAM's."""
    piece = _piece(operation, ARRAYS)
    pieces = {_piece(name, arrays): ARRAY_MIB for name, arrays in before.items()} | {piece: ARRAY_MIB}
    return ARRAY_MIB * min(min(slices_s(folder, pieces, PASSES, huge_pages=True)[piece]) for _ in range(RUNS))


def _piece(operation: str, arrays: int) -> str:
    return f"{operation}:{arrays * (ARRAY_MIB * MEBIBYTE + _PAGE_BYTE)}"


def their_figures(folder: Path) -> Figures:
    text = _stream_sections(folder)
    assert text.count(_RIGHT) == RUNS, text[-2000:]
    elements = {int(size) for size in _ELEMENTS.findall(text)}
    assert all(abs(size * 8 / (ARRAY_MIB * MEBIBYTE) - 1) < WITHIN / 100 for size in elements), elements
    rates: dict[str, list[float]] = {}
    for operation, rate in _RATE.findall(text):
        rates.setdefault(operation.lower(), []).append(float(rate))
    assert all(len(rates[operation]) == RUNS for operation in BEFORE), text[-2000:]
    byte = ARRAYS * ARRAY_MIB * MEBIBYTE
    return {_name(operation): byte / (max(rates[operation]) * 1e9) for operation in BEFORE}


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
