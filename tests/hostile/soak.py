# SPDX-License-Identifier: Apache-2.0
"""Thousands of trials in one process: memory, descriptors, threads, namespaces, control groups and mounts stay level.

The fake's trials run in one campaign, the real environments' in another. The process is looked at all along; between
the first quarter, in which all that is made once has been made, and the end, nothing may grow but the outcomes that
it keeps.
"""

import argparse
import gc
import os
import re
import sys
import threading
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import Self

from tare.environments import PROVIDERS
from tare.host.paths import images_directory
from tare.journal.result import ResultFolder
from tare.measure.campaign import Request, measure_campaign
from tare.plan.blocks import MOST_BLOCKS
from tare.plan.campaign import Campaign
from tare.records import Environment, Exclude, Layout, Limits, Outcome, Status, Workload
from tests.fake_campaign import FAKES, Listener
from tests.hostile.kills import own_daemon, usable_technologies
from tests.hostile.stage import Stage, staged
from tests.machine import Machine
from tests.real_environments import lend_guest_parts

LOOKS = 40
FAKE_ARMS = ("first", "second", "third")
"""With native's two, five in a block: 5,000 trials fit into the most blocks that a campaign may have."""
KEPT_IMAGES = images_directory()
MOST_GROWTH_BYTE_PER_TRIAL = 16 * 1024
"""An outcome is kept in memory until the campaign ends, so that stopping rules can judge it."""

_STAT = re.compile(r"/proc/\d+/stat")
"""Held of each process that runs on the machine, for who uses the processors: their number is nobody's growth."""


@dataclass(frozen=True)
class Levels:
    """What a process and its machine hold."""

    trials: int
    resident_byte: int
    descriptors: int
    threads: int
    children: int
    mounts: int
    groups: int

    @classmethod
    def look(cls, trials: int) -> Self:
        gc.collect()
        resident_pages = int(Path("/proc/self/statm").read_text().split()[1])
        things = Machine.look().things
        return cls(
            trials=trials,
            resident_byte=resident_pages * os.sysconf("SC_PAGE_SIZE"),
            descriptors=sum(
                not _STAT.match(target) for target in map(_target, Path("/proc/self/fd").iterdir())
            ),
            threads=threading.active_count(),
            children=len(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()),
            mounts=sum(thing.startswith("mount ") for thing in things),
            groups=sum(thing.startswith("cgroup ") for thing in things),
        )


def _target(descriptor: Path) -> str:
    """Where it leads; empty when it is closed by now, as the descriptor of the listing itself is."""
    try:
        return str(descriptor.readlink())
    except OSError:
        return ""


class Watch(Listener):
    """Looks at the process now and then; forgets the outcomes, which only fill its memory."""

    def __init__(self, every: int) -> None:
        super().__init__()
        self._every = every
        self.levels: list[Levels] = []
        self.ended_trials = 0
        self.failures: list[str] = []

    def ended(self, outcome: Outcome) -> None:
        self.ended_trials += 1
        if outcome.status is not Status.OK:
            self.failures.append(f"{outcome.trial.identity}: {outcome.reason}")
        if self.ended_trials % self._every == 0:
            self.levels.append(Levels.look(self.ended_trials))


def grown(levels: Sequence[Levels]) -> list[str]:
    """What is higher at the end than after the first quarter."""
    early, late = levels[len(levels) // 4], levels[-1]
    trials = late.trials - early.trials
    wrong = []
    for name, before, after in zip(
        (field.name for field in fields(Levels)), astuple(early), astuple(late), strict=True
    ):
        if name == "resident_byte":
            per_trial = (after - before) / trials
            if per_trial > MOST_GROWTH_BYTE_PER_TRIAL:
                wrong.append(f"{per_trial / 1024:.1f} KiB more resident memory with each trial")
        elif name != "trials" and after > before:
            wrong.append(f"{name} {before} to {after}")
    return wrong


def campaign(environments: Sequence[Environment], workload: Workload, trials: int) -> Campaign:
    blocks = min(MOST_BLOCKS, -(-trials // (len(environments) + 2)))
    return Campaign(
        name="soak",
        environments=tuple(environments),
        layouts=(Layout.parse("1c1p1i"),),
        workloads=(workload,),
        limits=Limits(memory_byte=1 << 28, shm_byte=1 << 20, time_s=60.0),
        blocks=blocks,
        looks=(blocks,),
        exclude=Exclude(foreign_load=None, frequency_change=None, temperature_c=None),
        margin=0.01,
        budget_s=None,
        seed=1,
    )


def soak(stage: Stage, wanted: Campaign, trials: int, *, fakes: bool) -> tuple[Watch, int]:
    """Run it in this process; returns what was seen, and how many trials ran."""
    request = Request(campaign=wanted, folder=ResultFolder(stage.result))
    watch = Watch(every=max(1, trials // LOOKS))
    measure_campaign(replace(request, providers=FAKES if fakes else PROVIDERS), watch)
    return watch, watch.ended_trials


def report(name: str, watch: Watch) -> list[str]:
    for level in (watch.levels[len(watch.levels) // 4], watch.levels[-1]):
        print(f"{name}: {level}", flush=True)
    failed = [f"{len(watch.failures)} trials failed: {watch.failures[0]}"] if watch.failures else []
    return [f"{name}: {fault}" for fault in grown(watch.levels) + failed]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fake", type=int, default=5000)
    parser.add_argument("--real", type=int, default=500)
    asked = parser.parse_args()
    faults, ran = [], []
    fake = Workload(name="work", kind="fake", options={"value": 1.0, "noise": 0.02, "sleep_s": 0.001})
    burn = Workload(name="burn", kind="command", options={"argv": ["{tools}/burn", "1000000"]})
    with staged() as stage:
        os.environ["TARE_STATE"] = str(stage.state)
        watch, count = soak(
            stage,
            campaign([Environment(name=name, technology="fake") for name in FAKE_ARMS], fake, asked.fake),
            asked.fake,
            fakes=True,
        )
        faults += report("fake", watch)
        ran.append(f"{count} fake")
    with staged() as stage:
        (stage.state / "images").rename(stage.state / "small")
        (stage.state / "images").symlink_to(KEPT_IMAGES)
        lend_guest_parts(stage.state)
        with own_daemon(stage.folder):
            os.environ["TARE_STATE"] = str(stage.state)
            environments = [Environment(name=name, technology=name) for name in usable_technologies()]
            watch, count = soak(stage, campaign(environments, burn, asked.real), asked.real, fakes=False)
        faults += report("real", watch)
        ran.append(f"{count} in {', '.join(environment.name for environment in environments)}")
    print("\n".join(faults))
    print(f"soak: {' and '.join(ran)}; {len(faults)} things grew or failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
