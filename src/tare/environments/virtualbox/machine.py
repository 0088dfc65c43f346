# SPDX-License-Identifier: Apache-2.0
"""One machine of VirtualBox on this host."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tare.environments.managed.copied import CopiedMachine
from tare.environments.managed.machine import wait_for
from tare.environments.managed.options import is_pinned, machine_memory_byte
from tare.environments.virtualbox import vboxmanage
from tare.errors import NodeError
from tare.host.cgroups import Settings, format_processors
from tare.nodes.provider import NodeSpec
from tare.units import MEBIBYTE

_COPY_LIMIT_S = 3600.0
_POWER_LIMIT_S = 120.0
_OFF_STATES = ("poweroff", "aborted", "teleported")
_ADDRESS = "/VirtualBox/GuestInfo/Net/0/V4/IP"
_FULL_PER_CENT = 100
_QUOTA_TOLERANCE = 0.01
_SETTINGS = {
    "cpus": "cpus",
    "memory": "memory",
    "cpuexecutioncap": "cpuexecutioncap",
    "nictype1": "nictype1",
    "paravirtprovider": "paravirtprovider",
    "ioapic": "ioapic",
}
"""Setting of ``modifyvm`` → its key in ``showvminfo``."""
_PROCESSES = Path("/proc")
_VIRTUAL_PROCESSOR = re.compile(r"EMT(-\d+)?")
"""VirtualBox calls the threads that run guests "emulation threads"."""
_ROUNDS = 20
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


class VirtualboxMachine(CopiedMachine):
    @property
    def _pid(self) -> int | None:
        return machine_process(self._told()["UUID"])

    def _told(self) -> dict[str, str]:
        if (information := vboxmanage.information(self.name)) is None:
            raise NodeError(f"the machine {self.name} is gone")
        return information

    def exists(self) -> bool:
        return vboxmanage.information(self.name) is not None

    def is_on(self) -> bool:
        information = vboxmanage.information(self.name)
        return information is not None and information["VMState"] not in _OFF_STATES

    def copy(self) -> None:
        """Copy it below the node's folder, so that even an incomplete copy goes with that."""
        of_snapshot = [] if self.snapshot is None else ["--snapshot", self.snapshot]
        linked = ["--options", "link"] if self.spec.options.get("clone") == "linked" else []
        place = ["--name", self.name, "--basefolder", str(self.spec.directory)]
        vboxmanage.ask(
            "clonevm", self.source, *of_snapshot, *linked, *place, "--register", limit_s=_COPY_LIMIT_S
        )

    def delete(self) -> None:
        vboxmanage.ask("unregistervm", self.name, "--delete")

    def revert(self) -> None:
        vboxmanage.ask("snapshot", self.name, "restore", str(self.snapshot), limit_s=_POWER_LIMIT_S)

    def settings(self) -> dict[str, str]:
        now = self._told()
        return {flag: now[key] for flag, key in _SETTINGS.items() if key in now}

    def restore(self, settings: Mapping[str, str]) -> None:
        vboxmanage.ask("modifyvm", self.name, *_flags(settings))

    def set_limits(self) -> None:
        now = self._told()
        if now.get("nic1") == "nat" and "host" not in self.spec.options:
            raise NodeError(
                f"the first network adapter of {self.name} is behind NAT, where nobody reaches it by its address: "
                "write host, and the forwarded port in ssh_options, or give it another network"
            )
        vboxmanage.ask("modifyvm", self.name, *_flags(limits(self.spec)))

    def switch_on(self) -> None:
        """Its process is a child of VirtualBox's server, not ours, so its processors are set once it exists."""
        vboxmanage.ask("startvm", self.name, "--type", "headless", limit_s=_POWER_LIMIT_S)
        if is_pinned(self.spec.options):
            keep_to(self._running(), self.spec.processors)

    def _running(self) -> int:
        return wait_for(lambda: self._pid, _POWER_LIMIT_S, f"the process of {self.name}")

    def ask_to_end(self) -> None:
        vboxmanage.ask("controlvm", self.name, "acpipowerbutton")

    def switch_off(self) -> None:
        if self.is_on():
            vboxmanage.ask("controlvm", self.name, "poweroff", limit_s=_POWER_LIMIT_S)
            wait_for(lambda: not self.is_on(), _POWER_LIMIT_S, f"the end of {self.name}")

    def address(self) -> str | None:
        """The address from its Guest Additions, which report ``No value set!`` at first; the same without them."""
        said = vboxmanage.ask("guestproperty", "get", self.name, _ADDRESS)
        label, _, value = said.strip().partition(": ")
        return value if label == "Value" else None

    def holds(self) -> Settings:
        now, pid = self._told(), self._pid
        cap = vboxmanage.number(now, "cpuexecutioncap")
        whole = vboxmanage.number(now, "cpus") / _FULL_PER_CENT
        return Settings(
            processors=None if pid is None else processors_of(pid),
            memory_byte=vboxmanage.number(now, "memory") * MEBIBYTE,
            cpu_quota=None if cap == _FULL_PER_CENT else cap * whole,
        )

    def cpu_s(self) -> float | None:
        return None if (pid := self._pid) is None else cpu_s(pid)

    def helpers(self) -> list[int]:
        return [] if (pid := self._pid) is None else [pid]

    def virtual_processors(self) -> list[int]:
        return [] if (pid := self._pid) is None else virtual_processors(pid)

    def facts(self) -> Mapping[str, str]:
        """The facts; ``NodeError`` if VirtualBox offers the guest another paravirtual interface than requested."""
        now = self._told()
        offered = now.get("effparavirtprovider", now.get("paravirtprovider", "unknown"))
        asked = self.spec.options.get("paravirtualization", "default")
        if asked not in {"default", "legacy", offered}:
            raise NodeError(f"the paravirtualization of {self.name} should be {asked}, and is {offered}")
        return {
            "hypervisor": f"VirtualBox {vboxmanage.ask('--version').strip().splitlines()[-1]}",
            "network adapter": now.get("nictype1", "none"),
            "paravirtualization": offered,
        }


