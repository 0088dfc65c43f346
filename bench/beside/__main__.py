# SPDX-License-Identifier: Apache-2.0
"""Tare's workloads beside the programs whose part they have, in one run on one machine.

    python -m bench.beside [--only memory os mpiio collective] [--rounds 12] [--seed 1] [--folder build]

About ten minutes on two idle processors, half of it hpcc's. Needs `make native`, and as far as they are to be compared,
Debian's hpcc, fio, linux-perf and python3-mpi4py. The files of ``os`` and ``mpiio`` lie in the folder. The rounds of
a pair run in turn, in random order. The exit code is 0 if all that was compared agrees as closely as claimed.
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path

from bench.beside import files, memory, messages, operations
from bench.beside.pairs import HEADING, PROGRAMS, line, rows

KINDS = {
    "memory": memory.pairs,
    "os": operations.pairs,
    "mpiio": files.pairs,
    "collective": messages.pairs,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=PROGRAMS.parents[1])
    chosen = parser.parse_args()
    source = random.Random(chosen.seed)  # noqa: S311 - the order of runs
    print(HEADING)
    words: list[str] = []
    with tempfile.TemporaryDirectory(dir=chosen.folder.resolve()) as folder:
        for kind in chosen.only:
            for pair in KINDS[kind](Path(folder)):
                for row in rows(pair, chosen.rounds, source):
                    words.append(row.word)
                    print(line(row), flush=True)
    shown = words.count("shown")
    print(f"\nshown: {shown} of {len(words)}")
    return 0 if words and shown == len(words) else 1


if __name__ == "__main__":
    sys.exit(main())
