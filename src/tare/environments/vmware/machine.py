# SPDX-License-Identifier: Apache-2.0
"""One machine of vCenter or ESXi, by govc."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from tare.environments.managed.copied import CopiedMachine
from tare.environments.managed.options import is_pinned, machine_memory_byte
from tare.environments.vmware import described
from tare.environments.vmware.described import AFFINITY, Described, properties
from tare.environments.vmware.govc import Govc
from tare.errors import NodeError
from tare.host.cgroups import Settings, format_processors
from tare.host.told import part
from tare.nodes.provider import NodeSpec
from tare.units import MEBIBYTE

_PROPERTIES = ("summary.hardware.cpuMhz", "summary.config.product.fullName", "parent")
_CLUSTER = "ClusterComputeResource"
_COPY_LIMIT_S = 3600.0
_POWER_LIMIT_S = 300.0
_MEMORY_STEP_MEBIBYTE = 4
_PLACES = {"pool": "-pool", "datastore": "-ds", "folder": "-folder", "network": "-net"}
_NO_LIMIT = "-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class EsxiHost:
    """One ESXi host."""

    megahertz: int
    """One processor's speed: the unit of vSphere's limits."""
    product: str
    moves_machines: bool
    """Whether it is in a cluster that moves machines by itself (DRS), which cannot keep them to processors."""

    @classmethod
    def of(cls, govc: Govc, reference: str) -> Self:
        """Read it; ``NodeError`` if it does not report its properties."""
        known = properties(govc.ask("object.collect", "-json", reference, *_PROPERTIES))
        megahertz = part(int, known.get(_PROPERTIES[0]), f"{reference} of its processors' speed")
        parent = part(dict[str, Any], known.get("parent"), f"{reference} of where it belongs")
        cluster = f"{_CLUSTER}:{parent.get('value')}" if parent.get("type") == _CLUSTER else None
        return cls(
            megahertz=megahertz,
            product=str(known.get(_PROPERTIES[1]) or "ESXi"),
            moves_machines=cluster is not None and _has_drs(govc, cluster),
        )


def _has_drs(govc: Govc, cluster: str) -> bool:
    known = properties(govc.ask("object.collect", "-json", cluster, "configurationEx")).get("configurationEx")
    settings = known.get("drsConfig") if isinstance(known, dict) else None
    return isinstance(settings, dict) and settings.get("enabled") is True


class VmwareMachine(CopiedMachine):
    def __init__(self, spec: NodeSpec) -> None:
        """Keep the node and the log-in; ``NodeError`` if that is missing."""
        super().__init__(spec)
        self._govc = Govc.of(spec.options)

    @property
    def _path(self) -> str:
        """Its path in the inventory."""
        folder = self.spec.options.get("folder")
        return f"{folder}/{self.name}" if self.is_copy and folder is not None else self.name

    def _found(self) -> Described | None:
        return described.machine(self._govc.ask("vm.info", "-json", self._path))

    def _told(self) -> Described:
        if (now := self._found()) is None:
            raise NodeError(f"the machine {self.name} is gone")
        return now

    def exists(self) -> bool:
        return self._found() is not None

    def is_on(self) -> bool:
        now = self._found()
        return now is not None and now.is_on

    def copy(self) -> None:
        """``vm.clone`` copies the snapshot's content, or the machine as it is."""
        options = self.spec.options
        of_snapshot = [] if self.snapshot is None else ["-snapshot", self.snapshot]
        linked = ["-link"] if options.get("clone") == "linked" else []
        placed = [
            word for name, flag in _PLACES.items() if name in options for word in (flag, str(options[name]))
        ]
        marked = f"Made by Tare for one trial; tare clean deletes it ({self.spec.directory})"
        argv = ["vm.clone", "-vm", self.source, "-on=false", *of_snapshot, *linked, *placed]
        self._govc.ask(*argv, "-annotation", marked, self.name, limit_s=_COPY_LIMIT_S)

    def delete(self) -> None:
        self._govc.ask("vm.destroy", self._path, limit_s=_POWER_LIMIT_S)

    def revert(self) -> None:
        argv = ["snapshot.revert", "-vm", self._path, "-s", str(self.snapshot)]
        self._govc.ask(*argv, limit_s=_POWER_LIMIT_S)

    def settings(self) -> dict[str, str]:
        return _settings(self._told())

    def restore(self, settings: Mapping[str, str]) -> None:
        self._change(settings)

    def set_limits(self) -> None:
        now = self._told()
        host = EsxiHost.of(self._govc, now.host)
        if is_pinned(self.spec.options) and host.moves_machines:
            raise NodeError(
                "vSphere DRS cannot keep a machine to processors of its host: choose a pool of a host outside the "
                "cluster, or accept any processors with pinned = false"
            )
        self._change(limits(self.spec, host.megahertz))

    def _change(self, settings: Mapping[str, str]) -> None:
        """Apply settings in ``vm.change``'s words; any that are not its flags are settings of the machine itself."""
        words = [
            word
            for name, value in settings.items()
            for word in (("-e", f"{name}={value}") if name == AFFINITY else (f"-{name}", value))
        ]
        self._govc.ask("vm.change", "-vm", self._path, *words)

    def switch_on(self) -> None:
        self._govc.ask("vm.power", "-on", self._path, limit_s=_POWER_LIMIT_S)

    def ask_to_end(self) -> None:
        self._govc.ask("vm.power", "-s", self._path)

    def switch_off(self) -> None:
        if self.is_on():
            self._govc.ask("vm.power", "-off", self._path, limit_s=_POWER_LIMIT_S)

    def address(self) -> str | None:
        return self._told().address

    def holds(self) -> Settings:
        now = self._told()
        limit, host = now.cpu_limit_megahertz, EsxiHost.of(self._govc, now.host)
        return Settings(
            processors=now.affinity,
            memory_byte=now.memory_byte,
            cpu_quota=None if limit is None else limit / host.megahertz,
        )

    def facts(self) -> Mapping[str, str]:
        """The hypervisor's own name, and the machine's reservations on its host."""
        now = self._told()
        host = EsxiHost.of(self._govc, now.host)
        limit = "none" if now.cpu_limit_megahertz is None else f"{now.cpu_limit_megahertz} MHz"
        memory = f"{now.memory_reservation_mebibyte} MiB"
        return {
            "hypervisor": host.product,
            "virtual hardware": now.hardware,
            "hypervisor's CPU limit": f"{limit}, of {host.megahertz} MHz a processor",
            "reserved by the hypervisor": f"{now.cpu_reservation_megahertz} MHz, {memory}",
        }


