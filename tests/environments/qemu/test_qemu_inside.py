# SPDX-License-Identifier: Apache-2.0
"""What real guests said of themselves, held against what was asked; and what a guest under KVM must have."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.conftest import REPOSITORY
from tests.environments.qemu.test_qemu_command import TAP, machine

from tare.environments.qemu.inside import differences, facts, parse, verify
from tare.environments.qemu.options import Accelerator
from tare.errors import NodeError

OUTPUTS = REPOSITORY / "tests" / "outputs" / "qemu"
NETWORK = {"name": "eth0", "drivers": ["virtio_net", "virtio-pci"], "buses": ["virtio", "pci"]}
E1000 = {"name": "eth0", "drivers": ["e1000"], "buses": ["pci"]}
KVM = {
    "hypervisor_signatures": ["KVMKVMKVM"],
    "kvm_features": ["clocksource", "clocksource2", "steal_time", "pv_eoi"],
    "booted_on": "KVM",
    "clock_source": "kvm-clock",
}
"""As the kernel's documentation of KVM's CPUID leaves has it; no such guest was recorded."""


def seen(devices: str, **changes: Any) -> Mapping[str, Any]:
    return {**parse((OUTPUTS / f"{devices}-tcg.json").read_text()), **changes}


def with_interface(facts: Mapping[str, Any], interface: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**facts, "network_interfaces": [*facts["network_interfaces"], interface]}


@pytest.mark.parametrize("devices", ["paravirtual", "emulated"])
class TestAsAsked:
    def test_a_real_guest_is_what_it_was_asked_to_be(self, devices: str) -> None:
        verify(machine({"devices": devices}), seen(devices))

    def test_another_number_of_processors_is_not(self, devices: str) -> None:
        (value,) = differences(machine({"devices": devices}), seen(devices, processors=1))
        assert value == "it has 1 processors and not 2"

    def test_a_link_that_is_missing_or_too_much_is_not(self, devices: str) -> None:
        asked, driver = machine({"devices": devices}), {"paravirtual": NETWORK, "emulated": E1000}[devices]
        linked = with_interface(seen(devices), driver)
        assert list(differences(replace(asked, link=TAP), linked)) == []
        assert len(list(differences(asked, linked))) == 1
        assert len(list(differences(replace(asked, link=TAP), seen(devices)))) == 1


class TestOtherDevices:
    def test_a_paravirtual_guest_that_runs_an_e1000_is_told(self) -> None:
        document = with_interface(seen("paravirtual"), E1000)
        with pytest.raises(NodeError, match=r"not as asked \(paravirtual\).*e1000 and not virtio_net"):
            verify(machine(link=TAP), document)

    def test_an_emulated_guest_with_any_virtio_device_is_told(self) -> None:
        document = seen("emulated", virtio_devices=[{"name": "virtio0", "id": 4, "driver": "virtio_rng"}])
        with pytest.raises(NodeError, match=r"virtio devices: virtio_rng"):
            verify(machine({"devices": "emulated"}), document)

    def test_an_ahci_disk_is_no_ide_disk(self) -> None:
        asked = machine({"devices": "emulated", "machine": "q35"})
        assert list(differences(asked, seen("emulated"))) == ["no disk has the driver ahci, but sd, ata_piix"]

    def test_a_channel_without_its_driver_is_told(self) -> None:
        bare = [{"name": "virtio0", "id": 3, "driver": None}, {"name": "virtio1", "id": 2, "driver": "x"}]
        assert list(differences(machine(), seen("paravirtual", virtio_devices=bare))) == [
            "no virtio device carries its channel"
        ]

    def test_what_the_guest_could_not_tell_is_not_taken_for_right(self) -> None:
        nothing = dict.fromkeys(seen("paravirtual"))
        assert len(list(differences(machine(), nothing))) >= 3


class TestUnderKvm:
    ASKED = machine(accelerator=Accelerator.KVM)

    def test_its_clock_and_its_steal_time_are_there(self) -> None:
        assert list(differences(self.ASKED, seen("paravirtual", **KVM))) == []

    @pytest.mark.parametrize(
        ("features", "words"),
        [(["steal_time"], "KVM's clock"), (["clocksource2"], "steal_time"), (None, "KVM's clock")],
    )
    def test_what_is_missing_of_them_is_told(self, features: list[str] | None, words: str) -> None:
        result = list(differences(self.ASKED, seen("paravirtual", **{**KVM, "kvm_features": features})))
        assert any(words in text for text in result)

    def test_a_guest_with_emulated_devices_sees_nothing_of_it(self) -> None:
        asked = machine({"devices": "emulated"}, accelerator=Accelerator.KVM)
        assert list(differences(asked, seen("emulated"))) == []
        result = list(differences(asked, seen("emulated", **KVM, hypervisor_bit=True)))
        assert result == ["its clock is KVM's", "its processor says that it is a guest's"]


class TestFacts:
    def test_they_tell_what_was_seen_in_words(self) -> None:
        result = facts(machine(), with_interface(seen("paravirtual"), NETWORK))
        assert result["disk driver"] == "virtio_blk"
        assert result["network driver"] == "virtio_net"
        assert result["virtio devices"] == "virtio_console, virtio_blk"
        assert result["paravirtual features"] == "none"
        assert result["TSC"] == "2596096 kHz (kernel log: refined)"

    def test_what_was_not_told_is_not_made_up(self) -> None:
        nothing = facts(machine(), dict.fromkeys(seen("paravirtual")))
        assert (nothing["TSC"], nothing["booted on"]) == ("not told", "not told")


@pytest.mark.parametrize("text", ["", "[]", json.dumps(dict.fromkeys("ab"))[:-3]])
def test_what_is_no_description_is_an_error(text: str) -> None:
    with pytest.raises(NodeError, match=r"does not say what it has"):
        parse(text)
