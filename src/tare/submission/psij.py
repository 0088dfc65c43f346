# SPDX-License-Identifier: Apache-2.0
"""PBS, LSF and Flux by PSI/J, an optional package: the same jobs as of Slurm's arrays, submitted one by one.

PSI/J knows neither arrays nor names of jobs, so the jobs' numbers are kept in the result's folder.
"""

import shlex
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from tare.errors import HostError, InputError
from tare.submission.folder import Asked, Element, JobsFolder
from tare.submission.psij_executor import Executor, Fate, require_psij
from tare.submission.scheduler import JobPhase, QueuedJob, SilentError, Submission, Wish

if TYPE_CHECKING:
    from psij import JobSpec, ResourceSpecV1

CANCELLED_BY = {
    "pbs": "qdel",
    "pbs_classic": "qdel",
    "lsf": "bkill",
    "flux": "flux cancel",
    "local": "pkill -P",
}
"""PSI/J's name of a scheduler → the command with which users end jobs of it."""
HOSTS_OF = {"pbs": "pbs", "pbs_classic": "pbs", "lsf": "lsf", "flux": "flux", "local": None}
"""The same → whose list of nodes its jobs have (``hosts`` of a campaign); ``None``: they are on this host."""
_AFTER = dict.fromkeys(("pbs", "pbs_classic"), ("pbs.W", "depend=afterany:{}"))
"""How a job is told to wait for another. PSI/J quotes what LSF would need, and passes nothing on to Flux."""
ONE_BY_ONE = frozenset(CANCELLED_BY) - frozenset(_AFTER)
_LEAD_S = 120.0
_SHORT_PART = 5
"""At the end of a job's time a fifth of it is kept free, at most two minutes: as with Slurm."""


class Psij:
    """A scheduler by its name in PSI/J."""

    def __init__(self, kind: str, folder: JobsFolder, limit_s: float = 200.0) -> None:
        """``folder``: of the jobs; ``limit_s``: how long an answer is waited for."""
        self.chains = kind in _AFTER
        self._kind, self._folder, self._limit_s = kind, folder, limit_s

    def submit(self, submission: Submission) -> str:
        """``HostError`` with the scheduler's own words if it refuses, and then none of them is left."""
        array = self._next_array()
        before: str | None = None
        for element in range(submission.count):
            identity = f"{array}_{element}"
            try:
                before = self._executor.submit(
                    spec_of(self._kind, submission, self._folder, identity, before)
                )
            except HostError:
                self._cancel_array(array)
                raise
            self._folder.keep_number(identity, before)
        return array

    def jobs(self, name: str) -> Sequence[QueuedJob]:  # noqa: ARG002 - the folder has no others
        """All of this result; those that say themselves that they have ended are not asked for."""
        numbers, elements = self._folder.numbers(), self._folder.elements()
        open_ones = {
            identity: number for identity, number in numbers.items() if not _has_ended(elements.get(identity))
        }
        fates = self._executor.fates(list(open_ones.values())) if open_ones else {}
        return [
            _queued(identity, elements.get(identity), fates.get(number))
            for identity, number in numbers.items()
        ]

    def cancel(self, name: str, *, queued_only: bool = False) -> None:
        """One by one, the last first: none that waits for another shall begin."""
        phases = {JobPhase.QUEUED} if queued_only else {JobPhase.QUEUED, JobPhase.RUNNING}
        numbers = self._folder.numbers()
        for job in reversed(self.jobs(name)):
            if job.phase in phases:
                self._executor.cancel(numbers[job.identity])

    def cancel_words(self, name: str) -> str:  # noqa: ARG002 - the same
        """For a message."""
        elements = self._folder.elements()
        numbers = [
            number
            for identity, number in self._folder.numbers().items()
            if not _has_ended(elements.get(identity))
        ]
        return f"{CANCELLED_BY[self._kind]} {shlex.join(numbers if self.chains else numbers[-1:])}".strip()

    @cached_property
    def _executor(self) -> Executor:
        return Executor(self._kind, self._folder.path / "psij", self._limit_s)

    def _next_array(self) -> str:
        arrays = (int(identity.partition("_")[0]) for identity in self._folder.numbers())
        return str(max(arrays, default=0) + 1)

    def _cancel_array(self, array: str) -> None:
        """As far as the scheduler, which has just refused a job, obeys."""
        for identity, number in reversed(self._folder.numbers().items()):
            if identity.partition("_")[0] == array:
                with suppress(SilentError, HostError):
                    self._executor.cancel(number)


