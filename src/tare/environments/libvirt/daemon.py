# SPDX-License-Identifier: Apache-2.0
"""A libvirtd for one node, beside the host's if there is one: it and its domain are in the node's control group.

It works like a session's daemon of an ordinary user. For root ``qemu:///session`` would be the system's (libvirt's URI
documentation); so it runs in a user namespace where root has another number, and thereby loses root's privileges.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tare.environments.libvirt.virsh import Virsh
from tare.errors import NodeError
from tare.host import process
from tare.host.paths import state_directory
from tare.host.removal import remove_what_goes

_NUMBER = "1"
"""The user and group number of root there."""
_START_LIMIT_S = 60.0
_EVENT = re.compile(r"^\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z|\+0000:) (.+)$", re.MULTILINE)
_QEMU_CONFIGURATION = """\
stdio_handler = "file"
security_driver = "none"
"""
"""No separate daemon writes its log, and nothing changes the labels of the image's disk."""


@dataclass(frozen=True, slots=True)
class OwnDaemon:
    """The daemon whose files are in ``folder``: a short path, as it holds sockets (unix(7): 107 bytes)."""

    folder: Path

    @classmethod
    def of(cls, name: str) -> Self:
        """The daemon of the node of this name."""
        return cls(Path("/run") / name)

    @property
    def state(self) -> Path:
        """The folder for its sockets and its record of what runs."""
        return self.folder / "libvirt"

    @property
    def virsh(self) -> Virsh:
        return Virsh(f"qemu:///session?socket={self.state}/libvirt-sock")

    def start(self, before: Sequence[str]) -> None:
        """Start it with ``before`` as the prefix, and so in that control group; ``NodeError`` with its output."""
        self.state.mkdir(mode=0o700, parents=True)
        (self.state / "qemu.conf").write_text(_QEMU_CONFIGURATION)
        _keep_abilities(self._qemu / "cache" / "capabilities")
        variables = [f"{name}={value}" for name, value in self._variables().items()]
        number = (f"--map-user={_NUMBER}", f"--map-group={_NUMBER}")
        argv = [*before, "unshare", "--user", *number, "--", "env", *variables, "libvirtd", "--daemon"]
        try:
            process.run_checked(argv, timeout_s=_START_LIMIT_S, leaves_daemon=True)
        except NodeError as error:
            raise NodeError(f"a libvirtd of the node's own does not start: {error}") from error

    def _variables(self) -> Mapping[str, str]:
        """The variables that set where a session's daemon keeps its files."""
        places = ("XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "HOME")
        return {**dict.fromkeys(places, str(self.folder)), "XDG_CACHE_HOME": str(self.folder / "cache")}

    @property
    def _qemu(self) -> Path:
        """The folder in which its driver keeps its caches and logs."""
        return self.folder / "cache" / "libvirt" / "qemu"

    def said(self, domain: str) -> str:
        """The last message of QEMU or libvirt about the running domain; empty when there is none."""
        try:
            said = (self._qemu / "log" / f"{domain}.log").read_text(errors="replace")
        except OSError:
            return ""
        return last_event(said)

    def remove(self) -> None:
        """Remove its files, once it is dead; harmless when there are none."""
        remove_what_goes(self.folder)


def last_event(log: str) -> str:
    r"""The last line of QEMU's log that begins with a time, without it; ignores the one before QEMU's command line.

    >>> last_event("2026-11-21 12:00:00.000+0000: starting up libvirt version: 9.0.0\n-msg timestamp=on\n")
    ''
    """
    return next((match for match in reversed(_EVENT.findall(log)) if not match.startswith("starting up")), "")


def _keep_abilities(folder: Path) -> None:
    """Keep libvirt's record of QEMU's abilities, which takes seconds to make: the next daemon checks and uses it."""
    kept = state_directory() / "libvirt"
    kept.mkdir(parents=True, exist_ok=True)
    folder.parent.mkdir(parents=True)
    folder.symlink_to(kept)