def limits(spec: NodeSpec, megahertz: int) -> dict[str, str]:
    """The node's limits in the words of ``vm.change``, on a host of this speed."""
    memory = machine_memory_byte(spec.options, spec.memory_byte) // MEBIBYTE
    if surplus := memory % _MEMORY_STEP_MEBIBYTE:
        missing = _MEMORY_STEP_MEBIBYTE - surplus
        raise NodeError(
            f"ESXi gives memory in steps of {_MEMORY_STEP_MEBIBYTE} MiB, and {memory} MiB is none: "
            f"add {missing} to system_memory"
        )
    count, quota = len(spec.processors), spec.cpu_quota
    limit = None if quota is None else round(quota * megahertz)
    return {
        "c": str(count),
        "m": str(memory),
        "mem.limit": _NO_LIMIT,
        "cpu.limit": _NO_LIMIT if limit is None else str(limit),
        AFFINITY: format_processors(spec.processors) if is_pinned(spec.options) else "",
        **(_reservation(memory, limit or count * megahertz) if spec.options.get("reserve") is True else {}),
    }


def _reservation(memory_mebibyte: int, megahertz: int) -> dict[str, str]:
    return {"cpu.reservation": str(megahertz), "mem.reservation": str(memory_mebibyte)}


def _settings(now: Described) -> dict[str, str]:
    """All settings that ``limits`` may change."""
    cpu, memory = now.cpu_limit_megahertz, now.memory_limit_mebibyte
    return {
        "c": str(now.processors),
        "m": str(now.memory_byte // MEBIBYTE),
        "mem.limit": _NO_LIMIT if memory is None else str(memory),
        "cpu.limit": _NO_LIMIT if cpu is None else str(cpu),
        AFFINITY: "" if now.affinity is None else format_processors(now.affinity),
        "cpu.reservation": str(now.cpu_reservation_megahertz),
        "mem.reservation": str(now.memory_reservation_mebibyte),
    }
