# SPDX-License-Identifier: Apache-2.0
"""An instance that the site's own launcher starts: mpirun of this host, or srun, with its daemons beside the nodes.

The launcher runs on this host, and what it starts on the others enters the nodes there. The agent's socket, by which it
is asked for, lies in a folder that no node but the launcher's sees: commands outside of the nodes come through it.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from tare.environments.ssh import WayIn, beside
from tare.host import slurm
from tare.host.privileges import ordinary_user
from tare.host.process import tool_environment
from tare.nodes.provider import TOOLS_DIRECTORY, Node
from tare.records import MpiLauncher
from tare.workloads.kind import Site
from tare.workloads.mpi_site import SITE

_BY_DAEMON = ("sh", "-c", 'eval "exec $TARE_RANK \\"\\$@\\""', "sh")
"""Each daemon is told the way into its node."""
_OWN_FOLDER = 'mkdir -p "$TMPDIR" && exec "$@"'
"""For sh: what a daemon keeps goes with the node."""
_NO_CHECK = "PMIX_MCA_psec=none"
"""A process that is another user in its node than its daemon is outside would be turned away."""


def site_of(
    launcher: MpiLauncher,
    image_root: Path,
    folder: Path,
    ways_in: Mapping[str, list[str]],
    nodes: Sequence[Node],
) -> Site:
    """The words for the launch; ``ways_in`` hold what follows the way into each node."""
    places = [beside(node) for node in nodes]
    by_srun = launcher is MpiLauncher.SRUN
    return Site(
        launcher=launcher,
        enter=_by_host(places, list(ways_in.values())) if by_srun else _BY_DAEMON,
        agent=str(image_root / TOOLS_DIRECTORY.lstrip("/") / "agent"),
        folder=str(folder),
        hosts=tuple(place.host for place in places) if by_srun else (),
        job=places[0].job,
    )


def ways(
    folder: Path, ways_in: Mapping[str, list[str]], nodes: Sequence[Node], socket: str
) -> dict[str, list[str]]:
    """For the agent: what it puts before a command on this host, and before each node's daemon."""
    own = [f"{name}={value}" for name, value in {**tool_environment(), **slurm.variables()}.items()]
    here = ["env", *own, f"TMPDIR={folder}", f"TARE_AGENT={folder}/{socket}", _NO_CHECK]
    return {SITE: here} | {
        node.spec.name: _before_daemon(beside(node), way_in)
        for node, way_in in zip(nodes, ways_in.values(), strict=True)
    }


def _before_daemon(place: WayIn, way_in: Sequence[str]) -> list[str]:
    stating = {**_told(place, way_in), "TMPDIR": f"{place.folder}/mpi", "TARE_RANK": shlex.join(place.rank)}
    stated = [f"{name}={value}" for name, value in stating.items()]
    return [*place.reach, "env", *stated, _NO_CHECK, "sh", "-c", _OWN_FOLDER, "sh"]


def _told(place: WayIn, way_in: Sequence[str]) -> dict[str, str]:
    return {"TARE_WAY": json.dumps([*place.enter, *way_in])}


def _by_host(places: Sequence[WayIn], ways_in: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """For sh on every host: the way into the node that is there."""
    who = {"TARE_AS_SELF": "yes"} if ordinary_user() else {}
    cases = [
        f'{place.host}) {_assigned({**_told(place, way_in), **who})} exec {shlex.join(place.rank)} "$@" ;;'
        for place, way_in in zip(places, ways_in, strict=True)
    ]
    return ("/bin/sh", "-c", f"case $SLURMD_NODENAME in {' '.join(cases)} esac", "sh")


def _assigned(variables: Mapping[str, str]) -> str:
    return f"export {' '.join(f'{name}={shlex.quote(value)}' for name, value in variables.items())};"
