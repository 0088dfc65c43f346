# SPDX-License-Identifier: Apache-2.0
"""Trials that failed with their hosts count as not begun: a host is lost, or Slurm's job or controller is."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from tare.environments.ssh.connection import variables
from tare.environments.ssh.shared import opened
from tare.errors import HostError, NodeError
from tare.host import process, slurm
from tare.measure.at_once import at_once
from tare.measure.hosts import ReachedHost, far_of
from tare.records import NamedHost, Outcome, Status

_CONTROLLER_LIMIT_S = 600.0


def require_hosts(outcome: Outcome, reached: Mapping[str, ReachedHost]) -> None:
    """``HostError`` if the trial failed and a host of it does not answer any more."""
    if outcome.status is not Status.FAILED:
        return
    hosts = [reached[name].host for name in outcome.trial.hosts if name in reached]
    if lost := list(filter(None, at_once(_lost, hosts))):
        raise HostError(
            f"a host was lost, and {outcome.trial.identity} with it, which counts as not begun: "
            f"{'; '.join(dict.fromkeys(lost))}; when it is back, run the same command again to continue"
        )


def _lost(host: NamedHost) -> str | None:
    """Why it does not answer; ``None``: it does."""
    try:
        with opened(far_of(host)) as channel:
            channel.ask("describe")
    except NodeError as error:
        return f"host {host.name}: {error}"
    return None


def counts(hosts: Sequence[NamedHost], outcome: Outcome) -> bool:
    """Whether a trial over them counts; no, if it failed with a host that is back, or without Slurm's controller.

    The controller is waited for. ``HostError`` if the trial failed because the allocation is over: so would all that
    follow.
    """
    if outcome.status is not Status.FAILED:
        return True
    begun_s = datetime.fromisoformat(outcome.started_utc).timestamp()
    if any(host.slurm is not None for host in hosts) and _was_without_controller(hosts, outcome, begun_s):
        return False
    own = [host for host in hosts if host.name in outcome.trial.hosts]
    return not any(at_once(lambda host: _came_back(host, begun_s), own))


def _was_without_controller(hosts: Sequence[NamedHost], outcome: Outcome, begun_s: float) -> bool:
    job, deadline = slurm.allocation().job, time.monotonic() + _CONTROLLER_LIMIT_S
    while (boot_s := slurm.controller_boot_s()) is None and time.monotonic() < deadline:
        time.sleep(1)
    if boot_s is None or slurm.is_over(job):
        why = f"job {job} has ended" if boot_s is not None else "controller does not answer (scontrol ping)"
        raise HostError(
            f"Slurm's {why}, and {outcome.trial.identity} is not counted: continue in another job, begun with salloc "
            "or sbatch, by tare run RESULT"
        )
    if boot_s < begun_s:
        return False
    _wait_for_steps(hosts, deadline)
    return True


def _came_back(host: NamedHost, begun_s: float) -> bool:
    """Whether it answers over a connection that was made since then, so that the one before broke."""
    for _ in range(2):  # one that is broken may show it by nothing but silence
        with suppress(NodeError), opened(far_of(host)) as channel:
            channel.ask("clock")
            return channel.begun_unix_s > begun_s
    return False


def _wait_for_steps(hosts: Sequence[NamedHost], deadline: float) -> None:
    """Until a step can begin on every host, or the deadline: a controller refuses steps until it knows its nodes."""
    for host in hosts:
        far = far_of(host)
        argv = [*far.ssh(), "true"]
        while process.run(argv, variables=variables()).code != 0 and time.monotonic() < deadline:
            time.sleep(1)
