# SPDX-License-Identifier: Apache-2.0
"""Factors in a whole campaign with fakes: what grows with a level is found, what does not is not claimed."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tare.analyze import compare_results
from tare.pipeline import run_campaign
from tare.plan.campaign import load_campaign
from tare.records import NATIVE, DependenceWord, Dimension, Status, Word
from tests.fake_campaign import Listener, fake_request

pytestmark = pytest.mark.usefixtures("fake_image")
FILE = """\
name = "varied"
seed = 1
blocks = 6

[limits]
memory = "256 MiB"

[[environment]]
technology = "fake"
name = "grows"
slowdown = 0.1

[[workload]]
name = "fake"
noise = 0.0

[[factor]]
key = "slowdown"
levels = [0.02, 0.2]

[[factor]]
key = "value"
levels = [1.0, 2.0]
"""


def test_what_grows_with_a_level_is_found_and_what_does_not_is_not_claimed(tmp_path: Path) -> None:
    (tmp_path / "varied.toml").write_text(FILE)
    campaign = load_campaign(tmp_path / "varied.toml", host_processors=1, host_memory_byte=1 << 31)
    request = fake_request(campaign, tmp_path / "result")
    analysis = run_campaign(request, Listener())
    runs = Counter((each.trial.setting, each.trial.environment.name) for each in analysis.outcomes)
    assert len(runs) == 8
    assert {count for (_, name), count in runs.items() if name == NATIVE} == {12}
    assert {outcome.status for outcome in analysis.outcomes} == {Status.OK}

    slowdown, value = (each for each in analysis.dependences if each.primary)
    assert slowdown.word is DependenceWord.DEPENDS
    assert slowdown.claim.startswith("costs more with more slowdown: ")
    assert value.word is DependenceWord.NOT_SHOWN
    primary = [verdict for verdict in analysis.verdicts if verdict.overhead.summary.primary]
    assert {verdict.standing.size for verdict in primary if verdict.standing} == {4}
    assert {
        verdict.word for verdict in primary if "slowdown=0.2" in verdict.overhead.summary.cell.layout
    } == {Word.SLOWER}

    native, surface = (each.curve for each in analysis.curves)
    assert (native.environment, surface.cell.layout) == (NATIVE, "1c1p1i")
    assert surface.dimensions == (Dimension("slowdown", None), Dimension("value", None))
    assert [point.at for point in surface.points] == [(0.02, 1.0), (0.02, 2.0), (0.2, 1.0), (0.2, 2.0)]

    reordered = replace(analysis, outcomes=analysis.outcomes[::-1])
    both = compare_results((analysis, reordered))
    assert (both.incomparable, both.differences) == ((), ())

    again = run_campaign(replace(request), Listener())
    assert again.dependences == analysis.dependences
    assert len(again.outcomes) == len(analysis.outcomes)
