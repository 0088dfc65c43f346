# SPDX-License-Identifier: Apache-2.0
"""Software emulation and restored guests are said before figures are read, and only where they were used."""

import io
from dataclasses import replace

from rich.console import Console

from tare.environments.qemu.accelerator import WORDS
from tare.environments.qemu.options import Accelerator
from tare.environments.qemu.snapshot import FACT, RESTORED
from tare.records import Outcome
from tare.report.document import render_report
from tare.report.emulation import emulated, restored
from tare.report.machine import to_json
from tare.report.table import print_tables
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


def test_the_environments_that_were_restored_are_named_with_what_that_means() -> None:
    facts = {FACT: RESTORED}
    said = restored([one("native", {}), one("guest", facts), one("booted", {})])
    assert said is not None
    assert said.startswith("Restored from a snapshot, and not booted: guest.")
    assert restored([one("native", {}), one("booted", {})]) is None


def test_terminal_page_and_json_say_it() -> None:
    analysis = example()
    assert "Restored from" not in render_report(analysis)
    first = analysis.outcomes[0]
    changed = replace(first, facts={**first.facts, FACT: RESTORED})
    analysis = replace(analysis, outcomes=(changed, *analysis.outcomes[1:]))
    wanted = restored(analysis.outcomes)
    assert wanted is not None
    assert wanted in render_report(analysis)
    assert to_json(analysis)["restored"] == wanted
    stream = io.StringIO()
    print_tables(analysis, Console(file=stream, width=400, highlight=False))
    assert wanted in stream.getvalue()
