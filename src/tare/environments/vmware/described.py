# SPDX-License-Identifier: Apache-2.0
"""The output of ``govc vm.info -json`` and ``object.collect -json``: vSphere's own objects (VirtualMachine)."""

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from tare.errors import NodeError
from tare.host.cgroups import parse_processors
from tare.host.told import told
from tare.units import MEBIBYTE

AFFINITY = "sched.cpu.affinity"
"""A machine's setting that names the host's processors on which its own may run."""
_OFF = "poweredOff"
_EXCERPT = 400
_ANY_PROCESSOR = ("", "all")


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """One machine."""

    is_on: bool
    """Suspended counts as on."""
    host: str
    """The reference of its ESXi host, such as ``HostSystem:host-21``."""
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


class _Allocation(TypedDict):
    """ResourceAllocationInfo."""

    limit: NotRequired[int]
    reservation: NotRequired[int]


class _Reference(TypedDict):
    type: str
    value: str


class _ConfigSetting(TypedDict):
    key: str
    value: Any


class _Hardware(TypedDict):
    numCPU: int
    memoryMB: int


class _Configuration(TypedDict):
    hardware: _Hardware
    version: str
    cpuAllocation: NotRequired[_Allocation | None]
    memoryAllocation: NotRequired[_Allocation | None]
    extraConfig: NotRequired[list[_ConfigSetting] | None]


class _Runtime(TypedDict):
    host: _Reference
    powerState: str


class _Card(TypedDict):
    ipAddress: NotRequired[list[str] | None]


class _Guest(TypedDict):
    ipAddress: NotRequired[str | None]
    net: NotRequired[list[_Card] | None]


class _Machine(TypedDict):
    """The fields of VirtualMachine that Tare relies on."""

    name: NotRequired[str]
    config: _Configuration
    runtime: _Runtime
    guest: NotRequired[_Guest | None]


class _Machines(TypedDict):
    virtualMachines: list[_Machine] | None


class _Property(TypedDict):
    name: str
    val: NotRequired[Any]


def machine(text: str) -> Described | None:
    """The one machine of ``vm.info -json``; ``None`` without any; ``NodeError`` for several or for nonsense."""
    machines = told(_Machines, text, "govc vm.info")["virtualMachines"] or []
    if len(machines) > 1:
        names = ", ".join(each.get("name", "without a name") for each in machines)
        raise NodeError(f"several machines have that name: {names}; write the whole path of one")
    try:
        return _described(machines[0]) if machines else None
    except ValueError as error:
        raise NodeError(f"what govc vm.info prints is not understood: {error}", text[:_EXCERPT]) from None


def _described(reported: _Machine) -> Described:
    configuration, host = reported["config"], reported["runtime"]["host"]
    cpu, memory = configuration.get("cpuAllocation") or {}, configuration.get("memoryAllocation") or {}
    extra = {setting["key"]: setting["value"] for setting in configuration.get("extraConfig") or []}
    return Described(
        is_on=reported["runtime"]["powerState"] != _OFF,
        host=f"{host['type']}:{host['value']}",
        processors=configuration["hardware"]["numCPU"],
        memory_byte=configuration["hardware"]["memoryMB"] * MEBIBYTE,
        cpu_limit_megahertz=_limit(cpu),
        cpu_reservation_megahertz=cpu.get("reservation", 0),
        memory_limit_mebibyte=_limit(memory),
        memory_reservation_mebibyte=memory.get("reservation", 0),
        affinity=_processors(str(extra.get(AFFINITY, ""))),
        address=next(_addresses(reported.get("guest") or {}), None),
        hardware=configuration["version"],
    )


def properties(text: str) -> dict[str, Any]:
    """Name → value of ``object.collect -json``; ``NodeError`` for nonsense."""
    return {entry["name"]: entry.get("val") for entry in told(list[_Property], text, "govc object.collect")}


def _limit(allocation: _Allocation) -> int | None:
    """The limit; -1 is vSphere's value for none (ResourceAllocationInfo)."""
    limit = allocation.get("limit", -1)
    return None if limit < 0 else limit


def _processors(text: str) -> tuple[int, ...] | None:
    return None if text.strip() in _ANY_PROCESSOR else parse_processors(text.replace(" ", ""))


def _addresses(guest: _Guest) -> Iterator[str]:
    """The addresses that another host can reach, IPv4 first, as VMware Tools report them."""
    known = [guest.get("ipAddress")]
    known += [text for card in guest.get("net") or [] for text in card.get("ipAddress") or []]
    ip_addresses = [ipaddress.ip_address(ip) for ip in known if ip]
    for version in (4, 6):
        yield from (str(ip) for ip in ip_addresses if ip.version == version and not ip.is_link_local)
