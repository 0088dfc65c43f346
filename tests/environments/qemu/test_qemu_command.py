# SPDX-License-Identifier: Apache-2.0
"""What QEMU is told: for each accelerator, each kind of devices and each kind of network."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tare.environments.qemu.command import GuestLink, QemuMachine, argv, kernel_words
from tare.environments.qemu.options import Accelerator, QemuOptions
from tare.nodes.provider import Bind
from tare.records import OptionValue

MEBIBYTE = 1 << 20
TAP = GuestLink(tap="tap10", number=10)


def machine(options: Mapping[str, OptionValue] | None = None, **changes: object) -> QemuMachine:
    common = QemuMachine(
        name="tare-1",
        accelerator=Accelerator.TCG,
        options=QemuOptions.of(options or {}),
        processors=2,
        memory_byte=512 * MEBIBYTE,
        kernel=Path("/kernels/vmlinux"),
        image_disk=Path("/disks/image.erofs"),
        tsc_khz=2596121,
    )
    return replace(common, **changes)  # type: ignore[arg-type]


def values(words: list[str], option: str) -> list[str]:
    """All that follows this option."""
    return [words[at + 1] for at, word in enumerate(words) if word == option]


def models(words: list[str]) -> list[str]:
    return [device.partition(",")[0] for device in values(words, "-device")]


def chosen(accelerator: Accelerator, devices: str, link: GuestLink | None = None) -> list[str]:
    return argv(machine({"devices": devices}, accelerator=accelerator, link=link))


@pytest.mark.parametrize("accelerator", Accelerator)
@pytest.mark.parametrize("devices", ["paravirtual", "emulated"])
@pytest.mark.parametrize("link", [None, TAP, GuestLink(tap=None)])
class TestEveryMachine:
    def test_nothing_is_there_by_default_and_a_reset_is_its_end(
        self, accelerator: Accelerator, devices: str, link: GuestLink | None
    ) -> None:
        words = chosen(accelerator, devices, link)
        assert words[0] == "qemu-system-x86_64"
        assert {"-nodefaults", "-no-user-config", "-no-reboot"} <= set(words)
        assert values(words, "-display") == ["none"]
        assert values(words, "-m") == [f"{512 * MEBIBYTE}B"]
        assert values(words, "-smp") == ["cpus=2,sockets=1,cores=2,threads=1"]

    def test_the_image_is_shared_and_what_is_written_to_it_thrown_away(
        self, accelerator: Accelerator, devices: str, link: GuestLink | None
    ) -> None:
        drives = values(chosen(accelerator, devices, link), "-drive")
        assert drives == ["if=none,id=image,file=/disks/image.erofs,format=raw,snapshot=on"]

    def test_the_first_process_is_told_its_part(
        self, accelerator: Accelerator, devices: str, link: GuestLink | None
    ) -> None:
        (words,) = values(chosen(accelerator, devices, link), "-append")
        assert words.endswith(" -- guest")
        assert {"panic=-1", "no_timer_check", "console=ttyS0", "sysctl.vm.overcommit_memory=1"} <= set(
            words.split()
        )

    def test_a_link_has_one_device_and_none_has_none(
        self, accelerator: Accelerator, devices: str, link: GuestLink | None
    ) -> None:
        words = chosen(accelerator, devices, link)
        cards = [model for model in models(words) if model in {"virtio-net-pci", "e1000"}]
        assert len(cards) == len(values(words, "-netdev")) == (0 if link is None else 1)


class TestAccelerator:
    def test_kvm_shows_the_hosts_processor_with_what_kvm_offers(self) -> None:
        words = chosen(Accelerator.KVM, "paravirtual")
        assert values(words, "-accel") == ["kvm"]
        assert values(words, "-cpu") == ["host"]

    def test_kvm_hides_itself_from_a_guest_with_emulated_devices(self) -> None:
        words = chosen(Accelerator.KVM, "emulated")
        assert values(words, "-accel") == ["kvm"]
        assert values(words, "-cpu") == ["host,kvm=off,-hypervisor"]

    def test_software_emulation_states_how_much_code_it_keeps(self) -> None:
        assert values(chosen(Accelerator.TCG, "paravirtual"), "-accel") == ["tcg,thread=multi,tb-size=256"]
        assert values(chosen(Accelerator.TCG, "paravirtual"), "-cpu") == ["max"]
        assert values(chosen(Accelerator.TCG, "emulated"), "-cpu") == ["max,-hypervisor"]

    def test_the_guests_kernel_is_told_how_many_processes_it_may_have_beside_its_own(self) -> None:
        words = {word for count in (64, None) for word in kernel_words(machine(processes=count)).split()}
        assert [word for word in words if "threads-max" in word] == ["sysctl.kernel.threads-max=352"]

    def test_the_rate_of_the_clock_is_told_under_software_emulation_alone(self) -> None:
        words = kernel_words(machine()).split()
        assert {"tsc_early_khz=2596121", "tsc=reliable"} <= set(words)
        assert "tsc" not in kernel_words(machine(accelerator=Accelerator.KVM))

    def test_a_rate_that_nobody_knows_is_measured_by_the_guest(self) -> None:
        assert "tsc" not in kernel_words(machine(tsc_khz=None))

    def test_a_processor_of_the_users_choice_stays_as_it_is(self) -> None:
        words = argv(machine({"cpu": "EPYC,-avx2", "devices": "emulated"}, accelerator=Accelerator.KVM))
        assert values(words, "-cpu") == ["EPYC,-avx2"]


class TestDevices:
    def test_paravirtual_ones_are_virtios_but_for_the_kernels_own_console(self) -> None:
        words = chosen(Accelerator.TCG, "paravirtual", TAP)
        assert models(words) == [
            "isa-serial",
            "virtio-serial-pci",
            "virtserialport",
            "virtio-blk-pci",
            "virtio-net-pci",
        ]
        assert "nopv" not in " ".join(values(words, "-append"))
        assert values(words, "-machine") == ["q35"]

    @pytest.mark.parametrize("accelerator", Accelerator)
    @pytest.mark.parametrize("kind", ["pc", "q35"])
    def test_emulated_ones_have_no_virtio_and_no_paravirtual_clock(
        self, accelerator: Accelerator, kind: str
    ) -> None:
        options: Mapping[str, OptionValue] = {"devices": "emulated", "machine": kind}
        words = argv(machine(options, accelerator=accelerator, link=TAP))
        assert models(words) == ["isa-serial", "isa-serial", "ide-hd", "e1000"]
        assert not any("virtio" in word for word in words)
        assert "nopv" in values(words, "-append")[0].split()

    def test_emulated_ones_are_those_of_an_old_machine_by_default(self) -> None:
        words = chosen(Accelerator.TCG, "emulated")
        assert values(words, "-machine") == ["pc"]
        assert machine({"devices": "emulated"}).devices.disk_drivers() == {"ata_piix"}
        assert machine({"devices": "emulated", "machine": "q35"}).devices.disk_drivers() == {"ahci"}

    @pytest.mark.parametrize(
        ("devices", "name"),
        [("paravirtual", "/dev/vdb"), ("emulated", "/sys/class/scsi_device/1:0:0:0/device/block")],
    )
    def test_the_layers_disk_is_the_second_one_and_is_kept_in_the_nodes_folder(
        self, devices: str, name: str
    ) -> None:
        made = machine({"devices": devices}, layer_disk="layer.img")
        assert values(argv(made), "-drive")[1] == "if=none,id=layer,file=layer.img,format=raw"
        assert made.devices.disk_name(1) == name
        assert len([device for device in values(argv(made), "-device") if "drive=layer" in device]) == 1
        assert "ext4" in made.devices.modules(made.needs)

    def test_only_the_modules_of_its_devices_are_loaded(self) -> None:
        alone, linked = machine(), machine({"devices": "emulated"}, link=TAP)
        assert alone.devices.modules(alone.needs) == [
            "virtio_pci",
            "virtio_blk",
            "virtio_console",
            "erofs",
            "overlay",
        ]
        assert linked.devices.modules(linked.needs) == ["ata_piix", "sd_mod", "erofs", "overlay", "e1000"]


class TestNetwork:
    @pytest.mark.parametrize(("vhost", "word"), [(True, "on"), (False, "off")])
    def test_a_link_opens_the_tap_that_is_there(self, vhost: bool, word: str) -> None:
        link = GuestLink(tap="tap10", number=10, vhost=vhost)
        wanted = f"tap,id=link,ifname=tap10,script=no,downscript=no,vhost={word}"
        assert values(argv(machine(link=link)), "-netdev") == [wanted]

    def test_the_networks_of_user_space_need_nothing_of_the_hosts(self) -> None:
        assert values(argv(machine(link=GuestLink(tap=None))), "-netdev") == ["user,id=link"]

    def test_every_guest_of_a_network_has_another_hardware_address(self) -> None:
        hardware_addresses = {
            GuestLink(tap="t", number=number).hardware_address for number in range(10, 1000)
        }
        assert len(hardware_addresses) == 990
        assert "52:54:00:12:01:02" in hardware_addresses


class TestSharing:
    BINDS = (Bind(path=Path("/data/in,put")), Bind(path=Path("/data/out"), writable=True))

    def test_a_bound_folder_is_guarded_unless_asked_and_may_have_a_comma(self) -> None:
        result = values(argv(machine(binds=self.BINDS)), "-fsdev")
        common = "security_model=passthrough,multidevs=remap"
        assert result == [
            f"local,id=bind0,path=/data/in,,put,{common},readonly=on",
            f"local,id=bind1,path=/data/out,{common}",
        ]

    def test_the_guest_finds_each_by_its_number(self) -> None:
        made = machine(binds=self.BINDS)
        assert "virtio-9p-pci,fsdev=bind1,mount_tag=bind1" in values(argv(made), "-device")
        assert {"9p", "9pnet_virtio"} <= set(made.devices.modules(made.needs))

    def test_virtiofs_has_a_server_for_each_that_shares_the_guests_memory(self) -> None:
        made = machine({"share": "virtiofs"}, binds=self.BINDS)
        words = argv(made)
        assert "socket,id=bind1,path=bind1" in values(words, "-chardev")
        assert "vhost-user-fs-pci,chardev=bind1,tag=bind1" in values(words, "-device")
        size = 512 * MEBIBYTE
        assert values(words, "-object") == [f"memory-backend-memfd,id=memory,size={size},share=on"]
        assert values(words, "-machine") == ["q35,memory-backend=memory"]
        assert not values(words, "-fsdev")
        assert "virtiofs" in made.devices.modules(made.needs)

    def test_nothing_is_shared_where_no_folder_is_bound(self) -> None:
        assert argv(machine({"share": "virtiofs"})) == argv(machine())


def test_huge_pages_are_all_of_the_guests_memory() -> None:
    words = argv(machine(huge_pages=Path("/dev/hugepages")))
    size = 512 * MEBIBYTE
    wanted = f"memory-backend-file,id=memory,size={size},mem-path=/dev/hugepages,prealloc=on"
    assert values(words, "-object") == [wanted]
    assert values(words, "-machine") == ["q35,memory-backend=memory"]
