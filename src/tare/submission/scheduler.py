# SPDX-License-Identifier: Apache-2.0
"""What Tare asks of a scheduler: submit, list, cancel; and what the user asks of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """The resources of each job."""

    nodes: int
    partition: str | None = None
    """``None``: the scheduler's usual one."""
    account: str | None = None
    time_s: float | None = None
    """Time limit of one job; ``None``: the partition's own."""
    processors: int | None = None
    """Of each node, for a scheduler that has to be told; ``None``: whole nodes, whatever they have."""


class JobPhase(StrEnum):
    """Where a job is in its life."""

    QUEUED = "queued"
    RUNNING = "running"
    ENDED = "ended"
    CANCELLED = "cancelled"
    """Somebody ended it, before or while it ran."""
    LOST = "lost"
    """A node failed, or its time was out."""

    @property
    def is_over(self) -> bool:
        return self not in {JobPhase.QUEUED, JobPhase.RUNNING}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedJob:
    """One element of an array, as the scheduler sees it now."""

    identity: str
    """Such as ``"123_4"``: of the array, and of the element in it."""
    phase: JobPhase
    reason: str | None = None
    """The scheduler's own word for why it waits or how it ended, such as ``"Priority"``."""
    nodes: str | None = None
    """Of a running one, in the scheduler's form, such as ``"n[1-4]"``."""

    @property
    def lives(self) -> bool:
        return not self.phase.is_over


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """Jobs to submit, one after the other."""

    name: str
    """The name of all jobs of a result, by which they are found again."""
    count: int
    script: Path
    logs: Path
    """Folder for what each job prints."""
    wish: Wish


class SilentError(Exception):
    """The scheduler does not answer now; its jobs may well run."""


class Scheduler(Protocol):
    """A scheduler's own commands."""

    chains: bool
    """Whether jobs that are submitted together wait for each other; if not, they are submitted one by one."""

    def submit(self, submission: Submission) -> str:
        """The identity of the array; ``HostError`` if the scheduler refuses it."""
        ...

    def jobs(self, name: str) -> Sequence[QueuedJob]:
        """This user's jobs of that name, as far as the scheduler remembers ended ones; ``SilentError``."""
        ...

    def cancel(self, name: str, *, queued_only: bool = False) -> None:
        """End this user's jobs of that name; ``SilentError``."""
        ...

    def cancel_words(self, name: str) -> str:
        """The command with which the user ends them."""
        ...
