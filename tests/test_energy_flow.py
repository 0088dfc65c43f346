# SPDX-License-Identifier: Apache-2.0
"""Energy from its counters to the report, with fakes: a metric of its own, and never the answer."""

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tare.host.energy import PACKAGE
from tare.pipeline import run_campaign
from tare.records import Analysis, Turns, Way, Workload
from tare.report.brief import print_brief
from tare.signals import FAMILIES
from tare.signals.family import TextSource
from tare.signals.hardware import Energy, WrappingCounter
from tare.signals.place import Place
from tests.fake_campaign import Listener, fake_campaign, fake_request


class Growing(TextSource):
    """Two joules more at each reading."""

    def __init__(self) -> None:
        self._count_uj = 0

    def read(self) -> bytes:
        self._count_uj += 2_000_000
        return b"%d" % self._count_uj


class Counter(WrappingCounter):
    def __init__(self) -> None:
        super().__init__("", 1 << 60)
        self._file = Growing()


class Counted(Energy):
    def sources(self, place: Place) -> Sequence[TextSource]:  # noqa: ARG002 - as everywhere
        return [Counter()]


def count_with(energy: Energy, monkeypatch: pytest.MonkeyPatch) -> None:
    families = [energy if family.kinds == energy.kinds else family for family in FAMILIES]
    monkeypatch.setattr("tare.measure.observation.FAMILIES", families)


def analysed(folder: Path) -> Analysis:
    return run_campaign(fake_request(fake_campaign(), folder / "result"), Listener())


@pytest.mark.usefixtures("fake_image")
def test_energy_has_a_verdict_of_its_own_and_no_word_in_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count_with(Counted(PACKAGE), monkeypatch)
    analysis = analysed(tmp_path)
    verdicts = {verdict.overhead.summary.metric: verdict for verdict in analysis.verdicts}
    energy = verdicts["energy_j"].overhead
    assert not energy.summary.primary
    assert energy.typical.n == 6
    assert energy.typical.point == pytest.approx(0.0)
    stream = io.StringIO()
    print_brief(analysis, Path("report.html"), Console(file=stream, width=80))
    assert "energy_j" not in stream.getvalue()


@pytest.mark.usefixtures("fake_image")
def test_a_host_that_counts_none_has_no_such_metric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count_with(Energy(PACKAGE, tmp_path), monkeypatch)
    analysis = analysed(tmp_path)
    assert "energy_j" not in {verdict.overhead.summary.metric for verdict in analysis.verdicts}
    assert {outcome.missing_signals["energy_j"] for outcome in analysis.outcomes} == {
        "this host counts no energy (no RAPL)"
    }


@pytest.mark.usefixtures("fake_image")
def test_where_arms_take_turns_only_an_arms_own_rounds_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the search for the work of a slice, natively, nor what is between the turns."""
    count_with(Counted(PACKAGE), monkeypatch)
    work = Workload(name="work", kind="fake", options={"slices": True}, way=Way.SLICES)
    campaign = replace(fake_campaign(workload=work, blocks=1), turns=Turns(rounds=5, processes=2))
    analysis = run_campaign(fake_request(campaign, tmp_path / "result"), Listener())
    energies = [
        sample.value
        for outcome in analysis.outcomes
        for sample in outcome.samples
        if sample.name == "energy_j"
    ]
    assert energies == [pytest.approx(2.0 * 5 * 2)] * 3
