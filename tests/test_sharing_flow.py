# SPDX-License-Identifier: Apache-2.0
"""A sharing experiment from its campaign file to its report, with fakes: no root, no containers, seconds."""

from dataclasses import replace
from pathlib import Path

import pytest

from tare.environments.fake import Fake
from tare.journal.result import ResultFolder
from tare.measure.campaign import Request
from tare.nodes.provider import Node, NodeSpec
from tare.pipeline import run_campaign
from tare.plan.campaign import load_campaign
from tare.records import NATIVE, Analysis, SharingLoss, Status, Trial, Word
from tare.report.document import render_report
from tests.fake_campaign import Listener

CAMPAIGN = """\
name = "shared"
blocks = 6
seed = 1

[limits]
memory = "256 MiB"
shm = "1 MiB"
time = "20s"

[[environment]]
technology = "fake"

[[workload]]
kind = "fake"
name = "work"
noise = 0.002
sleep_s = 0.001

[[workload]]
kind = "command"
name = "noise"
argv = ["/bin/sleep", "0.01"]
measure = false

[[sharing]]
alone = "1c1p1i"
together = ["1c2p2i", "2c1p2i"]
neighbour = { workload = "noise" }

[[sharing]]
alone = "1c2p2i"
together = ["2c2p4i"]
"""
SETTINGS = {"1c2p2i", "2c1p2i", "1c1p1i+1xnoise"}
GROUPS = "2c2p4i"
"""Slower than an instance alone, and as fast as one of its groups alone."""

pytestmark = pytest.mark.usefixtures("fake_image")


class SharingFake(Fake):
    """Slower whenever the trial has company, of which a provider knows nothing: the listener tells it."""

    def __init__(self, loss: float) -> None:
        self._loss = loss
        self.company = False

    def start(self, spec: NodeSpec) -> Node:
        slowdown = self._loss if self.company else 0.0
        return replace(super().start(spec), variables={"TARE_FAKE_SLOWDOWN": str(slowdown)})


class Teller(Listener):
    def __init__(self, *providers: SharingFake) -> None:
        super().__init__()
        self._providers = providers

    def begins(self, trial: Trial) -> None:
        for provider in self._providers:
            provider.company = trial.layout.instances > 1 or trial.neighbour is not None


@pytest.fixture
def analysis(tmp_path: Path) -> Analysis:
    native, fake = SharingFake(0.04), SharingFake(0.10)
    path = tmp_path / "campaign.toml"
    path.write_text(CAMPAIGN)
    campaign = load_campaign(path, host_processors=2, host_memory_byte=1 << 32)
    request = Request(
        campaign=campaign,
        folder=ResultFolder(tmp_path / "result"),
        providers={"native": native, "fake": fake},
    )
    return run_campaign(request, Teller(native, fake))


def primary(analysis: Analysis) -> dict[tuple[str, str], SharingLoss]:
    return {
        (loss.summary.cells.shared.layout, loss.summary.environment): loss
        for loss in analysis.sharing
        if loss.summary.primary
    }


def test_planted_losses_are_found_in_every_setting_and_beyond_natives_and_reported(
    analysis: Analysis,
) -> None:
    assert {(outcome.trial.workload.name, outcome.status) for outcome in analysis.outcomes} == {
        ("work", Status.OK)
    }
    sharing_loss = primary(analysis)
    both = (NATIVE, "fake")
    groups = [sharing_loss.pop((GROUPS, name)) for name in both]
    assert set(sharing_loss) == {(setting, name) for setting in SETTINGS for name in both}
    for loss in groups:
        assert loss.summary.cells.alone.layout == "1c2p2i"
        assert loss.typical.point == pytest.approx(0.0, abs=0.01)
        assert (len(loss.each), loss.alone) == (4, Word.WITHIN)
    for (setting, name), loss in sharing_loss.items():
        assert loss.typical.point == pytest.approx(0.04 if name == NATIVE else 0.10, abs=0.01)
        assert (loss.typical.n, loss.alone) == (6, Word.SLOWER)
        assert loss.standing.size == 8
        assert len(loss.each) == (1 if "+" in setting else 2)
        assert len(loss.summary.skews_s) == (0 if "+" in setting else 12 if name == NATIVE else 6)
        if name != NATIVE:
            assert loss.beyond_native is not None
            assert loss.beyond_native.point == pytest.approx(1.10 / 1.04 - 1, abs=0.01)
    html = render_report(analysis)
    assert 'id="sharing"' in html
    assert "2 groups of 2 instances" in html
    assert all(setting in html for setting in SETTINGS)
