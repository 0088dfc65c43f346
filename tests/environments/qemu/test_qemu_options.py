# SPDX-License-Identifier: Apache-2.0
"""What a campaign may say of a machine, and what is refused with a reason."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tare.environments.qemu import Qemu, virtiofs
from tare.environments.qemu.options import OPTION_NAMES, Accelerator, Devices, QemuOptions, StartWay, Vhost
from tare.errors import NodeError
from tare.records import OptionValue

GOOD: list[Mapping[str, OptionValue]] = [
    {},
    {"accelerator": "auto", "devices": "paravirtual", "vhost": "auto", "pin": True},
    {"accelerator": "kvm", "vhost": "on", "huge_pages": True, "cpu": "host,migratable=no"},
    {"accelerator": "tcg", "devices": "emulated", "machine": "q35", "kernel": "/boot/vmlinuz"},
    {"machine": "pc-q35-7.2", "kernel": "6.1.0-56-amd64", "vmm_processors": "0-1,3"},
    {"vmm_processors": "same", "pin": False},
    {"share": "virtiofs"},
    {"start": "snapshot"},
]
WRONG: list[tuple[Mapping[str, OptionValue], str, str]] = [
    ({"accelerator": "xen"}, "accelerator", "auto, kvm, tcg"),
    ({"devices": "virtio"}, "devices", "'virtio'"),
    ({"kernel": 6}, "kernel", "path of a file"),
    ({"machine": "microvm"}, "machine", "q35, pc"),
    ({"machine": "q35,accel=kvm"}, "machine", "q35, pc"),
    ({"cpu": "host -enable-kvm"}, "cpu", "-cpu"),
    ({"vhost": True}, "vhost", "auto, on, off"),
    ({"huge_pages": 1}, "huge_pages", "true, false"),
    ({"pin": "yes"}, "pin", "'yes'"),
    ({"start": "restored"}, "start", "boot, snapshot"),
    ({"share": "nfs"}, "share", "9p, virtiofs"),
    ({"vmm_processors": "zero"}, "vmm_processors", "0-1"),
    ({"vmm_processors": 1}, "vmm_processors", "0-1"),
    ({"vmm_processors": ""}, "vmm_processors", "0-1"),
    ({"vhost": "on", "devices": "emulated"}, "vhost", "paravirtual"),
    ({"vmm_processors": "0", "pin": False}, "pin", "vmm_processors"),
]


def test_a_host_without_virtiofsd_is_told_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(NodeError, match=r"there is none in .*qemu-system-common"):
        virtiofs.program([tmp_path / "virtiofsd"])


@pytest.mark.parametrize("options", GOOD)
def test_what_makes_sense_is_taken(options: Mapping[str, OptionValue]) -> None:
    assert Qemu().check_options(options) == {}


@pytest.mark.parametrize(("options", "name", "words"), WRONG)
def test_what_makes_none_is_refused_with_the_reason(
    options: Mapping[str, OptionValue], name: str, words: str
) -> None:
    check_options = Qemu().check_options(options)
    assert list(check_options) == [name]
    assert words in check_options[name]


def test_by_default_a_machine_is_paravirtual_pinned_and_as_fast_as_it_gets() -> None:
    qemu_options = QemuOptions.of({})
    assert qemu_options.devices is Devices.PARAVIRTUAL
    assert (qemu_options.accelerator, qemu_options.machine, qemu_options.vhost) == (None, "q35", Vhost.AUTO)
    assert (qemu_options.pin, qemu_options.vmm_processors, qemu_options.huge_pages) == (True, (), False)
    assert qemu_options.start is StartWay.BOOT


def test_what_is_said_is_what_counts() -> None:
    qemu_options = QemuOptions.of({"accelerator": "kvm", "vmm_processors": "0-1", "devices": "emulated"})
    assert (qemu_options.accelerator, qemu_options.vmm_processors, qemu_options.machine) == (
        Accelerator.KVM,
        (0, 1),
        "pc",
    )


def test_every_option_has_its_explanation() -> None:
    assert set(OPTION_NAMES) == set(QemuOptions.__dataclass_fields__)
