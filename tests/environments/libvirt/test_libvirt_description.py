# SPDX-License-Identifier: Apache-2.0
"""A domain of Tare's own, as libvirt is told of it."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tare.environments.libvirt.description import DomainFiles, described
from tare.environments.qemu.command import GuestLink, QemuMachine
from tare.environments.qemu.options import Accelerator, QemuOptions
from tare.nodes.provider import Bind

FILES = DomainFiles(
    initramfs=Path("/node/initramfs"),
    image=Path("/disks/a & b.erofs"),
    layer=None,
    channel=Path("/run/tare-1/channel"),
    console=Path("/node/console/log"),
)


def machine(accelerator: Accelerator, devices: str, **changes: object) -> QemuMachine:
    values: dict[str, object] = {
        "name": "tare-1",
        "accelerator": accelerator,
        "options": QemuOptions.of({"devices": devices}),
        "processors": 2,
        "memory_byte": 256 << 20,
        "kernel": Path("/kernels/vmlinux"),
        "image_disk": FILES.image,
        "tsc_khz": 2_600_000,
    }
    return QemuMachine(**{**values, **changes})  # type: ignore[arg-type]


def domain(machine: QemuMachine, files: DomainFiles = FILES) -> ET.Element:
    return ET.fromstring(described(machine, (1, 3), files))  # noqa: S314 - our own


def attributes(parent: ET.Element, path: str) -> list[dict[str, str]]:
    return [element.attrib for element in parent.findall(path)]


def test_a_paravirtual_domain_has_virtio_and_one_processor_on_each_of_the_nodes() -> None:
    element = domain(machine(Accelerator.TCG, "paravirtual", link=GuestLink(tap=None)))
    assert element.get("type") == "qemu"
    assert attributes(element, "os/type") == [{"arch": "x86_64", "machine": "q35"}]
    assert attributes(element, "cputune/vcpupin") == [
        {"vcpu": "0", "cpuset": "1"},
        {"vcpu": "1", "cpuset": "3"},
    ]
    assert attributes(element, "devices/disk/target") == [{"dev": "vda", "bus": "virtio"}]
    assert attributes(element, "devices/disk/source") == [{"file": "/disks/a & b.erofs"}]
    assert element.find("devices/disk/readonly") is not None
    assert attributes(element, "devices/interface/model") == [{"type": "virtio"}]
    assert attributes(element, "devices/channel/target") == [{"type": "virtio", "name": "tare"}]
    assert attributes(element, "devices/channel/source") == [{"mode": "bind", "path": "/run/tare-1/channel"}]
    assert element.findtext("memory") == "262144"
    assert (element.findtext("os/cmdline") or "").endswith("tsc_early_khz=2600000 tsc=reliable -- guest")


@pytest.mark.parametrize("kind", list(Accelerator))
def test_an_emulated_domain_has_nothing_of_virtio_and_hides_that_it_is_one(kind: Accelerator) -> None:
    layered = DomainFiles(
        initramfs=FILES.initramfs,
        image=Path("/node/image.qcow2"),
        layer=Path("/node/layer.img"),
        channel=FILES.channel,
        console=FILES.console,
    )
    element = domain(machine(kind, "emulated", link=GuestLink(tap=None)), layered)
    text = ET.tostring(element, encoding="unicode")
    assert "virtio" not in text
    assert attributes(element, "os/type") == [{"arch": "x86_64", "machine": "pc"}]
    assert attributes(element, "devices/disk/target") == [
        {"dev": "hda", "bus": "ide"},
        {"dev": "hdb", "bus": "ide"},
    ]
    assert [attribute["type"] for attribute in attributes(element, "devices/disk/driver")] == ["qcow2", "raw"]
    assert attributes(element, "devices/interface/model") == [{"type": "e1000"}]
    assert attributes(element, "cpu/feature") == [{"policy": "disable", "name": "hypervisor"}]
    assert ("hidden" in text) == (kind is Accelerator.KVM)
    assert [attribute["type"] for attribute in attributes(element, "devices/serial")] == ["file", "unix"]
    assert "nopv" in (element.findtext("os/cmdline") or "")


def test_under_kvm_the_guest_has_the_hosts_processor() -> None:
    element = domain(machine(Accelerator.KVM, "paravirtual"))
    assert element.get("type") == "kvm"
    assert attributes(element, "cpu") == [{"mode": "host-passthrough"}]
    assert element.find("devices/interface") is None


def test_bound_directories_are_guarded_unless_they_are_writable() -> None:
    binds = (Bind(path=Path("/data")), Bind(path=Path("/out"), writable=True))
    folders = domain(machine(Accelerator.TCG, "paravirtual", binds=binds)).findall("devices/filesystem")
    assert [(attributes(element, "source"), element.find("readonly") is not None) for element in folders] == [
        ([{"dir": "/data"}], True),
        ([{"dir": "/out"}], False),
    ]
    assert [attributes(element, "target") for element in folders] == [[{"dir": "bind0"}], [{"dir": "bind1"}]]


def test_an_ahci_disk_is_one_of_the_q35() -> None:
    options = QemuOptions.of({"devices": "emulated", "machine": "q35"})
    element = domain(machine(Accelerator.TCG, "emulated", options=options))
    assert attributes(element, "devices/disk/target") == [{"dev": "sda", "bus": "sata"}]
