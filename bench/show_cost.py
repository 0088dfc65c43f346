# SPDX-License-Identifier: Apache-2.0
"""What `tare show` costs of a result of 60, 600, 6,000 and 12,000 trials: processor time and the peak of memory.

    python -m bench.show_cost [--rounds 5] [--before PATH]        (needs 200 MB of disk in the temporary folder)

The results are of the fake environment (``bench.fake_results``): ten, 100 and 1,000 blocks of two native trials and
four environments, and 1,000 of ten environments. ``--before`` names another tree of Tare, whose ``src`` shows the same
results in turns with this one's; beyond ``--most-before`` trials it is left out, as an earlier one takes minutes there.
Figures are medians of the rounds; imports are in them, as each is a process of its own, of
modules that an earlier round has compiled.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from bench.children import took
from bench.fake_results import write_result

SIZES = ((10, 4), (100, 4), (1000, 4), (1000, 10))
"""Blocks and environments."""
MOST = {60: (0.6, None), 600: (1.0, None), 6_000: (8.0, None), 12_000: (30.0, 500 << 20)}
"""Trials → the most seconds of processor time, and the most memory in byte."""
HERE = Path(__file__).resolve().parents[1]
CHILD = """
import sys
from tare.cli import main
try:
    main()
except SystemExit as end:
    if end.code:
        raise
"""


class Cost(NamedTuple):
    """Of one process."""

    cpu_s: float
    peak_byte: int


def cost(tree: Path, result: Path) -> Cost:
    _, own = took(tree, CHILD, "show", result)
    return Cost(own.cpu_s, own.peak_byte)


def in_turns(trees: list[Path], result: Path, rounds: int) -> list[Cost]:
    """The median of each tree's rounds; in every round all have their turn."""
    seen: list[list[Cost]] = [[] for _ in trees]
    for number in range(rounds):
        order = range(len(trees)) if number % 2 else reversed(range(len(trees)))
        for place in order:
            seen[place].append(cost(trees[place], result))
    return [Cost(*(statistics.median(column) for column in zip(*own, strict=True))) for own in seen]


def within(trials: int, cost: Cost) -> bool:
    most_s, most_byte = MOST[trials]
    return cost.cpu_s <= most_s and (most_byte is None or cost.peak_byte <= most_byte)


def row(trials: int, costs: list[Cost]) -> str:
    cells = [f"{entry.cpu_s:.2f} s, {entry.peak_byte >> 20} MiB" for entry in costs]
    ratio = f"{costs[1].cpu_s / costs[0].cpu_s:.1f}" if len(costs) > 1 else ""
    return (
        f"| {trials} | {' | '.join([*cells, *[''] * (2 - len(cells))])} | {ratio} | {MOST[trials][0]:g} s |"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--before", type=Path, help="another tree, shown in turns with this one")
    parser.add_argument("--most-before", type=int, default=600, help="trials up to which that is shown")
    asked = parser.parse_args()
    print(
        f"medians of {asked.rounds} rounds\n\n| trials | now | before | before / now | goal |\n|---|---|---|---|---|"
    )
    met = []
    for blocks, environments in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            trials = write_result(Path(folder) / "result", blocks, environments)
            other = [asked.before] if asked.before and trials <= asked.most_before else []
            costs = in_turns([HERE, *other], Path(folder) / "result", asked.rounds)
        met.append(within(trials, costs[0]))
        print(row(trials, costs), flush=True)
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