def spec_of(
    kind: str, submission: Submission, folder: JobsFolder, identity: str, before: str | None
) -> "JobSpec":
    """What PSI/J is asked for: a job of whole nodes that begins after ``before`` has ended, in whatever way."""
    from psij import JobAttributes, JobSpec  # noqa: PLC0415 - an extra

    wish = submission.wish
    attributes = JobAttributes(
        duration=timedelta(seconds=wish.time_s or 0), queue_name=wish.partition, account=wish.account
    )
    if before is not None and kind in _AFTER:
        key, words = _AFTER[kind]
        attributes.set_custom_attribute(key, words.format(before))
    # Whoever interrupts the watching on a terminal does not mean the job.
    argv = [*(("setsid", "--wait") if kind == "local" else ()), "/bin/sh", str(submission.script)]
    return JobSpec(
        executable=argv[0],
        arguments=[*argv[1:], identity, str(folder.log(identity))],
        name=submission.name,
        attributes=attributes,
        resources=_resources(kind, wish),
    )


def _resources(kind: str, wish: Wish) -> "ResourceSpecV1":
    """By Flux every node has a process of the job, and PSI/J cannot ask it for whole nodes."""
    from psij import ResourceSpecV1  # noqa: PLC0415 - an extra

    if kind == "flux":
        return ResourceSpecV1(
            node_count=wish.nodes,
            process_count=wish.nodes,
            cpu_cores_per_process=wish.processors,
            exclusive_node_use=False,
        )
    processors = None if kind == "local" else wish.processors
    return ResourceSpecV1(node_count=wish.nodes, processes_per_node=processors, exclusive_node_use=True)


def require(kind: str, wish: Wish, folder: JobsFolder) -> None:
    """``HostError`` without PSI/J, ``InputError`` for what it could not pass on to this scheduler."""
    require_psij()
    if wish.time_s is None:
        raise InputError(
            f"--time: {kind} is told a time for each job; write how long a block takes, such as 30m"
        )
    if kind in {"flux", "local"} and (wish.partition or wish.account):
        raise InputError(f"--partition and --account: PSI/J passes neither on to {kind}; leave them out")
    if kind == "local" and wish.nodes > 1:
        raise InputError("--on local runs jobs on this host alone; give layouts without on")
    if shlex.quote(str(folder.path)) != str(folder.path):
        raise InputError(
            f"--output: PSI/J's scripts cannot name {folder.path}; choose a path of letters, digits, / . - and _"
        )


def last_end_s(asked: Asked) -> float | None:
    """By ``time.monotonic``, in a job that begins now: when its last trial must have ended."""
    limit_s = asked.wish.time_s
    if limit_s is None:
        return None
    return time.monotonic() + limit_s - min(_LEAD_S, limit_s / _SHORT_PART)


def _has_ended(element: Element | None) -> bool:
    return element is not None and element.ended_utc is not None


def _queued(identity: str, element: Element | None, fate: Fate | None) -> QueuedJob:
    """``fate``: ``None`` for a job that has said itself that it ended."""
    if fate is None:
        return QueuedJob(identity=identity, phase=JobPhase.ENDED)
    nodes = None if element is None else element.nodes or element.host
    if fate.phase is not JobPhase.ENDED or fate.exit_code is not None:
        return QueuedJob(identity=identity, phase=fate.phase, reason=fate.reason, nodes=nodes)
    if element is None:  # its script neither began nor ended
        return QueuedJob(identity=identity, phase=JobPhase.CANCELLED, reason=fate.reason)
    return QueuedJob(identity=identity, phase=JobPhase.LOST, reason=fate.reason or "killed", nodes=nodes)
