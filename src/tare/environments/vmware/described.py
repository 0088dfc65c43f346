# SPDX-License-Identifier: Apache-2.0
"""What ``govc vm.info -json`` and ``object.collect -json`` tell, which are vSphere's own objects (VirtualMachine)."""

import ipaddress
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tare.errors import NodeError
from tare.host.cgroups import parse_processors
from tare.units import MEBIBYTE

AFFINITY = "sched.cpu.affinity"
"""The setting of a machine that names the processors of its host on which its own may run."""
_OFF = "poweredOff"
_ANY_PROCESSOR = ("", "all")


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """One machine."""

    is_on: bool
    """Suspended counts as on."""
    host: str
    """The reference of the ESXi host that it is on, such as ``HostSystem:host-21``."""
    processors: int
    memory_byte: int
    cpu_limit_megahertz: int | None
    """``None``: no limit."""
    cpu_reservation_megahertz: int
    memory_limit_mebibyte: int | None
    memory_reservation_mebibyte: int
    affinity: tuple[int, ...] | None
    """``None``: any."""
    address: str | None
    hardware: str
    """The version of its virtual hardware, such as ``vmx-19``."""


def machine(text: str) -> Described | None:
    """The one machine of ``vm.info -json``; ``None`` if there is none; ``NodeError`` for several or for nonsense."""
    try:
        found = json.loads(text)["virtualMachines"] or []
        if len(found) > 1:
            names = ", ".join(str(one.get("name")) for one in found)
            raise NodeError(f"several machines have that name: {names}; write the whole path of one")
        return _described(found[0]) if found else None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _nonsense("vm.info", error) from error


def _described(found: Mapping[str, Any]) -> Described:
    configuration, hardware = found["config"], found["config"]["hardware"]
    cpu, memory = configuration.get("cpuAllocation") or {}, configuration.get("memoryAllocation") or {}
    host = found["runtime"]["host"]
    extra = {one["key"]: one["value"] for one in configuration.get("extraConfig") or []}
    return Described(
        is_on=found["runtime"]["powerState"] != _OFF,
        host=f"{host['type']}:{host['value']}",
        processors=int(hardware["numCPU"]),
        memory_byte=int(hardware["memoryMB"]) * MEBIBYTE,
        cpu_limit_megahertz=_limit(cpu),
        cpu_reservation_megahertz=int(cpu.get("reservation", 0)),
        memory_limit_mebibyte=_limit(memory),
        memory_reservation_mebibyte=int(memory.get("reservation", 0)),
        affinity=_processors(str(extra.get(AFFINITY, ""))),
        address=next(_addresses(found.get("guest") or {}), None),
        hardware=str(configuration["version"]),
    )


def properties(text: str) -> dict[str, Any]:
    """Name → value of ``object.collect -json``; ``NodeError`` for nonsense."""
    try:
        return {str(one["name"]): one.get("val") for one in json.loads(text)}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _nonsense("object.collect", error) from error


def _nonsense(command: str, error: Exception) -> NodeError:
    return NodeError(f"what govc {command} prints is not understood ({error!r}); use govc 0.30 or newer")


def _limit(allocation: Mapping[str, Any]) -> int | None:
    """-1 is vSphere's word for no limit (ResourceAllocationInfo)."""
    limit = int(allocation.get("limit", -1))
    return None if limit < 0 else limit


def _processors(text: str) -> tuple[int, ...] | None:
    return None if text.strip() in _ANY_PROCESSOR else parse_processors(text.replace(" ", ""))


def _addresses(guest: Mapping[str, Any]) -> Iterator[str]:
    """Those that another host can reach, IPv4 first; VMware Tools tell them."""
    told = [guest.get("ipAddress")]
    told += [one for card in guest.get("net") or [] for one in card.get("ipAddress") or []]
    found = [ipaddress.ip_address(one) for one in told if one]
    for version in (4, 6):
        yield from (str(one) for one in found if one.version == version and not one.is_link_local)
