# SPDX-License-Identifier: Apache-2.0
"""A benchmark says that its goal is met only where it has compared."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest
from bench import advise_held_out, barrier, node_cost, planted_size, work_share
from bench.no_second_wasted import ROWS
from bench.planted_size import Reference, Size

from tare.environments.fake import Fake
from tare.nodes.provider import Node, Provider
from tare.records import NATIVE, Clocks, Verdict
from tare.records.advice import Basis, Candidate, Predicted
from tare.statistics.estimate import Estimate
from tests.journal.journal_example import an_outcome
from tests.journal.test_journal_columns import a_run

BY_NAME = {row.name: row for row in ROWS}


@pytest.mark.parametrize("name", ["trial", "set-up"])
def test_a_goal_beside_another_checkout_is_not_met_without_one(name: str) -> None:
    assert BY_NAME[name].end(succeeded=True, compared=False) == "not compared"
    assert BY_NAME[name].end(succeeded=True, compared=True) == "met"
    assert BY_NAME[name].end(succeeded=False, compared=False) == "MISSED"


def test_what_has_no_goal_is_never_met_and_what_has_its_own_always_can_be() -> None:
    assert BY_NAME["guests' ways"].end(succeeded=True, compared=True) == "not compared"
    assert BY_NAME["show"].end(succeeded=True, compared=False) == "met"


@pytest.mark.parametrize(("predictions", "holding", "end"), [(0, 0, 1), (10, 9, 0), (10, 8, 1), (1, 1, 0)])
def test_simple_guesses_are_no_predictions_that_hold(predictions: int, holding: int, end: int) -> None:
    guess = Predicted(
        arm=Candidate(name="docker", technology="docker"),
        basis=Basis.NO_SKILL,
        n=14,
        overhead=Estimate(point=0.0, low=-0.2, high=0.2, level=0.9, n=14),
        known=(0.0, 0.1),
    )
    own = [advise_held_out.Case("mg", "docker", 0.0, guess) for _ in range(32)]
    own += [
        advise_held_out.Case(
            "ep", "docker", 0.0 if place < holding else 0.5, replace(guess, basis=Basis.RESOURCES)
        )
        for place in range(predictions)
    ]
    assert advise_held_out.end(own) == end


@pytest.mark.parametrize(
    ("seen_s", "told_s", "held"), [(0.0018, 0.0012, True), (0.0018, 0.0007, False), (0.0021, 0.0021, False)]
)
def test_a_barrier_holds_only_if_what_is_told_of_it_is_true(seen_s: float, told_s: float, held: bool) -> None:
    assert barrier.report("native", [(seen_s, told_s)] * 20) is held


def test_one_instance_is_never_apart_and_no_barrier_is_claimed_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.argv", ["barrier"])
    monkeypatch.setattr(barrier, "online_processors", lambda: (0,))
    with pytest.raises(SystemExit, match="two processors"):
        barrier.main()


def test_nodes_of_technologies_that_are_not_here_cost_nothing_that_holds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert node_cost.hold([True, None])
    assert "not compared: 1 of 2" in capsys.readouterr().out
    assert not node_cost.hold([True, None, False])
    assert not node_cost.hold([None, None])


def test_the_share_at_work_is_of_all_the_time_that_passed() -> None:
    """Of the first block nothing counts; half of each second between the others is within no trial."""
    runs = (replace(a_run(0), clocks=Clocks(wall_s=0.45, host_wall_s=0.45, round_trip_s=0.0)),)
    measured = [replace(an_outcome(), elapsed_s=0.5, instances=runs) for _ in range(3)]
    ends = [
        (float(number), replace(outcome, trial=replace(outcome.trial, block=number)))
        for number, outcome in enumerate(measured)
    ]
    assert work_share.by_cell(ends) == {"w in e": pytest.approx(0.45)}


@pytest.mark.parametrize(
    ("point", "low", "high", "words"),
    [
        (0.5, 0.49, 0.51, "within"),
        (0.56, 0.54, 0.58, "outside, but the intervals overlap"),
        (0.6, 0.58, 0.62, "OUTSIDE"),
        (0.5, None, None, "no interval"),
    ],
)
def test_a_true_size_is_within_the_interval_or_not(
    point: float, low: float | None, high: float | None, words: str
) -> None:
    """Tare's interval is 48 % to 55 %."""
    reference = Reference(operation="fork", program=("true",), operations=1)
    size = Size(Estimate(point=point, low=low, high=high, level=0.95, n=15), native_s=100e-6)
    typical = Estimate(point=0.52, low=0.48, high=0.55, level=0.95, n=8)
    verdict = cast("Verdict", SimpleNamespace(overhead=SimpleNamespace(typical=typical)))
    assert reference.said(verdict, size).endswith(f"52.0 % [48 % to 55 %]: {words}")


def test_a_true_size_is_the_ratio_of_two_programs_asked_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Natively a turn takes 10 ms and with the plant 18, whichever comes first; the first round does not count."""
    asked: list[str] = []

    @contextmanager
    def running(argv: list[str]) -> Iterator[str]:
        yield argv[0]

    @contextmanager
    def node(provider: Provider, _: object) -> Iterator[planted_size._Started]:
        named = cast("Provider", SimpleNamespace(prefix=lambda _: [provider.technology]))
        yield planted_size._Started(named, cast("Node", None))

    def turn_s(program: str, _: str) -> float:
        asked.append(program)
        return (0.01 if program == NATIVE else 0.018) * (1 if len(asked) > 2 else 50)

    monkeypatch.setattr(planted_size, "_running", running)
    monkeypatch.setattr(planted_size, "_node", node)
    monkeypatch.setattr(planted_size, "_turn_s", turn_s)
    reference = Reference(operation="fork", program=("true",), operations=100)
    size = reference.around(Fake(), {}, lambda: asked.append("measurement"))
    assert size.overhead.point == pytest.approx(0.8)
    assert size.native_s == pytest.approx(1e-4)
    assert asked.count("measurement") == 1
    assert asked[len(asked) // 2] == "measurement"
    assert asked[:6] == [NATIVE, "fake", "fake", NATIVE, NATIVE, "fake"]
