# SPDX-License-Identifier: Apache-2.0
"""The order in which whole runs really run, whatever the plan has lost by then."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import cast

import pytest
from tests.calibrate.outcomes import outcome
from tests.fake_campaign import Listener, fake_campaign, fake_environment

from tare.measure import session
from tare.measure.context import Context
from tare.measure.session import Allowance, run_trials
from tare.plan.succession import arm_of
from tare.plan.trials import cells_of, plan_trials
from tare.records import Outcome, Trial, Turns, Way, Workload

ENVIRONMENTS = [fake_environment(name) for name in ("first", "second", "stops")]
WHOLE = Workload(name="whole", kind="fake")
BLOCKS = 400


def run(
    monkeypatch: pytest.MonkeyPatch,
    trials: Sequence[Trial],
    is_wanted: Callable[[Trial], bool],
    ran: list[Trial] | None = None,
) -> list[Trial]:
    """What runs and counts, in order; resident programs take their turns. ``ran`` gets all whole runs."""

    def alone(_: Context, trial: Trial, remaining_s: float) -> Outcome:
        assert remaining_s > 0
        if ran is not None:
            ran.append(trial)
        return replace(outcome(trial.environment.name, trial.block), trial=trial)

    def by_turns(_: Context, unit: Sequence[Trial], *__: object) -> list[Outcome] | None:
        if not unit or unit[0].turns is None:
            return None
        return [replace(outcome(trial.environment.name, trial.block), trial=trial) for trial in unit]

    done: list[Trial] = []
    monkeypatch.setattr(session, "run_within", alone)
    monkeypatch.setattr(session, "_by_turns", by_turns)
    allowance = Allowance(may_begin=lambda _: True, remaining_s=lambda: 1.0, is_wanted=is_wanted)
    cut = run_trials(
        cast("Context", None), trials, lambda each: done.append(each.trial), allowance, Listener()
    )
    assert not cut
    return done


def test_a_whole_plan_runs_in_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = plan_trials(fake_campaign(*ENVIRONMENTS, workload=WHOLE, blocks=5), 1)
    assert run(monkeypatch, trials, lambda _: True) == list(trials)


def test_after_an_arm_has_stopped_every_arm_still_follows_every_arm_equally_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trials = plan_trials(fake_campaign(*ENVIRONMENTS, workload=WHOLE, blocks=BLOCKS), 1)
    done = run(monkeypatch, trials, lambda trial: trial.block < 6 or trial.environment.name != "stops")
    cells = list(cells_of(done))
    assert all(arm_of(before[-1]) == arm_of(after[0]) for before, after in pairwise(cells))
    followed = Counter(pairwise(map(arm_of, done[6 * 5 :])))
    expected = BLOCKS / 4
    assert len(followed) == 4**2
    assert all(abs(count - expected) < 4 * expected**0.5 for count in followed.values())


def mixed(blocks: int) -> tuple[Trial, ...]:
    slices = Workload(name="slices", kind="fake", way=Way.SLICES)
    asked = fake_campaign(*ENVIRONMENTS, blocks=blocks)
    return plan_trials(replace(asked, workloads=(slices, WHOLE), turns=Turns()), 1)


def test_after_turns_a_cell_begins_as_planned_led_in_by_a_run_that_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The nodes of all arms were up together, so there is no arm to begin with."""
    left = [trial for trial in mixed(6) if trial.environment.name != "stops"]
    ran: list[Trial] = []
    done = run(monkeypatch, left, lambda _: True, ran)
    cells = list(cells_of(done))
    after_turns = [
        after for before, after in pairwise(cells) if before[0].turns is not None and after[0].turns is None
    ]
    assert len(after_turns) == 3
    assert all(trial in left for cell in after_turns for trial in cell)
    twice = [before for before, after in pairwise(ran) if before == after]
    assert twice == [cell[0] for cell in after_turns]
    assert len(ran) == len([trial for trial in done if trial.turns is None]) + 3


def test_beside_turns_too_every_arm_follows_every_arm_equally_often(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[Trial] = []
    run(monkeypatch, mixed(BLOCKS), lambda _: True, ran)
    followed = Counter(pairwise(map(arm_of, ran)))
    arms, runs = len(ENVIRONMENTS) + 2, BLOCKS * (len(ENVIRONMENTS) + 2)
    followed -= Counter((arm_of(before), arm_of(after)) for before, after in _gaps(ran))
    assert sum(followed.values()) == runs
    assert all(abs(count - runs / arms**2) < 5 * (runs / arms**2) ** 0.5 for count in followed.values())


def _gaps(ran: Sequence[Trial]) -> list[tuple[Trial, Trial]]:
    """What ended before turns, and the run that leads in after them."""
    leading = [place for place, (trial, after) in enumerate(pairwise(ran)) if trial == after]
    return [(ran[place - 1], ran[place]) for place in leading if place]
