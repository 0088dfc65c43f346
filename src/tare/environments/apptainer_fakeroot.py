# SPDX-License-Identifier: Apache-2.0
"""``apptainer exec --fakeroot`` of an ordinary user without subordinate ids, as all are in a node's namespace.

There Apptainer runs its payload by the host's program fakeroot, if there is one: a preloaded library asks the daemon
``faked`` what a file's owner is to look like. It is the node's first process that is started so, by a static program;
each command gets the variables by which the library is preloaded (apptainer.org, user guide, "Fakeroot feature").
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tare.host.kernel_files import read_text
from tare.nodes.unprivileged import members

_KEY = "FAKEROOTKEY"
_VARIABLES = (_KEY, "LD_PRELOAD", "LD_LIBRARY_PATH", "FAKEROOTDONTTRYCHOWN")
_DAEMON = "faked"


def variables(node_name: str) -> dict[str, str]:
    """What every command in the node needs in its environment; empty where the host has no program fakeroot."""
    for pid in members.members(node_name):
        environment = _environment(pid)
        if _KEY in environment:
            return {name: environment[name] for name in _VARIABLES if name in environment}
    return {}


def told(faked: Mapping[str, str]) -> str:
    """What fakeroot is in a node, in words."""
    return (
        "a preloaded library and its daemon" if faked else "a user namespace alone: the host has no fakeroot"
    )


def servers(node_name: str) -> list[int]:
    """Process ids of the daemon."""
    return [pid for pid in members.members(node_name) if read_text(f"/proc/{pid}/comm") == _DAEMON]


def _environment(pid: int) -> dict[str, str]:
    """proc(5) environ; empty when the process is gone."""
    with suppress(OSError):
        pairs = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
        return {name: value for name, _, value in (pair.partition("=") for pair in pairs)}
    return {}
