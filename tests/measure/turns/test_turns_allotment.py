# SPDX-License-Identifier: Apache-2.0
"""Noisier pieces get more rounds, by what native shows alone."""

import random
from dataclasses import replace

from tests.measure.turns.test_turns_together import campaign_of, resident
from tests.plan.plan_example import outcome

from tare.measure.turns.allotment import FEWEST_ROUNDS, Allotment
from tare.plan.trials import plan_trials
from tare.records import NATIVE, Direction, Outcome, Sample, TurnsTaken, Way, Workload

QUIET, NOISY = (Workload(name=name, kind=name, way=Way.SLICES) for name in ("compute", "os"))
METRICS = {"compute": ("compute",), "os": ("system calls", "process start")}


def outcomes(noise: dict[str, float], environment: str = NATIVE) -> list[Outcome]:
    source = random.Random(3)  # noqa: S311
    trials = plan_trials(campaign_of(QUIET, NOISY, blocks=1), 1)
    return [
        replace(
            outcome(trial, 1.0),
            samples=tuple(
                Sample(
                    name=metric,
                    value=1.0 + noise[metric] * source.random(),
                    unit="s",
                    direction=Direction.LESS,
                    instance=0,
                    round=number,
                    process=0,
                )
                for metric in METRICS[trial.workload.name]
                for number in range(40)
            ),
            turns=TurnsTaken(way=Way.SLICES, together="a", arms=3, turns=40, counts={"piece": 1}),
        )
        for trial in trials
        if (trial.environment.name == NATIVE) == (environment == NATIVE)
    ]


NOISE = {"compute": 0.3, "system calls": 0.1, "process start": 0.01}


def test_before_anything_is_known_all_pieces_have_as_many_rounds() -> None:
    assert Allotment().rounds("compute", 12) == 12


def test_a_noisier_piece_has_more_rounds_and_none_has_fewer_than_three() -> None:
    allotment = Allotment()
    allotment.learn(outcomes(NOISE))
    rounds = {metric: allotment.rounds(metric, 12) for metric in NOISE}
    assert rounds["compute"] > rounds["system calls"] > rounds["process start"] >= FEWEST_ROUNDS


def test_what_an_environment_does_changes_nothing() -> None:
    allotment, other = Allotment(), Allotment()
    allotment.learn(outcomes(NOISE))
    other.learn(outcomes(NOISE))
    other.learn(outcomes({"compute": 5.0, "system calls": 5.0, "process start": 5.0}, "slow"))
    assert [allotment.rounds("compute", 12) for allotment in (allotment, other)] == [
        allotment.rounds("compute", 12)
    ] * 2


def test_a_continued_result_shares_out_as_it_did() -> None:
    whole, halves = Allotment(), Allotment()
    made = outcomes(NOISE)
    whole.learn(made)
    for each in made:
        halves.learn([each])
    assert whole.rounds("os", 9) == halves.rounds("os", 9)
    assert whole.rounds("system calls", 9) == halves.rounds("system calls", 9)


def test_a_failed_native_teaches_nothing() -> None:
    allotment = Allotment()
    allotment.learn([replace(outcome, turns=None) for outcome in outcomes(NOISE)])
    assert allotment.rounds("compute", 12) == 12
    assert resident().way is Way.SLICES
