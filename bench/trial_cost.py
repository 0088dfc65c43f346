# SPDX-License-Identifier: Apache-2.0
"""What a trial costs beside its command: from trial to trial, of the runner's processor time, and for its node.

    scripts/with-dockerd python -m bench.trial_cost [--before TREE] [--rounds 3] [--runs 1] [TECHNOLOGY ...]

(As root, with the image built.) A campaign of a command that takes next to nothing runs in a process of its
own; ``--before`` names another checkout, whose ``src`` runs the same campaign in turn. Figures are
medians over the rounds of each process's median trial; the first block is left out, since there every launch is tried.
The claims: a trial takes at most 1 ms longer than before, and its runner at most 8 ms of processor time.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parents[1]
USUAL = ("native", "bubblewrap", "docker")
WHAT = ("trial", "runner's CPU time", "node's start and stop")
MOST_LONGER_S = 1e-3
MOST_RUNNER_S = 8e-3
_LIMIT_S = 300.0
_CHILD = """
import json, sys, tempfile, time
from pathlib import Path
from statistics import median
from tare.journal.result import ResultFolder
from tare.measure.campaign import Request, measure_campaign
from tare.plan.campaign import Campaign
from tare.records import Environment, Layout, Limits, Workload

technology, blocks = sys.argv[1], int(sys.argv[2])
ends = []

class Audience:
    def ended(self, outcome):
        node_s = outcome.node_start_s + outcome.node_stop_s
        ends.append((outcome.trial.environment.technology, time.perf_counter(), time.process_time(), node_s))

    def __getattr__(self, name):
        return lambda *_, **__: None

others = () if technology == "native" else (Environment(name="arm", technology=technology),)
campaign = Campaign(
    name="trial-cost", environments=others or (Environment(name="again", technology="native"),),
    layouts=(Layout.parse("1c1p1i"),),
    workloads=(Workload(
        name="command", kind="command", options={"argv": ["{tools}/burn", "1000"]}, iterations=int(sys.argv[3])
    ),),
    limits=Limits(memory_byte=1 << 28, shm_byte=1 << 20, time_s=60.0), blocks=blocks, margin=0.01, budget_s=None,
    seed=1,
)
with tempfile.TemporaryDirectory() as folder:
    measure_campaign(Request(campaign=campaign, folder=ResultFolder(Path(folder) / "result")), Audience())
first = len(ends) // blocks
pairs = [(one, two) for one, two in zip(ends[first - 1:], ends[first:]) if two[0] == technology]
print(json.dumps([*(median(two[place] - one[place] for one, two in pairs) for place in (1, 2)),
    median(two[3] for _, two in pairs)]))
"""


class Cost(NamedTuple):
    """Of one trial."""

    wall_s: float
    runner_cpu_s: float
    node_s: float
    """Start and stop."""


def cost(tree: Path, technology: str, asked: argparse.Namespace) -> Cost:
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, technology, str(asked.blocks), str(asked.runs)],
        env={**os.environ, "PYTHONPATH": str(tree / "src")},
        capture_output=True,
        text=True,
        check=False,
        timeout=_LIMIT_S,
    )
    if done.returncode:
        raise SystemExit(f"{technology} in {tree}: {done.stderr[-2000:]}")
    return Cost(*json.loads(done.stdout.splitlines()[-1]))


def in_turns(trees: Sequence[Path], technology: str, asked: argparse.Namespace) -> list[Cost]:
    """The median of each tree's rounds; who begins changes from round to round."""
    seen: Mapping[Path, list[Cost]] = {tree: [] for tree in trees}
    for number in range(asked.rounds):
        for tree in trees if number % 2 else reversed(trees):
            seen[tree].append(cost(tree, technology, asked))
    return [Cost(*map(statistics.median, zip(*own, strict=True))) for own in seen.values()]


def row(technology: str, costs: Sequence[Cost]) -> str:
    cells = [f"{seconds * 1e3:.1f}" for entry in costs for seconds in entry]
    return f"| {technology} | {' | '.join(cells)} |"


def met(costs: Sequence[Cost]) -> bool:
    now, *before = costs
    return now.runner_cpu_s <= MOST_RUNNER_S and all(
        now.wall_s <= entry.wall_s + MOST_LONGER_S for entry in before
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("technologies", nargs="*", metavar="TECHNOLOGY", default=USUAL)
    parser.add_argument("--before", type=Path, help="another checkout, run in turn with this one")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--blocks", type=int, default=20)
    parser.add_argument("--runs", type=int, default=1, help="of the command in a trial")
    asked = parser.parse_args()
    trees = [HERE, *([asked.before] if asked.before else [])]
    names = [f"{name}: {what}" for name in ("now", "before")[: len(trees)] for what in WHAT]
    print(f"ms, medians of {asked.rounds} rounds of {asked.blocks} blocks, {asked.runs} run(s) a trial\n")
    print(f"| technology | {' | '.join(names)} |\n{'|---' * (1 + len(names))}|")
    every = []
    for technology in asked.technologies:
        costs = in_turns(trees, technology, asked)
        every.append(met(costs))
        print(row(technology, costs), flush=True)
    return 0 if all(every) else 1


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("run as root: nodes need mounts and control groups")
    sys.exit(main())
