# SPDX-License-Identifier: Apache-2.0
"""What must be known beside a verdict stands on every verdict that it concerns, and on no other."""

import pytest
from tests.analyze.verdict_example import around, verdict_of

from tare.analyze import with_warnings
from tare.records import BLAS, PROGRAM, Cell, Exclusions, Rule, Unlike

CELL = Cell(workload="work", layout="1c1p1i")
OTHER = Cell(workload="other", layout="1c1p1i")
DOCKER = verdict_of(around(0.05, 0.01), "docker")
LXC = verdict_of(around(0.0, 0.01), "lxc")


def exclusions(count: int, environment: str = "native", cell: Cell = CELL) -> Exclusions:
    rules = {Rule.FOREIGN_LOAD: count} if count else {}
    return Exclusions(cell=cell, environment=environment, trials=20, excluded=rules)


def unlike(fact: str) -> Unlike:
    return Unlike(cell=CELL, environment="docker", fact=fact, native="a", here="b")


@pytest.mark.parametrize(("count", "warned"), [(0, False), (2, False), (3, True), (20, True)])
def test_more_than_a_tenth_taken_out_is_a_warning(count: int, warned: bool) -> None:
    (verdict,) = with_warnings([DOCKER], [exclusions(count)], [])
    assert bool(verdict.warnings) is warned


def test_one_arms_losses_concern_every_verdict_of_the_cell() -> None:
    docker, lxc = with_warnings([DOCKER, LXC], [exclusions(5, "lxc")], [])
    assert docker.warnings == lxc.warnings == ("rules took out 5 of 20 trials of lxc (5 for foreign load)",)


def test_another_cells_losses_do_not() -> None:
    (verdict,) = with_warnings([DOCKER], [exclusions(20, cell=OTHER)], [])
    assert verdict.warnings == ()


@pytest.mark.parametrize(("fact", "said"), [(PROGRAM, "binary differs"), (BLAS, "BLAS kernel differs")])
def test_another_program_concerns_its_own_environment_alone(fact: str, said: str) -> None:
    docker, lxc = with_warnings([DOCKER, LXC], [], [unlike(fact)])
    assert docker.warnings == (f"{said}: b in docker, a natively",)
    assert lxc.warnings == ()


def test_a_verdicts_words_are_not_changed_by_a_warning() -> None:
    (verdict,) = with_warnings([DOCKER], [exclusions(20)], [unlike(PROGRAM)])
    assert (verdict.word, verdict.sentence, verdict.overhead) == (
        DOCKER.word,
        DOCKER.sentence,
        DOCKER.overhead,
    )
