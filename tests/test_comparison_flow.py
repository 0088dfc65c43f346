# SPDX-License-Identifier: Apache-2.0
"""Claims, checks, rankings and papers' treatments through the whole pipeline, with fakes."""

from pathlib import Path

import pytest

from tare.commands.show import run_show
from tare.pipeline import run_campaign
from tare.records import NATIVE, Family, Word
from tests.fake_campaign import Listener, fake_campaign, fake_environment, fake_request, fake_workload

pytestmark = pytest.mark.usefixtures("fake_image")


def test_two_environments_are_judged_together_checked_ranked_and_replicated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environments = fake_environment("slow", slowdown=0.3), fake_environment("slower", slowdown=0.6)
    campaign = fake_campaign(*environments, workload=fake_workload(noise=0.005), blocks=10)
    analysis = run_campaign(fake_request(campaign, tmp_path / "result"), Listener())
    primary = [verdict for verdict in analysis.verdicts if verdict.overhead.summary.primary]
    assert [(verdict.standing.family, verdict.standing.size) for verdict in primary if verdict.standing] == [
        (Family.PRIMARY, 2)
    ] * 2
    others = {
        verdict.standing.family
        for verdict in analysis.verdicts
        if verdict.standing and verdict not in primary
    }
    assert others == {Family.EXPLORATORY}
    assert all(verdict.findings for verdict in analysis.verdicts)
    unblocked = [verdict for verdict in primary if verdict.overhead.typical.low is not None]
    assert {verdict.word for verdict in unblocked} <= {Word.SLOWER}
    (ranking,) = analysis.rankings
    assert [place.environment for place in ranking.places] == [NATIVE, "slow", "slower"]
    assert {spread.environment for spread in analysis.spreads} == {NATIVE, "slow", "slower"}
    assert [split.environment for split in analysis.variances] == ["slow", "slower"]
    assert run_show(tmp_path / "result", as_json=False, show_all=False, treatment="b16") == 0
    assert "8 of 10" in capsys.readouterr().out
