# SPDX-License-Identifier: Apache-2.0
"""What started the MPI processes of an instance over hosts, and what carried their messages, as facts."""

import re
from collections.abc import Mapping
from functools import cache

from tare.errors import HostError, NodeError
from tare.host import process, slurm
from tare.host.distribution import to_install
from tare.measure.seats import Seat
from tare.records import DIFFERENT_PATHS, MpiLauncher
from tare.workloads import mpi_verbs
from tare.workloads.mpi_paths import paths, said

LAUNCHER_FACT = "mpi launcher"
_ASK_LIMIT_S = 30.0
_OPEN_MPI = re.compile(r"\(Open MPI\) (4\.\S+)")
_PLUGIN = re.compile(r"\bpmix_v\d+")
_OURS = "tare: the image's mpirun, let into every node"


def path_facts(seat: Seat, stderr: str) -> Mapping[str, str]:
    """The transport between each two hosts; empty where an instance spans none. Verbs are told of each host alone."""
    if not seat.where:
        return {}
    parts, differ = mpi_verbs.paths(stderr)
    if parts:
        return {"mpi paths": "; ".join(parts)} | ({DIFFERENT_PATHS: differ} if differ else {})
    return said(paths(stderr, seat.where, seat.networks))


def launcher_facts(seat: Seat) -> Mapping[str, str]:
    """Who started the processes over several hosts; empty where nobody did."""
    span = seat.shape.span
    if not seat.where or span is None:
        return {}
    return {LAUNCHER_FACT: _OURS if span.site is None else launcher_version(span.site.launcher)}


@cache
def launcher_version(launcher: MpiLauncher) -> str:
    """Which it is on this host, in its own words; ``HostError`` if it is missing or cannot start such processes."""
    if launcher is MpiLauncher.MPIRUN:
        match = _OPEN_MPI.search(_asked("openmpi-bin", "mpirun", "--version"))
        if match is None:
            raise HostError(
                'mpi_launcher = "mpirun" takes that of Open MPI 4, as the image has it, and this host\'s mpirun is '
                'another one: put it first on the PATH, or leave mpi_launcher at "tare"'
            )
        return f"mpirun: this host's, Open MPI {match[1]}, with a daemon beside every node"
    listed = _asked("slurm-client", "srun", "--mpi=list")
    if "pmix" not in listed:
        raise HostError(
            'mpi_launcher = "srun" needs Slurm\'s plugin for PMIx, and srun --mpi=list names none here: ask for it '
            '(Debian: slurm-wlm-basic-plugins), or leave mpi_launcher at "tare"'
        )
    version = _asked("slurm-client", "srun", "--version").strip()
    return ", ".join([f"srun --mpi=pmix: {version}", *dict.fromkeys(_PLUGIN.findall(listed))])


def _asked(package: str, *argv: str) -> str:
    try:
        done = process.run(argv, timeout_s=_ASK_LIMIT_S, variables=slurm.variables())
    except NodeError as error:
        raise HostError(f"{error}; {to_install(package)}") from error
    return f"{done.stdout}{done.stderr}"
