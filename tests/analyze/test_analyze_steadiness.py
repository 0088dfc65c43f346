# SPDX-License-Identifier: Apache-2.0
"""Courses of iterations, told from noise, and what follows where no steady state is reached."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.report.report_example import example

from tare.analyze import steadiness, without_steady_claims
from tare.analyze.steadiness import course
from tare.records import Cell, IterationCourse, IterationSeries, Steadiness, Word

Values = NDArray[np.float64]


def series(chance: np.random.Generator, count: int, noise: float = 0.01) -> Values:
    return chance.normal(0.0, noise, count)


def share(made: Callable[[np.random.Generator], Values], wanted: IterationCourse, tries: int = 200) -> float:
    chance = np.random.default_rng(7)
    return sum(course(list(made(chance))) is wanted for _ in range(tries)) / tries


@pytest.mark.parametrize("count", [8, 10, 20, 50, 200])
def test_flat_series_are_called_flat(count: int) -> None:
    assert share(lambda chance: series(chance, count, 0.03), IterationCourse.FLAT) >= 0.95


@pytest.mark.parametrize("count", [8, 10, 20, 50, 200])
def test_a_warm_up_is_found(count: int) -> None:
    def made(chance: np.random.Generator) -> Values:
        values = series(chance, count)
        values[: max(1, count // 5)] += 0.1
        return values

    assert share(made, IterationCourse.WARM_UP) >= 0.8


def test_a_slowdown_is_found() -> None:
    def made(chance: np.random.Generator) -> Values:
        values = series(chance, 30)
        values[10:] += 0.1
        return values

    assert share(made, IterationCourse.SLOWDOWN) >= 0.95


def test_a_level_that_begins_in_the_last_quarter_is_no_steady_state() -> None:
    def made(chance: np.random.Generator) -> Values:
        values = series(chance, 40)
        values[34:] += 0.1
        return values

    assert share(made, IterationCourse.UNSTEADY) >= 0.95


def test_a_single_spike_is_no_level() -> None:
    def made(chance: np.random.Generator) -> Values:
        values = series(chance, 30)
        values[chance.integers(5, 28)] += 0.3
        return values

    assert share(made, IterationCourse.FLAT) >= 0.9


def test_changes_of_less_than_half_a_percent_are_none() -> None:
    assert course([0.0] * 10 + [0.004] * 10) is IterationCourse.FLAT


def test_with_few_iterations_nothing_is_said() -> None:
    assert course([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]) is IterationCourse.SHORT


def test_courses_are_counted_by_environment() -> None:
    cell = Cell(workload="work", layout="1c1p1i")
    iteration_series = IterationSeries(
        cell=cell, environment="box", metric="time_s", starts=((0.0,) * 9, (0.5,) + (0.0,) * 8, (0.0,) * 9)
    )
    none = IterationSeries(cell=cell, environment="other", metric="time_s", starts=())
    (value,) = steadiness([iteration_series, none])
    assert value.counts == {IterationCourse.FLAT: 2, IterationCourse.WARM_UP: 1}
    assert (value.iterations, value.starts) == (9, 3)


def counted(environment: str, unsteady: int) -> Steadiness:
    return Steadiness(
        cell=example(blocks=6).verdicts[0].overhead.summary.cell,
        environment=environment,
        metric="hpl_flop_per_s",
        iterations=20,
        counts={IterationCourse.UNSTEADY: unsteady, IterationCourse.FLAT: 20 - unsteady},
    )


def test_where_too_many_starts_are_unsteady_no_steady_claim_is_made() -> None:
    judged = example(blocks=6).verdicts
    for verdict in without_steady_claims(judged, [counted("docker", 3)]):
        concerned = verdict.overhead.summary.environment == "docker"
        assert concerned == ("reached no steady state" in verdict.sentence)
        assert not concerned or (verdict.word, verdict.overhead.typical.low) == (Word.UNDECIDED, None)


def test_native_without_a_steady_state_concerns_every_environment() -> None:
    judged = without_steady_claims(example(blocks=6).verdicts, [counted("native", 20)])
    assert {verdict.word for verdict in judged} == {Word.UNDECIDED}


def test_one_unsteady_start_in_ten_changes_nothing() -> None:
    judged = example(blocks=6).verdicts
    assert without_steady_claims(judged, [counted("docker", 2)]) == judged
