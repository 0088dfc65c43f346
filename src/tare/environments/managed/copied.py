# SPDX-License-Identifier: Apache-2.0
"""Machines that are copied for every node and deleted with it, or used themselves and then restored."""

import json
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path

from tare.environments.managed.machine import Machine
from tare.environments.managed.options import one_of
from tare.errors import NodeError
from tare.records import OptionValue

COPY_OPTIONS: Mapping[str, str] = {
    "vm": "the machine that is copied for every node, or used itself; or a list of them, node by node",
    "clone": "full: a whole copy for every node; linked: one on top of the snapshot's disk; no: the machine itself",
    "snapshot": "of that machine: what is copied; or what it is put back to, before and after, where it is used itself",
}
"""Option → what it does."""
CLONES = ("full", "linked", "no")


def copy_complaints(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """Option → what is wrong with it or that it is missing, among ``COPY_OPTIONS``."""
    problems = (
        {} if "vm" in options else {"vm": "is missing; write the name of a machine that the hypervisor knows"}
    )
    names = options.get("vm", "any")
    for name in names if isinstance(names, list) and names else [names]:
        if not _is_name(name):
            problems["vm"] = f"must be the name of a machine, or a list of names, but is {names!r}"
    if (clone := options.get("clone", CLONES[0])) not in CLONES:
        problems["clone"] = f"must be one of {', '.join(CLONES)}, but is {clone!r}"
    if not _is_name(snapshot := options.get("snapshot", "any")):
        problems["snapshot"] = f"must be the name of a snapshot, but is {snapshot!r}"
    if clone == "linked" and "snapshot" not in options:
        problems["snapshot"] = "is missing: a linked copy is made of a snapshot"
    return problems


def sources(options: Mapping[str, OptionValue]) -> list[str]:
    """Every machine that the user names; none where ``copy_complaints`` finds it missing."""
    names = options.get("vm", [])
    return names if isinstance(names, list) else [str(names)]


def _is_name(value: object) -> bool:
    """Whether it is a usable name: a tool would take a leading hyphen for an option of its own."""
    return isinstance(value, str) and value != "" and not value.startswith("-") and value.isprintable()


class CopiedMachine(Machine):
    """The order of a copy's life and the knowledge about it; a technology adds what its tool does.

    A mark of ours is written to the node's folder *before* anything is made: an existing copy of the same name without
    it is somebody else's.
    """

    @property
    def is_copy(self) -> bool:
        return self.spec.options.get("clone", CLONES[0]) != "no"

    @property
    def source(self) -> str:
        """The user's machine."""
        return one_of(self.spec.options["vm"], self.spec.index)

    @property
    def snapshot(self) -> str | None:
        snapshot = self.spec.options.get("snapshot")
        return None if snapshot is None else str(snapshot)

    @property
    def name(self) -> str:
        return self.spec.name if self.is_copy else self.source

    @property
    def outlives_node(self) -> bool:  # type: ignore[override] # set once by other machines, by an option here
        return not self.is_copy and self.snapshot is None

    def make(self) -> None:
        if self.is_copy:
            self._make_copy()
        else:
            self._take()
        self.set_limits()

    def _make_copy(self) -> None:
        if self.exists():
            raise NodeError(
                f"there is a machine {self.name} already, and it is not this node's; delete or rename it"
            )
        self._copied.touch()
        self.copy()

    def _take(self) -> None:
        if not self.exists():
            raise NodeError(f"there is no machine {self.name}; correct the option vm")
        if self.snapshot is None:
            self._before.write_text(json.dumps(self.settings()))
            return
        self._before.write_text(json.dumps(None))
        self.revert()
        if self.is_on():
            raise NodeError(
                f"the snapshot {self.snapshot} of {self.name} is of a running machine; take one while it is off"
            )

    def unmake(self) -> None:
        if self._copied.exists():
            if self.exists():
                self.delete()
            self._copied.unlink()
        if self._before.exists():
            self._put_back(json.loads(self._before.read_text() or "null"))
            self._before.unlink()

    def _put_back(self, settings: dict[str, str] | None) -> None:
        """Restore it; a snapshot includes the settings."""
        if self.snapshot is not None:
            self.revert()
        elif settings is not None:
            self.restore(settings)

    @property
    def _copied(self) -> Path:
        """The mark that exists from the moment when the copy may exist."""
        return self.spec.directory / "copied"

    @property
    def _before(self) -> Path:
        """The settings of the user's machine before it became this node's."""
        return self.spec.directory / "before.json"

    @abstractmethod
    def exists(self) -> bool:
        """Whether the hypervisor knows a machine of this ``name``."""

    @abstractmethod
    def copy(self) -> None:
        """Make ``name`` from ``source``, and leave it off."""

    @abstractmethod
    def delete(self) -> None:
        """Delete the copy with its disks; it is off."""

    @abstractmethod
    def revert(self) -> None:
        """Return the machine to the snapshot, off."""

    @abstractmethod
    def settings(self) -> dict[str, str]:
        """The settings that ``set_limits`` changes, in the tool's words."""

    @abstractmethod
    def restore(self, settings: Mapping[str, str]) -> None:
        """Give the user's machine its own settings back; it is off."""

    @abstractmethod
    def set_limits(self) -> None:
        """Set the node's processors, memory and quota; ``NodeError`` for a limit that the hypervisor cannot hold."""
