# SPDX-License-Identifier: Apache-2.0
"""Factors in whole campaigns with fakes: what grows with a level is found, what does not is not claimed."""

from dataclasses import replace
from pathlib import Path

import pytest

from tare.pipeline import run_campaign
from tare.plan.campaign import Campaign
from tare.plan.factors import Factor, Of
from tare.plan.trials import plan_trials
from tare.records import Analysis, DependenceWord, Dimension, Level
from tests.fake_campaign import Listener, fake_campaign, fake_environment, fake_request, fake_workload

pytestmark = pytest.mark.usefixtures("fake_image")
SLOWDOWN = Factor(
    key="slowdown",
    of=Of.ENVIRONMENT,
    levels=tuple(Level(key="slowdown", text=text, number=float(text)) for text in ("0.02", "0.1", "0.3")),
    values=(0.02, 0.1, 0.3),
    names=("grows",),
)
MEMORY = Factor(
    key="memory",
    of=Of.LIMIT,
    levels=tuple(
        Level(key="memory", text=f"{size} MiB", number=float(size << 20), unit="B") for size in (128, 256)
    ),
    values=(128 << 20, 256 << 20),
)
BEHAVIOUR = Factor(
    key="sleep_s",
    of=Of.WORKLOAD,
    levels=(Level(key="sleep_s", text="short"), Level(key="sleep_s", text="long")),
    values=(0.0, 0.01),
    names=("work",),
)


def campaign(*factors: Factor, noise: float = 0.005) -> Campaign:
    return replace(
        fake_campaign(
            fake_environment("grows", slowdown=0.1),
            fake_environment("steady", slowdown=0.1),
            workload=fake_workload(noise=noise, seed=None) if False else fake_workload(noise=noise),
        ),
        factors=factors,
    )


def run(tmp_path: Path, asked: Campaign) -> Analysis:
    return run_campaign(fake_request(asked, tmp_path / "result"), Listener())


def test_an_overhead_that_grows_with_a_level_is_found_and_no_other_is_claimed(tmp_path: Path) -> None:
    analysis = run(tmp_path, campaign(SLOWDOWN))
    (grows,) = (each for each in analysis.dependences if each.primary)
    print([d.sentence for d in analysis.dependences])
    assert grows.word is DependenceWord.DEPENDS
    assert grows.environment == "grows"
