# SPDX-License-Identifier: Apache-2.0
"""A guest's hardware, read from inside by ``machine`` (native/machine), and compared with the request."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict

from tare.environments.qemu.command import QemuMachine
from tare.environments.qemu.options import Accelerator
from tare.errors import NodeError
from tare.host import process
from tare.nodes.provider import TOOLS_DIRECTORY
from tare.untrusted import from_json, of_kind

CONSOLE_ID = 3
"""The id of a virtio device with serial ports (the virtio standard, chapter 5)."""
_LIMIT_S = 60.0
_PARAVIRTUAL_FEATURES = {"steal_time"}
_CLOCKS = {"clocksource", "clocksource2"}
_NONE = "none"


class _Disk(TypedDict):
    drivers: list[str]


class _Interface(TypedDict):
    drivers: list[str]


class _VirtioDevice(TypedDict):
    id: int | None
    driver: str | None


class GuestView(TypedDict):
    """The parts that Tare relies on; ``None``: the guest shows none of that."""

    processors: int | None
    clock_source: str | None
    clock_sources: list[str] | None
    tsc_khz: int | None
    tsc_khz_from: str | None
    hypervisor_bit: bool | None
    kvm_features: list[str] | None
    booted_on: str | None
    block_devices: list[_Disk] | None
    network_interfaces: list[_Interface] | None
    virtio_devices: list[_VirtioDevice] | None


def look(prefix: Sequence[str]) -> Mapping[str, Any]:
    """The whole output of ``machine``; ``NodeError`` if there is none."""
    done = process.run([*prefix, f"{TOOLS_DIRECTORY}/machine"], timeout_s=_LIMIT_S)
    return parse(done.stdout if done.code == 0 else "", done.last_words)


def parse(text: str, last_words: str = "") -> Mapping[str, Any]:
    """The one line of JSON; ``NodeError`` for anything else."""
    try:
        return of_kind(GuestView, from_json(text))
    except ValueError as error:
        said = last_words or text[:200]
        raise NodeError(f"the guest does not say what it has: {said!r} ({error})") from None


def verify(machine: QemuMachine, seen: Mapping[str, Any]) -> None:
    """``NodeError`` naming everything not as requested: a trial in another machine does not count for this one."""
    if wrong := list(differences(machine, seen)):
        raise NodeError(f"the guest is not as asked ({machine.options.devices}): {'; '.join(wrong)}")


def differences(machine: QemuMachine, seen: Mapping[str, Any]) -> Iterator[str]:
    """The differences in the guest, in words."""
    if seen["processors"] != machine.processors:
        yield f"it has {seen['processors']} processors and not {machine.processors}"
    drivers = [driver for disk in seen["block_devices"] or () for driver in disk["drivers"]]
    if not machine.devices.disk_drivers() & set(drivers):
        wanted = ", ".join(machine.devices.disk_drivers())
        yield f"no disk has the driver {wanted}, but {_listed(drivers)}"
    yield from _other_network(machine, seen)
    yield from _missing(machine, seen) if machine.devices.paravirtual else _superfluous(machine, seen)


def facts(machine: QemuMachine, seen: Mapping[str, Any]) -> dict[str, str]:
    """The outcome's facts about the guest; the kernel and its clock source are recorded for every node."""
    rate, told_by = seen["tsc_khz"], seen["tsc_khz_from"]
    disks = {name for disk in seen["block_devices"] or () for name in disk["drivers"]}
    return {
        "devices": str(machine.options.devices),
        "disk driver": _listed(sorted(disks & machine.devices.disk_drivers())),
        "network driver": _listed(_network_drivers(seen)),
        "virtio devices": _listed([str(entry["driver"]) for entry in seen["virtio_devices"] or ()]),
        "booted on": str(seen["booted_on"] or "not told"),
        "paravirtual features": _listed(seen["kvm_features"] or ()),
        "clock sources": _listed(seen["clock_sources"] or ()),
        "TSC": "not told" if rate is None else f"{rate} kHz ({told_by})",
    }


def _other_network(machine: QemuMachine, seen: Mapping[str, Any]) -> Iterator[str]:
    drivers, wanted = _network_drivers(seen), [machine.devices.link_driver] if machine.link else []
    if drivers != wanted:
        yield f"its network has the driver {_listed(drivers)} and not {_listed(wanted)}"


def _network_drivers(seen: Mapping[str, Any]) -> list[str]:
    """The driver of each interface's device; an interface without a driver is no device."""
    return [entry["drivers"][0] for entry in seen["network_interfaces"] or () if entry["drivers"]]


def _missing(machine: QemuMachine, seen: Mapping[str, Any]) -> Iterator[str]:
    """Missing paravirtual devices and, under KVM, missing features that KVM offers to kernels that know it."""
    consoles = [entry for entry in seen["virtio_devices"] or () if entry["id"] == CONSOLE_ID]
    if not any(console["driver"] == "virtio_console" for console in consoles):
        yield "no virtio device carries its channel"
    if machine.accelerator is Accelerator.TCG or machine.options.cpu is not None:
        return
    features = set(seen["kvm_features"] or ())
    if not features & _CLOCKS:
        yield "KVM's clock is not offered to it"
    if lacking := _PARAVIRTUAL_FEATURES - features:
        yield f"KVM does not offer it {', '.join(sorted(lacking))}"


def _superfluous(machine: QemuMachine, seen: Mapping[str, Any]) -> Iterator[str]:
    """Anything that a real machine would not have."""
    if strs := [str(entry["driver"]) for entry in seen["virtio_devices"] or ()]:
        yield f"it has virtio devices: {', '.join(strs)}"
    if seen["clock_source"] == "kvm-clock":
        yield "its clock is KVM's"
    if seen["hypervisor_bit"] and machine.options.cpu is None:
        yield "its processor says that it is a guest's"


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words) or _NONE
