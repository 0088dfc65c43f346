# SPDX-License-Identifier: Apache-2.0
"""Result folders as campaigns of the fake environment leave them, of any size, made in seconds without a run.

Each trial's line holds what a real one does: the samples, the instance, every signal that a host can give, under what
the commands ran. The values are drawn from a seed; an environment's planted loss is in its name.
"""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from random import Random

from tare.environments.fake import Fake
from tare.journal.lines import first_link, seal
from tare.journal.reader import campaign_digest
from tare.journal.result import ResultFolder
from tare.plan.campaign import Campaign
from tare.plan.trials import plan_trials
from tare.records import (
    NATIVE,
    Clocks,
    Direction,
    Environment,
    HostLoad,
    InstanceRun,
    Layout,
    Limits,
    Outcome,
    Parity,
    Sample,
    Session,
    Signal,
    Status,
    Trial,
    Workload,
)
from tare.signals import FAMILIES

_LOSSES = (0.0, 0.004, 0.01, 0.02, 0.035, 0.05, 0.08, 0.12, 0.2, 0.35)
_NOISE = 0.02
_STARTED = "2026-01-01T00:00:00.000+00:00"
_IMAGE = f"sha256:{sha256(b'none').hexdigest()}"
_FILE = "20260101T000000.000000Z-bench.jsonl"
_PARITY = Parity(
    own={
        "system call filter": "none",
        "capabilities": "000001fffeffffff",
        "no new privileges": "no",
        "user": "0",
        "namespaces of its own": "none",
        "transparent huge pages": "madvise",
        "clock source": "tsc",
    },
    host={
        "nice": "0",
        "scheduler": "other",
        "I/O class": "none",
        "OOM score adjustment": "0",
        "timer slack": "50000 ns",
        **{
            f"limit of {name}": "unlimited:unlimited"
            for name in ("as", "core", "cpu", "data", "nofile", "rss")
        },
    },
)


def _as_it_is(made: Outcome, random: Random) -> Outcome:
    del random
    return made


def campaign(blocks: int, environments: int) -> Campaign:
    return Campaign(
        name="fakes",
        environments=tuple(
            Environment(name=f"arm{place}", technology=Fake.technology, options={"slowdown": loss})
            for place, loss in enumerate(_losses(environments))
        ),
        layouts=(Layout.parse("1c1p1i"),),
        workloads=(Workload(name="work", kind="fake", options={"noise": _NOISE}),),
        limits=Limits(memory_byte=1 << 28, shm_byte=1 << 20, time_s=20.0),
        blocks=blocks,
        margin=0.01,
        budget_s=None,
        seed=1,
    )


def write_result(
    path: Path, blocks: int, environments: int, more: Callable[[Outcome, Random], Outcome] = _as_it_is
) -> int:
    """Make it; gives how many trials it holds: two native ones and one of each environment in each block.

    ``more`` adds to each outcome, with the same source of noise.
    """
    return write_campaign(path, campaign(blocks, environments), more)


def write_campaign(path: Path, made: Campaign, more: Callable[[Outcome, Random], Outcome] = _as_it_is) -> int:
    """The same of any campaign, whose every trial is made as if it had one instance and one run."""
    folder = ResultFolder(path)
    folder.write_campaign(json.dumps(made.to_json()))
    folder.journal.mkdir()
    trials = plan_trials(made, made.seed or 0)
    random, link = Random(1), first_link(_FILE)  # noqa: S311 - noise
    with (folder.journal / _FILE).open("wb") as journal:
        session = _session(len(trials), campaign_digest(path))
        for record in (session, session, *(more(outcome(trial, random), random) for trial in trials), None):
            line, link = seal(record, link)
            journal.write(line)
    return len(trials)


def outcome(trial: Trial, random: Random) -> Outcome:
    planted = trial.environment.options.get("slowdown", 0.0)
    time_s = (1 + float(planted if isinstance(planted, float) else 0)) * random.lognormvariate(0, _NOISE)
    return Outcome(
        trial=trial,
        status=Status.OK,
        reason=None,
        excerpt=None,
        started_utc=_STARTED,
        elapsed_s=time_s + 0.1,
        node_start_s=random.uniform(0.02, 0.03),
        node_stop_s=random.uniform(0.01, 0.02),
        barrier_skew_s=None,
        cpu_s=time_s * random.uniform(0.9, 1.0),
        helper_cpu_s=None if trial.environment.name == NATIVE else random.uniform(0.001, 0.01),
        helpers=0 if trial.environment.name == NATIVE else 1,
        timer_inversions=0,
        samples=tuple(
            Sample(name=name, value=value, unit="s", direction=Direction.LESS, instance=0)
            for name, value in (("wall_s", time_s + random.uniform(0.001, 0.002)), ("time_s", time_s))
        ),
        instances=(_instance(time_s, random),),
        signals=tuple(
            Signal(name=kind.name, unit=kind.unit, scope=kind.scope, value=value, lost_time=kind.lost_time)
            for family in FAMILIES
            for kind in family.kinds
            for value in [
                random.uniform(0.0, 0.1) * time_s if kind.unit == "s" else float(random.randrange(99))
            ]
        ),
        missing_signals={"dtlb_misses": "this version does not read the processors' own counters"},
        parity=_PARITY,
        load=HostLoad(processors=2, foreign=0.0, steal=0.0, throttled=0.0),
        image_digest=_IMAGE,
        facts={"network": "host's", "program digest": _IMAGE, "step of CLOCK_REALTIME": "none"},
    )


def _losses(environments: int) -> list[float]:
    return [_LOSSES[place % len(_LOSSES)] for place in range(environments)]


def _instance(time_s: float, random: Random) -> InstanceRun:
    return InstanceRun(
        instance=0,
        clocks=Clocks(wall_s=time_s, host_wall_s=time_s + 1e-7, round_trip_s=1e-5),
        start_offset_s=0.0,
        user_s=time_s * 0.9,
        system_s=time_s * random.uniform(0.01, 0.05),
        maximum_rss_byte=random.randrange(2_000_000, 3_000_000),
        minor_faults=random.randrange(40, 60),
        major_faults=0,
        voluntary_switches=random.randrange(9),
        involuntary_switches=random.randrange(9),
        exit_code=0,
        signal=None,
        timed_out=False,
        host_span_s=time_s + 1e-4,
        uptime_s=random.uniform(0.04, 0.06),
    )


def _session(planned: int, digest: str | None) -> Session:
    return Session(
        identity="bench",
        started_utc=_STARTED,
        tare_version="0",
        seed=1,
        image_name="none",
        image_digest=_IMAGE,
        host={"kernel": "6.1", "processor": "none", "commands ran as": "user 65529, group 65529"},
        skipped=(),
        planned_trials=planned,
        load=HostLoad(processors=2, foreign=0.0),
        campaign_digest=digest,
    )
