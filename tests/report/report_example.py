# SPDX-License-Identifier: Apache-2.0
"""Synthetic analyses that look like campaigns of the HPC Challenge suite."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from tare.analyze import answers, controls, verdicts
from tare.records import (
    NATIVE,
    Analysis,
    Direction,
    Environment,
    Layout,
    Limits,
    Outcome,
    Overhead,
    Sample,
    Session,
    Skipped,
    Status,
    Trial,
    Verdict,
    Workload,
)
from tare.treat import summaries

ENVIRONMENTS = ("docker", "lxc", "systemd-nspawn", "bubblewrap", "fake")
DIGEST = "sha256:" + "3f9a17c2" * 8
MARGIN = 0.01


@dataclass(frozen=True)
class Figure:
    """A metric's true native value, its noise, and each environment's true overhead."""

    name: str
    native: float
    unit: str
    direction: Direction
    variation: float
    overheads: tuple[float, ...]


FIGURES = (
    Figure("hpl_flop_per_s", 93.2e9, "flop/s", Direction.MORE, 0.004, (0.004, 0.001, 0.021, 0.0, 0.067)),
    Figure("ptrans_byte_per_s", 3.7e9, "B/s", Direction.MORE, 0.02, (0.01, 0.0, 0.01, 0.0, 0.07)),
    Figure("dgemm_single_flop_per_s", 59.1e9, "flop/s", Direction.MORE, 0.002, (0.0, 0.0, 0.001, 0.0, 0.06)),
    Figure("dgemm_star_flop_per_s", 55.4e9, "flop/s", Direction.MORE, 0.003, (0.001, 0.0, 0.0, 0.0, 0.06)),
    Figure("stream_copy_star_byte_per_s", 24.1e9, "B/s", Direction.MORE, 0.01, (0.0, 0.0, 0.0, 0.0, 0.03)),
    Figure("stream_triad_single_byte_per_s", 48.2e9, "B/s", Direction.MORE, 0.01, (0.0, 0.0, 0.0, 0.0, 0.02)),
    Figure("stream_triad_star_byte_per_s", 27.8e9, "B/s", Direction.MORE, 0.012, (0.0, 0.0, 0.0, 0.0, 0.03)),
    Figure("random_access_mpi_update_per_s", 3.2e7, "update/s", Direction.MORE, 0.05, (0.3, 0, 0.2, 0, 0.9)),
    Figure("fft_mpi_flop_per_s", 6.4e9, "flop/s", Direction.MORE, 0.02, (0.02, 0.0, 0.02, 0.0, 0.05)),
    Figure("ping_pong_average_latency_s", 2.3e-7, "s", Direction.LESS, 0.1, (0.1, 0.0, -0.1, 0.0, 1.4)),
    Figure("ping_pong_average_byte_per_s", 9.1e9, "B/s", Direction.MORE, 0.08, (0.1, 0.0, 0.0, 0.0, 0.2)),
    Figure("wall_s", 5.8, "s", Direction.LESS, 0.006, (0.008, 0.002, 0.02, 0.001, 0.07)),
    Figure("cpu_s", 11.3, "s", Direction.LESS, 0.002, (0.002, 0.0, 0.01, 0.0, 0.05)),
)


def example(
    *,
    blocks: int = 10,
    instances: int = 1,
    figures: Sequence[Figure] = FIGURES,
    environments: Sequence[str] = ENVIRONMENTS,
    workload: str = "hpcc",
    losing: bool = True,
) -> Analysis:
    """An analysis of one cell; with ``losing`` a few trials failed or are invalid."""
    return _example(blocks, instances, tuple(figures), tuple(environments), workload, losing=losing)


@cache
def _example(
    blocks: int,
    instances: int,
    figures: tuple[Figure, ...],
    environments: tuple[str, ...],
    workload: str,
    *,
    losing: bool,
) -> Analysis:
    chance = random.Random(7)  # noqa: S311 - samples, not secrets
    layout = Layout(nodes=1, processors=2, instances=instances)
    arms = [(NATIVE, 0), (NATIVE, 1), *((name, 0) for name in environments)]
    outcomes = []
    for block in range(1, blocks + 1):
        chance.shuffle(arms)
        for slot, (name, replicate) in enumerate(arms):
            trial = Trial(
                identity=f"b{block:03}-{workload}-{layout}-{name}-{replicate}",
                block=block,
                slot=slot,
                environment=Environment(name=name, technology=name),
                replicate=replicate,
                layout=layout,
                workload=Workload(name=workload, kind=workload, options={"problem_size": 2880}),
                limits=Limits(memory_byte=2 << 30, shm_byte=256 << 20),
            )
            overhead_index = None if name == NATIVE else environments.index(name)
            outcomes.append(_outcome(chance, trial, figures, overhead_index))
    if losing:
        outcomes = _with_losses(outcomes)
    treated = summaries(outcomes, {workload: (figures[0].name,)})
    judged = verdicts(treated, MARGIN)
    return Analysis(
        campaign="quick",
        sessions=(_session(len(outcomes)),),
        verdicts=judged,
        answers=answers(judged),
        controls=controls(treated),
        outcomes=tuple(outcomes),
        skipped=(
            Skipped(environment="podman", reason="podman is not installed", remedy="apt install podman"),
        ),
        margin=MARGIN,
        planned_trials=len(outcomes),
    )


def several_cells() -> Analysis:
    """Two workloads, one of them in two layouts, one of these with two instances."""
    parts = (
        example(),
        example(instances=2, figures=FIGURES[-2:]),
        example(workload="solver", figures=FIGURES[-2:], losing=False),
    )
    return with_verdicts(
        parts[0],
        [verdict for part in parts for verdict in part.verdicts],
        controls=tuple(control for part in parts for control in part.controls),
        outcomes=tuple(outcome for part in parts for outcome in part.outcomes),
        planned_trials=sum(part.planned_trials for part in parts),
    )


def with_verdicts(analysis: Analysis, verdicts: Sequence[Verdict], **others: Any) -> Analysis:
    """The same with these verdicts, with the answers that follow from them, and with others of its fields."""
    return replace(analysis, verdicts=tuple(verdicts), answers=answers(verdicts), **others)


def renamed(analysis: Analysis, *, workload: str, environment: str, text: str) -> Analysis:
    """The same analysis after someone gave the workload, docker, its reasons and facts other texts."""

    def trial(old: Trial) -> Trial:
        name = environment if old.environment.name == "docker" else old.environment.name
        return replace(
            old,
            workload=replace(old.workload, name=workload, options={text: text}),
            environment=Environment(name=name, technology="docker", options={text: text}),
        )

    def overhead(old: Overhead) -> Overhead:
        name = environment if old.summary.environment == "docker" else old.summary.environment
        cell = replace(old.summary.cell, workload=workload)
        return replace(
            old, summary=replace(old.summary, environment=name, cell=cell, metric=old.summary.metric + text)
        )

    return with_verdicts(
        analysis,
        [replace(verdict, overhead=overhead(verdict.overhead)) for verdict in analysis.verdicts],
        campaign=text,
        controls=tuple(overhead(control) for control in analysis.controls),
        outcomes=tuple(
            replace(
                outcome,
                trial=trial(outcome.trial),
                reason=outcome.reason and text,
                excerpt=outcome.reason and text,
                facts={text: text},
            )
            for outcome in analysis.outcomes
        ),
        sessions=tuple(
            replace(session, host={text: text}, image_name=text, image_digest=text)
            for session in analysis.sessions
        ),
        skipped=(Skipped(environment=text, reason=text, remedy=text),),
    )


def _outcome(
    chance: random.Random, trial: Trial, figures: Sequence[Figure], overhead_index: int | None
) -> Outcome:
    samples = []
    for figure in figures:
        for instance in range(trial.layout.instances):
            overhead = 0.0 if overhead_index is None else figure.overheads[overhead_index % 5]
            cost = (1 + overhead) * math.exp(chance.gauss(0, figure.variation))
            more = figure.direction is Direction.MORE
            value = figure.native / cost if more else figure.native * cost
            which = instance if trial.layout.instances > 1 and figure.name != "cpu_s" else None
            if instance == 0 or which is not None:
                samples.append(
                    Sample(
                        name=figure.name,
                        value=value,
                        unit=figure.unit,
                        direction=figure.direction,
                        instance=which,
                    )
                )
    return Outcome(
        trial=trial,
        status=Status.OK,
        reason=None,
        excerpt=None,
        started_utc=f"2025-03-07T14:{trial.block:02}:{trial.slot:02}Z",
        elapsed_s=6.4,
        node_start_s=0.12,
        node_stop_s=0.05,
        barrier_skew_s=None,
        cpu_s=11.3,
        samples=tuple(samples),
        instances=(),
        image_digest=DIGEST,
        facts={
            "blas": "OpenBLAS 0.3.21 SkylakeX",
            "N": "2880",
            "overlay": "fuse" if trial.environment.name == "bubblewrap" else "kernel",
        },
    )


def _with_losses(outcomes: list[Outcome]) -> list[Outcome]:
    changed = {
        (4, "docker"): (Status.FAILED, "the docker node did not start within 30 s"),
        (7, "docker"): (Status.FAILED, "the docker node did not start within 30 s"),
        (2, "lxc"): (Status.INVALID, "node and host clock disagree by 1.2 ms; the round trip allows 0.3 ms"),
    }
    result = []
    for outcome in outcomes:
        status, reason = changed.get(
            (outcome.trial.block, outcome.trial.environment.name), (outcome.status, outcome.reason)
        )
        excerpt = "Error response from daemon: context deadline exceeded" if status is Status.FAILED else None
        result.append(replace(outcome, status=status, reason=reason, excerpt=excerpt))
    return result


def _session(planned_trials: int) -> Session:
    return Session(
        identity="s1",
        started_utc="2025-03-07T14:00:00Z",
        tare_version="0.1.0",
        seed=20250307,
        image_name="default",
        image_digest=DIGEST,
        host={
            "kernel": "Linux 6.1.0-28-amd64",
            "processor": "AMD EPYC 7543 32-Core Processor",
            "processors online": "2",
            "cgroup": "version 2: cpu cpuset io memory pids",
            "governor": "not readable: no cpufreq driver",
            "virtualization": "kvm",
        },
        skipped=(),
        planned_trials=planned_trials,
    )
