# SPDX-License-Identifier: Apache-2.0
"""Whole trials with their signals: everything is told or named, and a rule takes out what it was declared for."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.fake_campaign import Listener, fake_campaign, fake_environment, fake_request

import tare.measure.exclusion as rules
from tare.environments.fake import Fake
from tare.measure.campaign import measure_campaign
from tare.measure.exclusion import FOREIGN
from tare.nodes.provider import Node
from tare.pipeline import analyse_result
from tare.records import PROGRAM, Analysis, Exclude, Rule, Status
from tare.signals import FAMILIES, UNREAD

pytestmark = pytest.mark.usefixtures("fake_image")
BESIDE = {
    *("vcpu_wait_s", "steal_s", "voluntary_switches", "involuntary_switches", FOREIGN),
    *("system_call_cost_s", "clock_read_cost_s"),
}


def measured(tmp_path: Path, *, blocks: int = 1, exclude: Exclude | None = None) -> Analysis:
    campaign = replace(fake_campaign(fake_environment("slow"), blocks=blocks), exclude=exclude or Exclude())
    request = fake_request(campaign, tmp_path / "result")
    measure_campaign(request, Listener())
    return analyse_result(request.folder.path)


def test_every_signal_of_a_trial_is_told_or_missing_with_why(tmp_path: Path) -> None:
    names = {kind.name for family in FAMILIES for kind in family.kinds} | BESIDE | set(UNREAD)
    for outcome in measured(tmp_path).outcomes:
        result = {signal.name for signal in outcome.signals}
        assert result | set(outcome.missing_signals) == names
        assert not result & set(outcome.missing_signals)
        assert {"softirq_s", "involuntary_switches", "system_call_cost_s", "clock_read_cost_s"} <= result
        assert all(outcome.missing_signals.values())


class WithoutSharedObject(Fake):
    """Its stopwatch and commands cannot read a clock without a system call, and get no huge pages."""

    def __init__(self, hinder: Path) -> None:
        self._hinder = hinder

    def prefix(self, node: Node) -> list[str]:  # noqa: ARG002 - the same for every node
        return [str(self._hinder), "--no-vdso", "--no-huge-pages"]


def test_a_dear_clock_and_refused_huge_pages_show_in_the_trial(tmp_path: Path, programs: Path) -> None:
    campaign = fake_campaign(fake_environment("slow"), blocks=1)
    hindered = WithoutSharedObject(programs / "hinder")
    request = fake_request(campaign, tmp_path / "result")
    measure_campaign(replace(request, providers={"native": Fake(), "fake": hindered}), Listener())
    costs: dict[str, float] = {}
    for outcome in analyse_result(request.folder.path).outcomes:
        name = outcome.trial.environment.name
        costs[name] = next(signal.value for signal in outcome.signals if signal.name == "clock_read_cost_s")
        assert (outcome.parity.own.get("transparent huge pages") == "off") == (name == "slow")
    assert costs["slow"] > 3 * costs["native"]


def test_signals_survive_the_journal_and_reach_the_analysis(tmp_path: Path) -> None:
    (table,) = measured(tmp_path, blocks=6).signals
    assert table.environment == "slow"
    assert "host_minor_faults" in {signal_difference.name for signal_difference in table.differences}
    assert "psi_cpu_some_s" in table.missing


def test_a_disturbed_host_takes_the_block_out_and_keeps_the_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disturbed = iter([True])
    monkeypatch.setattr(rules, "_foreign_load", lambda *_: 1.0 if next(disturbed, False) else 0.0)
    analysis = measured(tmp_path, blocks=7, exclude=Exclude(foreign_load=0.5))
    (lost,) = [outcome for outcome in analysis.outcomes if outcome.status is not Status.OK]
    assert (lost.status, lost.excluded_by) == (Status.INVALID, Rule.FOREIGN_LOAD)
    assert lost.samples
    (verdict,) = [verdict for verdict in analysis.verdicts if verdict.overhead.summary.primary]
    assert lost.trial.block not in {block_value.block for block_value in verdict.overhead.summary.blocks}
    assert verdict.overhead.typical.n == 6


def test_a_campaign_whose_rule_takes_out_much_warns_on_its_verdicts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disturbed = iter([True] * 3)
    monkeypatch.setattr(rules, "_foreign_load", lambda *_: 1.0 if next(disturbed, False) else 0.0)
    analysis = measured(tmp_path, blocks=8, exclude=Exclude(foreign_load=0.5))
    assert sum(exclusions.excluded.get(Rule.FOREIGN_LOAD, 0) for exclusions in analysis.exclusions) == 3
    assert all("rules took out" in verdict.warnings[0] for verdict in analysis.verdicts)


def test_the_rules_of_a_campaign_are_kept_with_the_result(tmp_path: Path) -> None:
    measured(tmp_path, exclude=Exclude(foreign_load=0.125, temperature_c=90.0))
    kept = (tmp_path / "result" / "campaign.json").read_text()
    assert '"foreign_load": 0.125' in kept
    assert '"temperature_c": 90.0' in kept


def test_the_measured_program_is_the_same_in_every_arm(tmp_path: Path) -> None:
    analysis = measured(tmp_path)
    digests = {outcome.facts[PROGRAM] for outcome in analysis.outcomes}
    assert len(digests) == 1
    assert digests.pop().startswith("sha256:")
    assert all(verdict.warnings == () for verdict in analysis.verdicts)
