# SPDX-License-Identifier: Apache-2.0
"""What befalls the Slurm job in which a campaign's hosts are: its end, and a controller that is away for a while."""

import time
from collections.abc import Sequence
from datetime import datetime

from tare.environments.ssh.connection import variables
from tare.errors import HostError
from tare.host import process, slurm
from tare.measure.hosts import far_of
from tare.records import NamedHost, Outcome, Status

_CONTROLLER_LIMIT_S = 600.0


def counts(hosts: Sequence[NamedHost], outcome: Outcome) -> bool:
    """Whether a trial over them counts; no, if it failed while Slurm's controller was away, which is waited for.

    ``HostError`` if it failed because the allocation is over: so would all that follow.
    """
    if outcome.status is not Status.FAILED or all(host.slurm is None for host in hosts):
        return True
    job, begun_s = slurm.allocation().job, datetime.fromisoformat(outcome.started_utc).timestamp()
    deadline = time.monotonic() + _CONTROLLER_LIMIT_S
    while (boot_s := slurm.controller_boot_s()) is None and time.monotonic() < deadline:
        time.sleep(1)
    if boot_s is None or slurm.is_over(job):
        why = f"job {job} has ended" if boot_s is not None else "controller does not answer (scontrol ping)"
        raise HostError(
            f"Slurm's {why}, and {outcome.trial.identity} is not counted: continue in another job, begun with salloc "
            "or sbatch, by tare run RESULT"
        )
    if boot_s < begun_s:
        return True
    _wait_for_steps(hosts, deadline)
    return False


def _wait_for_steps(hosts: Sequence[NamedHost], deadline: float) -> None:
    """Until a step can begin on every host, or the deadline: a controller refuses steps until it knows its nodes."""
    for host in hosts:
        far = far_of(host)
        argv = [*far.ssh(), "true"]
        while process.run(argv, variables=variables()).code != 0 and time.monotonic() < deadline:
            time.sleep(1)
