# SPDX-License-Identifier: Apache-2.0
"""What Podman's own network leaves on the host: a bridge, and the folder of its namespaces as a mount.

Both stay when the last container is gone. Whatever did not exist before a node of Tare's is noted in the state
directory, and removed when nobody uses it. Its firewall chains stay, empty of rules, like the Docker daemon's.
"""

from contextlib import suppress
from pathlib import Path

from tare.host import mounts, process
from tare.host.paths import state_directory
from tare.nodes.provider import NodeSpec
from tare.records import NetworkKind

_BRIDGES = ("cni-podman0", "podman0")
"""The bridges of the network "podman", by CNI's plug-ins and by netavark."""
_LINKS = Path("/sys/class/net")
_NAMESPACES = Path("/run/netns")


def is_made(spec: NodeSpec) -> bool:
    """Whether Podman makes the node's network namespace."""
    return spec.network.namespace is None and spec.network.kind is not NetworkKind.HOST


def note_absent() -> None:
    """Note what does not exist yet, as one file each; an earlier node's notes stay."""
    absent = [name for name in _BRIDGES if not (_LINKS / name).exists()]
    if _NAMESPACES not in mounts.mounts_below(_NAMESPACES):
        absent.append(_NAMESPACES.name)
    _notes().mkdir(parents=True, exist_ok=True)
    for name in absent:
        (_notes() / name).touch()


def remove_unused() -> None:
    """Remove what is noted and has no user; the rest waits for the next node's stop."""
    for note in _notes().glob("*"):
        if not (_remove_namespaces() if note.name == _NAMESPACES.name else _remove_bridge(note.name)):
            continue
        note.unlink(missing_ok=True)
    with suppress(OSError):
        _notes().rmdir()


def _remove_bridge(name: str) -> bool:
    """Remove it; return whether it is gone."""
    ports = _LINKS / name / "brif"
    if ports.exists() and not any(ports.iterdir()):
        process.run(["ip", "link", "delete", name])
    return not (_LINKS / name).exists()


def _remove_namespaces() -> bool:
    """Remove its mount; return whether it is gone."""
    if _NAMESPACES.exists() and not any(_NAMESPACES.iterdir()):
        mounts.unmount_below(_NAMESPACES)
    return not mounts.mounts_below(_NAMESPACES)


def _notes() -> Path:
    return state_directory() / "podman-made"
