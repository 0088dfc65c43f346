# SPDX-License-Identifier: Apache-2.0
"""The nodes of the PBS, LSF or Flux job in which this process runs, as the scheduler itself lists them for a job."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from tare.errors import HostError, NodeError
from tare.host import process
from tare.host.own_files import open_regular

_ASK_LIMIT_S = 60.0
_MOST_BYTE = 1 << 20
_SIGNS = {
    "pbs": ("PBS_NODEFILE",),
    "lsf": ("LSB_DJOB_HOSTFILE", "LSB_MCPU_HOSTS", "LSB_HOSTS"),
    "flux": ("FLUX_JOB_ID",),
}
"""Scheduler → variables by which a job of it is known, the best list first."""
KNOWN = tuple(_SIGNS)
_BEGIN = {"pbs": "qsub", "lsf": "bsub", "flux": "flux batch"}


def is_job(scheduler: str) -> bool:
    """Whether this process runs in a job of this scheduler that has nodes."""
    return any(os.environ.get(sign) for sign in _SIGNS[scheduler])


def nodes(scheduler: str) -> tuple[str, ...]:
    """Each node once, in the scheduler's order; ``HostError`` outside of a job, or if the list cannot be read."""
    sign = next((sign for sign in _SIGNS[scheduler] if os.environ.get(sign)), None)
    if sign is None:
        raise HostError(
            f"this is no job of {scheduler}, and the campaign's hosts are a job's nodes: run it in a job "
            f"({_BEGIN[scheduler]}), or name hosts in [[host]] tables"
        )
    listed = tuple(dict.fromkeys(_READ[sign](os.environ[sign])))
    if not listed:
        raise HostError(f"{sign} of this job names no node; name the hosts in [[host]] tables instead")
    return listed


def is_here(node: str) -> bool:
    """Whether a node is the host on which this process runs; schedulers write names with and without their domain."""
    return node.partition(".")[0] == os.uname().nodename.partition(".")[0]


def _in_file(path: str) -> list[str]:
    """One word a line; a node has a line for each of its processors."""
    try:
        with os.fdopen(open_regular(Path(path)), encoding="utf-8") as file:
            return file.read(_MOST_BYTE).split()
    except (OSError, ValueError) as error:
        raise HostError(f"the job's list of nodes, {path}, cannot be read: {error}") from error


def _with_counts(text: str) -> list[str]:
    """Of ``n1 4 n2 4``, where a node's number of processors follows it."""
    return text.split()[::2]


def _of_flux(_: str) -> list[str]:
    """By flux-hostlist(1): Flux gives a job's processes no list."""
    variables = {name: value for name, value in os.environ.items() if name.startswith("FLUX_")}
    try:
        done = process.run(
            ["flux", "hostlist", "--expand", "local"], timeout_s=_ASK_LIMIT_S, variables=variables
        )
    except NodeError as error:
        raise HostError(f"{error}; Tare asks flux for the nodes of its job") from error
    if done.code != 0:
        raise HostError(f"flux does not name the nodes of this job: {done.last_words}")
    return done.stdout.split()


_READ: dict[str, Callable[[str], Iterable[str]]] = {
    "PBS_NODEFILE": _in_file,
    "LSB_DJOB_HOSTFILE": _in_file,
    "LSB_MCPU_HOSTS": _with_counts,
    "LSB_HOSTS": str.split,
    "FLUX_JOB_ID": _of_flux,
}
