# SPDX-License-Identifier: Apache-2.0
"""Software emulation is said before its figures are read, and only where it was used."""

from dataclasses import replace

from tare.environments.qemu.accelerator import WORDS
from tare.environments.qemu.options import Accelerator
from tare.records import Outcome
from tare.report.emulation import emulated
from tests.report.report_example import example


def one(name: str, facts: dict[str, str]) -> Outcome:
    made = example().outcomes[0]
    environment = replace(made.trial.environment, name=name)
    return replace(made, trial=replace(made.trial, environment=environment), facts=facts)


def test_the_environments_that_were_emulated_are_named() -> None:
    facts = {"accelerator": WORDS[Accelerator.TCG]}
    said = emulated([one("native", {}), one("guest", facts), one("another", facts)])
    assert said is not None
    assert "another, guest" in said
    assert "native" not in said


def test_of_kvm_and_of_containers_nothing_is_said() -> None:
    assert emulated([one("native", {}), one("guest", {"accelerator": WORDS[Accelerator.KVM]})]) is None
