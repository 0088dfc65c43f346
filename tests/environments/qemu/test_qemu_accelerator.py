# SPDX-License-Identifier: Apache-2.0
"""KVM is tried once by a guest, and the answer kept as long as it can hold."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tare.environments.qemu import accelerator
from tare.environments.qemu.accelerator import CANNOT_BOOT, boot_words, chosen, kvm_obstacle
from tare.environments.qemu.options import Accelerator
from tare.errors import NodeError
from tare.guests.kernel import GuestKernel


@pytest.fixture
def kernel(tmp_path: Path) -> GuestKernel:
    image = tmp_path / "vmlinux"
    image.write_bytes(b"kernel")
    return GuestKernel(release="6.1", image=image, modules=None, direct=True)


@pytest.fixture
def tries(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, state: Path) -> list[Accelerator]:  # noqa: ARG001
    """Guests that were tried; none of them boots."""
    made: list[Accelerator] = []

    def boots(_: GuestKernel, tried: Accelerator) -> bool:
        made.append(tried)
        return False

    device = tmp_path / "kvm"
    device.touch()
    monkeypatch.setattr(accelerator, "_DEVICE", device)
    monkeypatch.setattr(accelerator, "boots", boots)
    return made


class TestTrying:
    def test_a_device_that_opens_and_boots_nothing_is_called_so(
        self, kernel: GuestKernel, tries: list[Accelerator]
    ) -> None:
        assert kvm_obstacle(kernel, "7.2") == CANNOT_BOOT == "/dev/kvm opens but cannot boot a guest"
        assert tries == [Accelerator.KVM]

    def test_it_is_tried_once(self, kernel: GuestKernel, tries: list[Accelerator]) -> None:
        assert kvm_obstacle(kernel, "7.2") == kvm_obstacle(kernel, "7.2")
        assert len(tries) == 1

    def test_a_kernel_found_by_another_way_is_known(
        self, kernel: GuestKernel, tries: list[Accelerator], tmp_path: Path
    ) -> None:
        link = tmp_path / "link"
        link.symlink_to(kernel.image)
        assert kvm_obstacle(kernel, "7.2") == kvm_obstacle(replace(kernel, image=link), "7.2")
        assert len(tries) == 1

    def test_another_qemu_another_kernel_or_another_boot_of_the_host_is_another_try(
        self,
        kernel: GuestKernel,
        tries: list[Accelerator],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        kvm_obstacle(kernel, "7.2")
        kvm_obstacle(kernel, "8.0")
        kernel.image.write_bytes(b"another")
        kvm_obstacle(kernel, "8.0")
        (tmp_path / "boot").write_text("another\n")
        monkeypatch.setattr(accelerator, "_BOOT_ID", tmp_path / "boot")
        kvm_obstacle(kernel, "8.0")
        assert len(tries) == 4

    def test_a_torn_note_is_no_answer(
        self, kernel: GuestKernel, tries: list[Accelerator], state: Path
    ) -> None:
        kvm_obstacle(kernel, "7.2")
        note = state / "kvm.json"
        note.write_text(note.read_text()[:-5])
        kvm_obstacle(kernel, "7.2")
        assert len(tries) == 2
        assert json.loads(note.read_text())["boots"] is False

    def test_without_the_device_nothing_is_tried(
        self, kernel: GuestKernel, tries: list[Accelerator], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(accelerator, "_DEVICE", Path("/nowhere/kvm"))
        assert kvm_obstacle(kernel, "7.2") == "there is no /nowhere/kvm"
        assert tries == []


class TestChoice:
    def test_auto_takes_kvm_where_it_boots_and_else_software(self) -> None:
        assert chosen(None, None) is Accelerator.KVM
        assert chosen(None, CANNOT_BOOT) is Accelerator.TCG

    def test_kvm_by_request_is_never_replaced_silently(self) -> None:
        with pytest.raises(NodeError, match=r"cannot boot a guest: choose accelerator"):
            chosen(Accelerator.KVM, CANNOT_BOOT)

    def test_software_by_request_stays_it(self) -> None:
        assert chosen(Accelerator.TCG, None) is Accelerator.TCG


def test_the_guest_that_is_tried_has_a_console_and_nothing_else() -> None:
    words = boot_words(Path("/vmlinux"), Path("/initramfs"), Accelerator.KVM)
    assert [words[at + 1] for at, word in enumerate(words) if word == "-device"] == [
        "isa-serial,chardev=console"
    ]
    assert words[words.index("-accel") + 1] == "kvm"
    assert words[words.index("-cpu") + 1] == "host"
