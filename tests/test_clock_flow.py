# SPDX-License-Identifier: Apache-2.0
"""From a wrong clock in a node to what the user reads: the whole flow with fakes, seconds."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from tare.environments.fake import Fake
from tare.pipeline import run_campaign
from tare.records import Analysis, Status
from tare.report.machine import to_json
from tare.report.table import print_tables
from tests.fake_campaign import Listener, fake_campaign, fake_environment, fake_request


@pytest.fixture
def analysis(tmp_path: Path, fake_image: object) -> Analysis:  # noqa: ARG001 - the campaign finds the image
    environments = [fake_environment("own", clock="honest"), fake_environment("fast", clock="fast 3%")]
    return run_campaign(fake_request(fake_campaign(*environments), tmp_path / "result"), Listener())


def test_a_clock_three_percent_fast_costs_the_programs_figures_and_nothing_else(analysis: Analysis) -> None:
    judged = {
        (verdict.overhead.summary.environment, verdict.overhead.summary.metric): verdict.overhead.typical.n
        for verdict in analysis.verdicts
    }
    assert judged == {("own", "time_s"): 6, ("own", "wall_s"): 6, ("fast", "wall_s"): 6}
    assert {outcome.status for outcome in analysis.outcomes} == {Status.OK}
    flagged = [outcome.trial.environment.name for outcome in analysis.outcomes if outcome.clock_fault]
    assert flagged == ["fast"] * 6

    stream = io.StringIO()
    print_tables(analysis, Console(file=stream, width=100, highlight=False))
    text = " ".join(stream.getvalue().split())
    assert "fast: work on 1c1p1i: no verdict: 6 of 6 trials timed by the host" in text
    assert [entry["environment"] for entry in to_json(analysis)["clock_faults"]] == ["fast"] * 6


@pytest.mark.parametrize("clock", ["fast", "fast 3", "3% fast", "step 50", "stop", "fast x%", ""])
def test_a_clock_that_nobody_can_plant_is_refused(clock: str) -> None:
    assert set(Fake().check_options({"clock": clock})) == {"clock"}
    assert Fake().check_options({"clock": "slow 0.5%"}) == {}
    assert Fake().check_options({}) == {}
