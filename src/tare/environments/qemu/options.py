# SPDX-License-Identifier: Apache-2.0
"""A campaign's options for the environment ``qemu``, and which combinations make no sense."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from tare.host.cgroups import parse_processors
from tare.records import OptionValue

OPTION_NAMES: Mapping[str, str] = {
    "accelerator": '"kvm", "tcg" (software emulation) or "auto": KVM where it boots a guest',
    "devices": '"paravirtual": virtio disk, network and channel; "emulated": IDE or AHCI disk, e1000, serial line',
    "kernel": "the guest's kernel: a release that `tare image kernel` keeps, or the path of its file",
    "machine": 'QEMU\'s machine type: "q35" (default of paravirtual devices) or "pc" (of emulated ones)',
    "cpu": "QEMU's processor model, as its option -cpu has it",
    "vhost": '"auto", "on" or "off": have the host\'s kernel move the packets of a paravirtual network',
    "huge_pages": "true: the guest's memory in huge pages that the host has reserved",
    "vmm_processors": 'where QEMU\'s own threads run: "same" as the guest, or a list such as "0-1"',
    "share": 'how a bound directory reaches the guest: "9p" or "virtiofs"',
    "pin": "false: let the guest's processors move within the node's CPU set, instead of one on each",
    "start": '"boot", or "snapshot": boot one guest, and restore all from what it was when it was up',
}

_MACHINE = re.compile(r"(q35|pc|pc-q35-[\w.]+|pc-i440fx-[\w.]+)")
_CPU = re.compile(r"[\w.+=,-]+")


class Devices(StrEnum):
    """Which devices the guest has."""

    PARAVIRTUAL = "paravirtual"
    EMULATED = "emulated"


class Accelerator(StrEnum):
    """The program or kernel that runs the guest's instructions."""

    KVM = "kvm"
    TCG = "tcg"


class Vhost(StrEnum):
    """Whether the host's kernel moves packets, past QEMU."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class BindWay(StrEnum):
    """By which protocol a directory of the host reaches the guest."""

    NINE_P = "9p"
    VIRTIOFS = "virtiofs"


class StartWay(StrEnum):
    """How a guest gets up and running."""

    BOOT = "boot"
    SNAPSHOT = "snapshot"


@dataclass(frozen=True, slots=True, kw_only=True)
class QemuOptions:
    """The options with their defaults."""

    accelerator: Accelerator | None
    """``None``: whichever works."""
    devices: Devices
    kernel: str | None
    machine: str
    cpu: str | None
    vhost: Vhost
    huge_pages: bool
    vmm_processors: tuple[int, ...]
    """Empty: the same as the guest's."""
    share: BindWay
    pin: bool
    start: StartWay

    @classmethod
    def of(cls, options: Mapping[str, OptionValue]) -> Self:
        """Read options in which ``complaints`` finds nothing wrong."""
        devices = Devices(str(options.get("devices", Devices.PARAVIRTUAL)))
        accelerator, kernel, cpu = (options.get(name) for name in ("accelerator", "kernel", "cpu"))
        vmm = options.get("vmm_processors", "same")
        return cls(
            accelerator=None if accelerator in {None, "auto"} else Accelerator(str(accelerator)),
            devices=devices,
            kernel=None if kernel is None else str(kernel),
            machine=str(options.get("machine", "q35" if devices is Devices.PARAVIRTUAL else "pc")),
            cpu=None if cpu is None else str(cpu),
            vhost=Vhost(str(options.get("vhost", Vhost.AUTO))),
            huge_pages=bool(options.get("huge_pages", False)),
            vmm_processors=() if vmm == "same" else parse_processors(str(vmm)),
            share=BindWay(str(options.get("share", BindWay.NINE_P))),
            pin=bool(options.get("pin", True)),
            start=StartWay(str(options.get("start", StartWay.BOOT))),
        )

    @property
    def is_q35(self) -> bool:
        """Whether the machine has an AHCI controller; else an IDE one."""
        return "q35" in self.machine


def complaints(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """Option → what is wrong with it, as for ``Provider.check_options``."""
    problems = {**_wrong_words(options), **_wrong_forms(options)}
    return problems or _wrong_together(options)


def _wrong_words(options: Mapping[str, OptionValue]) -> dict[str, str]:
    allowed: Mapping[str, tuple[OptionValue, ...]] = {
        "accelerator": ("auto", *Accelerator),
        "devices": tuple(Devices),
        "vhost": tuple(Vhost),
        "huge_pages": (True, False),
        "share": tuple(BindWay),
        "pin": (True, False),
        "start": tuple(StartWay),
    }
    return {
        name: f"must be one of {', '.join(_shown(value) for value in values)}, but is {options[name]!r}"
        for name, values in allowed.items()
        if name in options and not _is_one_of(options[name], values)
    }


def _is_one_of(given: OptionValue, values: tuple[OptionValue, ...]) -> bool:
    """Whether it is one of them, without taking 1 for true."""
    return given in values and isinstance(given, bool) == isinstance(values[0], bool)


def _shown(value: OptionValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _wrong_forms(options: Mapping[str, OptionValue]) -> dict[str, str]:
    wrong_forms = {}
    if not isinstance(kernel := options.get("kernel", "-"), str) or not kernel:
        wrong_forms["kernel"] = f"must be a release or the path of a file, but is {kernel!r}"
    if not isinstance(machine := options.get("machine", "q35"), str) or not _MACHINE.fullmatch(machine):
        wrong_forms["machine"] = (
            f"must be q35, pc or one of their versions, but is {machine!r}: others have no such devices"
        )
    if not isinstance(cpu := options.get("cpu", "max"), str) or not _CPU.fullmatch(cpu):
        wrong_forms["cpu"] = f"must be a model as QEMU's option -cpu has it, but is {cpu!r}"
    if not _is_processors(vmm := options.get("vmm_processors", "same")):
        wrong_forms["vmm_processors"] = f'must be "same" or a list such as "0-1", but is {vmm!r}'
    return wrong_forms


def _is_processors(given: OptionValue) -> bool:
    if not isinstance(given, str):
        return False
    try:
        return given == "same" or bool(parse_processors(given))
    except ValueError:
        return False


def _wrong_together(options: Mapping[str, OptionValue]) -> dict[str, str]:
    chosen, problems = QemuOptions.of(options), {}
    if chosen.vhost is Vhost.ON and chosen.devices is Devices.EMULATED:
        problems["vhost"] = "moves packets of a paravirtual network; emulated devices have none"
    if chosen.vmm_processors and not chosen.pin:
        problems["pin"] = (
            "must stay true with vmm_processors: else the guest's processors would move there too"
        )
    return problems
