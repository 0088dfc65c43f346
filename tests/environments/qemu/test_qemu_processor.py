# SPDX-License-Identifier: Apache-2.0
"""What a guest's processor lacks is known before any guest starts: from answers of QEMU 7.2, and from QEMU itself."""

import json
import shutil

import pytest

from tare.environments.libvirt.own import OwnLibvirtDomains
from tare.environments.qemu import Qemu, processor
from tare.environments.qemu.command import PROGRAM
from tare.environments.qemu.options import Accelerator, QemuOptions
from tare.environments.qemu.processor import lacking, lacking_flags, machine_words, questions
from tare.errors import NodeError
from tare.records import OptionValue

ASKED = frozenset({"avx2", "avx512f", "nonsense", "sse4_2"})
SAID = """\
{"QMP": {"version": {"qemu": {"micro": 22, "minor": 2, "major": 7}, "package": "Debian"}, "capabilities": ["oob"]}}
{"return": {}}
{"return": "Skylake-Server-x86_64-cpu", "id": "type"}
{"return": false, "id": "avx2"}
{"return": false, "id": "avx512f"}
{"id": "nonsense", "error": {"class": "GenericError", "desc": "Property 'x86_64-cpu.nonsense' not found"}}
{"return": true, "id": "sse4_2"}
{"timestamp": {"seconds": 1, "microseconds": 2}, "event": "SHUTDOWN", "data": {"guest": false}}
{"return": {}}
"""
WITH_QEMU = pytest.mark.skipif(shutil.which(PROGRAM) is None, reason="needs apt-get install qemu-system-x86")


def asked_of_qemu(**options: OptionValue) -> frozenset[str]:
    flags = frozenset({"avx", "avx2", "avx512f", "pni", "sse4_1", "sse4_2"})
    return lacking_flags(QemuOptions.of(options), Accelerator.TCG, flags)


def test_what_is_false_or_unknown_is_lacking() -> None:
    assert lacking(SAID, ASKED) == {"avx2", "avx512f", "nonsense"}


@pytest.mark.parametrize(
    "said",
    [
        "",
        SAID.partition('{"return": false, "id": "avx512f"}')[0],
        SAID.replace("Skylake-Server-x86_64-cpu", "q35-pcihost"),
        SAID.replace('{"return": "Skylake-Server-x86_64-cpu", "id": "type"}', "{"),
    ],
    ids=["nothing", "cut", "another device", "torn"],
)
def test_an_answer_that_is_none_is_refused_and_not_taken_for_lacking_flags(said: str) -> None:
    with pytest.raises(NodeError, match="does not report what its processor has"):
        lacking(said, ASKED)


def test_all_is_asked_before_qemu_is_told_to_end() -> None:
    spoken = [json.loads(line) for line in questions(ASKED).splitlines()]
    assert [entry["execute"] for entry in spoken] == ["qmp_capabilities", *["qom-get"] * 5, "quit"]
    assert {entry["arguments"]["property"] for entry in spoken[1:-1]} == {
        *("type", "avx2", "avx512f", "nonsense", "sse4.2")
    }


def test_the_processor_is_the_one_that_the_guest_gets() -> None:
    words = machine_words(QemuOptions.of({"devices": "emulated"}), Accelerator.TCG)
    assert words[words.index("-cpu") + 1] == "max,-hypervisor"
    assert words[words.index("-machine") + 1] == "pc"
    assert "-S" in words


@WITH_QEMU
def test_a_model_without_avx_lacks_it() -> None:
    assert asked_of_qemu(cpu="qemu64") >= {"avx", "avx2", "avx512f"}
    assert "pni" not in asked_of_qemu(cpu="qemu64")


@WITH_QEMU
def test_what_is_switched_off_is_lacking_and_nothing_else() -> None:
    assert asked_of_qemu(cpu="max,-sse4.2") - asked_of_qemu(cpu="max") == {"sse4_2"}


@WITH_QEMU
def test_what_the_model_has_and_software_emulation_cannot_give_is_lacking() -> None:
    assert "avx512f" in asked_of_qemu(cpu="Skylake-Server")
    assert "sse4_1" not in asked_of_qemu(cpu="Skylake-Server")


@WITH_QEMU
def test_an_unknown_model_is_told_in_qemus_words() -> None:
    with pytest.raises(NodeError, match="unable to find CPU model 'nonsense'"):
        asked_of_qemu(cpu="nonsense")


@pytest.mark.usefixtures("guest_state")
def test_the_provider_asks_for_its_own_options(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str | None, Accelerator]] = []

    def told(options: QemuOptions, accelerator: Accelerator, flags: frozenset[str]) -> frozenset[str]:
        seen.append((options.cpu, accelerator))
        return flags

    monkeypatch.setattr(processor, "lacking_flags", told)
    provider = Qemu().configured({"accelerator": "tcg", "cpu": "qemu64"})
    assert provider.lacking_flags({"avx2"}) == {"avx2"}
    assert seen == [("qemu64", Accelerator.TCG)]


@pytest.mark.usefixtures("guest_state")
def test_libvirts_own_domains_have_the_processor_of_the_same_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "lacking_flags", lambda options, *_: frozenset({str(options.devices)}))
    options = {"connection": "qemu:///session", "accelerator": "tcg", "devices": "emulated"}
    assert OwnLibvirtDomains(options).lacking_flags({"avx2"}) == {"emulated"}