def limits(spec: NodeSpec) -> dict[str, str]:
    """The node's limits, and the user's choice of devices, as ``modifyvm`` takes them."""
    chosen = {"nictype1": "network_adapter", "paravirtprovider": "paravirtualization"}
    return {
        "cpus": str(len(spec.processors)),
        "memory": str(machine_memory_byte(spec.options, spec.memory_byte) // MEBIBYTE),
        "cpuexecutioncap": str(_cap_per_cent(spec)),
        "ioapic": "on",  # without it a machine has one processor
        **{flag: str(spec.options[name]) for flag, name in chosen.items() if name in spec.options},
    }


def _cap_per_cent(spec: NodeSpec) -> int:
    """The cap on every virtual processor, in whole per cent; ``NodeError`` if that does not match the quota."""
    if spec.cpu_quota is None:
        return _FULL_PER_CENT
    count = len(spec.processors)
    cap = min(max(round(spec.cpu_quota / count * _FULL_PER_CENT), 1), _FULL_PER_CENT)
    nearest = cap * count / _FULL_PER_CENT
    if abs(nearest - spec.cpu_quota) > _QUOTA_TOLERANCE:
        raise NodeError(
            f"VirtualBox caps {count} processors in steps of {count / _FULL_PER_CENT:g}, and a quota of "
            f"{spec.cpu_quota:g} is none; the nearest is {nearest:g}"
        )
    return cap


def _flags(settings: Mapping[str, str]) -> list[str]:
    return [word for name, value in settings.items() for word in (f"--{name}", value)]


def machine_process(identity: str) -> int | None:
    """The process started for the machine with this UUID; VirtualBox's server starts it with these words."""
    for path in _PROCESSES.glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = path.read_bytes().decode(errors="replace").split("\0")
            if "--startvm" in words[:-1] and words[words.index("--startvm") + 1] == identity:
                return int(path.parent.name)
    return None


def threads(pid: int) -> dict[int, str]:
    """Id → name; none when it has ended."""
    names = {}
    for path in _PROCESSES.glob(f"{pid}/task/[0-9]*/comm"):
        with suppress(OSError):
            names[int(path.parent.name)] = path.read_text(errors="replace").strip()
    return names


def virtual_processors(pid: int) -> list[int]:
    """The threads that run the guest."""
    return [number for number, name in sorted(threads(pid).items()) if _VIRTUAL_PROCESSOR.fullmatch(name)]


def keep_to(pid: int, processors: tuple[int, ...]) -> None:
    """Pin all its threads to these processors, also threads started meanwhile (sched_setaffinity(2)).

    A thread inherits the processors of the thread that starts it, so each round leaves fewer to move.
    """
    for _ in range(_ROUNDS):
        if processors_of(pid) == processors:
            return
        for number in threads(pid):
            _keep_thread_to(number, processors)
    raise NodeError(
        f"the threads of process {pid} cannot be kept to processors {format_processors(processors)}"
    )


def _keep_thread_to(number: int, processors: tuple[int, ...]) -> None:
    try:
        os.sched_setaffinity(number, processors)
    except ProcessLookupError:
        return
    except OSError as error:
        raise NodeError(
            f"thread {number} of the machine cannot be kept to processors "
            f"{format_processors(processors)}: {error.strerror}"
        ) from error


def processors_of(pid: int) -> tuple[int, ...] | None:
    """All processors on which any of its threads may run; ``None`` when it has ended."""
    processors: set[int] = set()
    for number in threads(pid):
        with suppress(ProcessLookupError):
            processors |= os.sched_getaffinity(number)
    return tuple(sorted(processors)) or None


def cpu_s(pid: int) -> float | None:
    """The CPU time for itself and the guest (proc(5), stat: utime and stime); ``None`` when it has ended."""
    try:
        fields = (_PROCESSES / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) * _TICK_S
