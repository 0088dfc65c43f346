# SPDX-License-Identifier: Apache-2.0
"""How far apart do instances begin that start on one barrier, and is what Tare tells of it true?

    python -m bench.barrier [--starts 200] [--blocks 2] [TECHNOLOGY ...]      (as root, with the image built)

As many instances as there are processors, each in a node of its own but natively, run a program that prints the clock
of the host at its first instruction. Prints of each technology the skew of the starts by the programs' own word and as
Tare tells it, and the error of what is told: median, 99th percentile and largest. The claim: at the 99th percentile the
programs' first instructions are at most 2 ms apart, and told wrong by at most 1 ms, on a quiet host.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.quiet import Quiet
from tare.host.facts import online_processors
from tare.journal.reader import read_journal
from tare.journal.result import ResultFolder
from tare.measure.campaign import Request, measure_campaign
from tare.plan.campaign import Campaign
from tare.records import NATIVE, Environment, Layout, Limits, Outcome, Workload

MOST_S, MOST_WRONG_S = 0.002, 0.001
SHARE = 0.99
PROGRAM = Path(__file__).with_name("first_instruction.c")
TECHNOLOGIES = ("bubblewrap", "lxc", "podman")
"""With the host's kernel, and so with its clock."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--starts", type=int, default=200, help="in each block")
    parser.add_argument("--blocks", type=int, default=2)
    parser.add_argument("technology", nargs="*", default=TECHNOLOGIES)
    chosen = parser.parse_args()
    if len(online_processors()) < 2:  # noqa: PLR2004 - one instance is never apart
        raise SystemExit("at least two processors are needed: one instance begins with itself")
    print(f"load average {os.getloadavg()[0]:.1f}; median / 99th percentile / largest of each")
    skews = measured(chosen.technology, chosen.starts, chosen.blocks)
    held = [report(name, skews[name]) for name in (NATIVE, *chosen.technology)]
    return 0 if all(held) else 1


def measured(technologies: Sequence[str], starts: int, blocks: int) -> dict[str, list[tuple[float, float]]]:
    """Technology → of each start the skew of the first instructions and the one that Tare tells, in seconds."""
    skews: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        program = Path(folder) / "bound" / "first_instruction"
        program.parent.mkdir()
        os.chmod(folder, 0o755)  # noqa: S103, PTH101 - an ordinary user runs what is bound
        subprocess.run(["cc", "-O2", "-static", "-o", str(program), str(PROGRAM)], check=True)
        result = ResultFolder(Path(folder) / "result")
        measure_campaign(
            Request(campaign=_campaign(technologies, program, starts, blocks), folder=result), Quiet()
        )
        for outcome in read_journal(result.journal).outcomes:
            skews.setdefault(outcome.trial.environment.technology, []).extend(_skews(outcome, result.raw))
    return skews


def _campaign(technologies: Sequence[str], program: Path, starts: int, blocks: int) -> Campaign:
    instances = len(online_processors())
    return Campaign(
        name="barrier",
        environments=tuple(Environment(name=name, technology=name) for name in technologies),
        layouts=(Layout.parse(f"{instances}c1p{instances}i"),),
        workloads=(
            Workload(name="begin", kind="command", options={"argv": [str(program)]}, iterations=starts),
        ),
        limits=Limits(memory_byte=1 << 28, shm_byte=1 << 20, time_s=60.0),
        blocks=blocks,
        margin=0.01,
        budget_s=None,
        seed=1,
        binds=(f"{program.parent}:ro",),
        turns=None,
    )


def _skews(outcome: Outcome, raw: Path) -> list[tuple[float, float]]:
    assert outcome.reason is None, outcome.reason
    begun: dict[int | None, list[tuple[int, float]]] = {}
    for run in outcome.instances:
        printed = raw / outcome.trial.identity / f"i{run.instance}-{run.iteration}.stdout"
        begun.setdefault(run.iteration, []).append((int(printed.read_text()), run.start_offset_s))
    return [_skew(start) for start in begun.values()]


def _skew(begun: Sequence[tuple[int, float]]) -> tuple[float, float]:
    seen_ns, told_s = zip(*begun, strict=True)
    return (max(seen_ns) - min(seen_ns)) * 1e-9, max(told_s)


def report(technology: str, skews: Sequence[tuple[float, float]]) -> bool:
    """Print the line of one technology; whether the claim holds for it."""
    seen_s, told_s = (sorted(side) for side in zip(*skews, strict=True))
    wrong_s = sorted(abs(seen - said) for seen, said in skews)
    print(
        f"{technology}: first instructions {_said(seen_s)} apart, told {_said(told_s)}; "
        f"told wrong by {_said(wrong_s)} (n = {len(skews)})"
    )
    return _percentile(seen_s) <= MOST_S and _percentile(wrong_s) <= MOST_WRONG_S


def _percentile(ordered: Sequence[float]) -> float:
    return ordered[min(len(ordered) - 1, int(SHARE * len(ordered)))]


def _said(ordered: Sequence[float]) -> str:
    middle, most = ordered[len(ordered) // 2], ordered[-1]
    return f"{middle * 1000:.2f} / {_percentile(ordered) * 1000:.2f} / {most * 1000:.2f} ms"


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("run as root: nodes need mounts and control groups")
    sys.exit(main())
