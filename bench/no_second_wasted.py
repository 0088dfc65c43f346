# SPDX-License-Identifier: Apache-2.0
"""All that Tare's users wait for, beside its goals: each benchmark in turn, before and after, then a table of them.

    scripts/with-dockerd python -m bench.no_second_wasted [--before TREE] [ROW ...]     (as root, with image and kernel)

Hours in all, so on a machine with nothing else to do; ``ROW`` chooses. ``--before`` is another checkout, which is
measured in turn with this one wherever a row has a before. The rows of NPB and of the wheel need what is not in the
tree (``python -m bench.npb REFERENCE``, ``python -m bench.setup_cost --wheel FILE``) and are run by themselves.
"""

import argparse
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Row:
    """A benchmark that ends with 0 unless its goal is missed."""

    name: str
    goal: str
    words: tuple[str, ...]
    before: tuple[str, ...] = ()
    """What another checkout's path is put behind."""
    alone: bool = True
    """Whether it has a goal that can be met without another checkout."""

    def end(self, succeeded: bool, compared: bool) -> str:
        """In a word; ``compared``: with another checkout."""
        if not succeeded:
            return "MISSED"
        return "met" if self.alone or (self.before and compared) else "not compared"


ROWS = (
    Row("nodes", "start and stop at most 1.15 times as long as by system calls alone", ("node_cost",)),
    Row(
        "trial", "no more than before, the runner's share at most 8 ms", ("trial_cost",), ("--before",), False
    ),
    Row("work", "at least 97 % of the time", ("work_share",)),
    Row("show", "0.6, 1, 8 and 30 s of 60, 600, 6,000 and 12,000 trials", ("show_cost",), ("--before",)),
    Row("ingest", "100,000 trials in 20 s once, then 2 s and 300 MiB", ("ingest",), ("--before",)),
    Row("fifty million", "samples from a journal", ("fifty_million",), ("--before",)),
    Row(
        "guests",
        "a paravirtual one boots in at most 1.2 times what QEMU takes by hand",
        ("guest_boot", "--devices", "paravirtual"),
    ),
    Row("guests' ways", "none: what a leaner boot would give", ("guest_boot", "--ways"), (), False),
    Row("no-op", "bias within 0.1 % of CPU time", ("no_op",)),
    Row("barrier", "instances at most 2 ms apart, told to 1 ms, at the 99th percentile", ("barrier",)),
    Row(
        "set-up",
        "at most half of before in CPU time",
        ("setup_cost", "--whole-only", str(HERE)),
        ("",),
        False,
    ),
)


def ran(row: Row, before: Path | None) -> tuple[bool, float]:
    """Whether it ended with 0, and how long it took; its own lines are printed as they come."""
    other = [word for word in (*row.before, str(before)) if word] if before and row.before else []
    argv = [sys.executable, "-m", f"bench.{row.words[0]}", *row.words[1:], *other]
    print(f"\n## {row.name}: {row.goal}\n\n{' '.join(argv[1:])}\n", flush=True)
    begun = time.monotonic()
    return subprocess.run(argv, cwd=HERE, check=False).returncode == 0, time.monotonic() - begun


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", metavar="ROW", choices=[*(row.name for row in ROWS), []])
    parser.add_argument("--before", type=Path, help="another checkout of Tare")
    asked = parser.parse_args()
    chosen = [row for row in ROWS if not asked.rows or row.name in asked.rows]
    before = asked.before.resolve() if asked.before else None
    ends = [(row, *ran(row, before)) for row in chosen]
    print("\n| row | goal | | took |\n|---|---|---|---|")
    for row, succeeded, took_s in ends:
        end = row.end(succeeded, before is not None)
        print(f"| {row.name} | {row.goal} | {end} | {took_s:.0f} s |")
    return 0 if all(succeeded for _, succeeded, _ in ends) else 1


if __name__ == "__main__":
    sys.exit(main())
