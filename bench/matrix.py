# SPDX-License-Identifier: Apache-2.0
"""What a matrix of 13 file sizes, 13 record sizes, 6 operations and 10 blocks costs from journal to report.

    python -m bench.matrix [--environments 1]        (needs the extra "pictures", and 100 MB of disk)

Per arm that makes 10 140 samples, which give a band and a map for each operation. Printed: wall time, processor time
and the peak of memory of `tare report`, a process of its own, imports included, beside those of the same result
without the matrix, in turns.
"""

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

from bench.fake_results import write_result
from tare.records import Coordinate, Direction, Outcome, Sample

OPERATIONS = ("write", "rewrite", "read", "reread", "random write", "random read")
STEPS = 13
MOST_S, MOST_BYTE = 30.0, 1 << 30


def matrix(outcome: Outcome, random: Random) -> Outcome:
    """The outcome with a rate at each place of each operation; an arm loses with the smallest records."""
    return replace(outcome, samples=(*outcome.samples, *_rates(outcome, random)))


def _rates(outcome: Outcome, random: Random) -> Iterator[Sample]:
    loss = 0.2 * (outcome.trial.environment.name != "native")
    for operation in OPERATIONS:
        for size in range(STEPS):
            for record in range(STEPS):
                time_s = (1 + loss * (record == 0)) * math.exp(random.gauss(0, 0.02)) / 1e9
                yield Sample(
                    name=f"{operation}_byte_per_s",
                    value=1 / time_s,
                    unit="B/s",
                    direction=Direction.MORE,
                    coordinates=(
                        Coordinate("size", float(65536 << size), "B"),
                        Coordinate("record", float(4096 << record), "B"),
                    ),
                )


def cost(result: Path) -> tuple[float, float, int]:
    """Wall and processor time in seconds, and the peak of memory in byte, of `tare report`."""
    begun = time.monotonic()
    argv = [sys.executable, "-m", "tare", "report", str(result), "--output", str(result / "report.html")]
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(argv)} ended with {child.returncode}")
    return time.monotonic() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--environments", type=int, default=1)
    parser.add_argument("--blocks", type=int, default=10)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plain, whole = Path(folder) / "plain", Path(folder) / "matrix"
        write_result(plain, asked.blocks, asked.environments)
        write_result(whole, asked.blocks, asked.environments, matrix)
        for name, result in (("without", plain), ("with", whole)):
            wall_s, cpu_s, peak_byte = cost(result)
            print(f"{name} the matrix: {wall_s:.1f} s, {cpu_s:.1f} s of a processor, {peak_byte >> 20} MiB")
    return int(wall_s > MOST_S or peak_byte > MOST_BYTE)


if __name__ == "__main__":
    sys.exit(main())
