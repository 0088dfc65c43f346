# SPDX-License-Identifier: Apache-2.0
"""The Slurm allocation in which this process runs: its job, its nodes and their processors (salloc(1), sbatch(1))."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from tare.errors import HostError, NodeError
from tare.host import process
from tare.host.distribution import to_install

_JOB, _NODES, _PROCESSORS = "SLURM_JOB_ID", "SLURM_JOB_NODELIST", "SLURM_JOB_CPUS_PER_NODE"
_ASK_LIMIT_S = 60.0
_ALIVE = frozenset({"PENDING", "CONFIGURING", "RUNNING", "SUSPENDED"})
_FORGOTTEN = "Invalid job id"
"""What squeue says of a job that ended minutes ago (MinJobAge)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """A job's nodes, in Slurm's order."""

    job: str
    nodes: tuple[str, ...]
    processors: Mapping[str, int]
    """Node → how many of its processors are the job's; empty if Slurm does not say."""


def variables() -> dict[str, str]:
    """The variable that Slurm's commands need besides every tool's, where its file is in an unusual place."""
    return {name: os.environ[name] for name in ("SLURM_CONF",) if name in os.environ}


def is_over(job: str) -> bool:
    """Whether nothing can run in this job any more; no, if Slurm cannot say."""
    try:
        done = process.run(
            ["squeue", "--noheader", "--array", "--jobs", job, "--format=%A|%T"],
            timeout_s=_ASK_LIMIT_S,
            variables=variables(),
        )
    except NodeError:
        return False
    if done.code != 0:
        return _FORGOTTEN in done.stderr
    # The last element of an array has the number of the array, by which squeue lists all elements.
    states = dict(line.strip().split("|") for line in done.stdout.splitlines() if line.count("|") == 1)
    return states.get(job) not in _ALIVE


def controller_boot_s() -> float | None:
    """When the controller began, in seconds since the epoch; ``None`` while it does not answer."""
    try:
        done = process.run(["scontrol", "show", "config"], timeout_s=_ASK_LIMIT_S, variables=variables())
    except NodeError:
        return None
    match = re.search(r"^BOOT_TIME\s*= (\S+)$", done.stdout, re.MULTILINE)
    try:
        return datetime.fromisoformat(match[1]).timestamp() if match else None
    except ValueError:
        return None


def is_allocated() -> bool:
    """Whether this process runs in a Slurm job that has nodes."""
    return bool(os.environ.get(_JOB) and os.environ.get(_NODES))


def allocation() -> Allocation:
    """The allocation of this process; ``HostError`` if it is in none, or Slurm does not name its nodes."""
    if not is_allocated():
        raise HostError(
            "this is no Slurm job, and the campaign's hosts are those of one: run it by salloc or sbatch, as in "
            "salloc -N4 --exclusive tare run CAMPAIGN, or name hosts in [[host]] tables"
        )
    return _described(os.environ[_JOB], os.environ[_NODES], os.environ.get(_PROCESSORS, ""))


@lru_cache(maxsize=1)
def _described(job: str, listed: str, processors: str) -> Allocation:
    nodes = _expanded(listed)
    counts = _counts(processors)
    own = dict(zip(nodes, counts, strict=True)) if len(counts) == len(nodes) else {}
    return Allocation(job=job, nodes=nodes, processors=own)


def _expanded(listed: str) -> tuple[str, ...]:
    """The nodes of a list such as ``n[1-3,7]``, as Slurm itself reads it."""
    try:
        done = process.run(
            ["scontrol", "show", "hostnames", listed], timeout_s=_ASK_LIMIT_S, variables=variables()
        )
    except NodeError as error:
        raise HostError(
            f"{error}; srun and scontrol belong together: {to_install('slurm-client')}"
        ) from error
    names = tuple(done.stdout.split())
    if done.code != 0 or not names:
        raise HostError(f"scontrol cannot read the job's nodes {listed!r}: {done.last_words}")
    return names


def _counts(text: str) -> list[int]:
    """One number for each node of a text such as ``16(x2),8`` (sbatch(1)); none if it is something else."""
    counts: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,6})(?:\(x(\d{1,6})\))?", part)
        if match is None:
            return []
        counts += [int(match[1])] * int(match[2] or 1)
    return counts
