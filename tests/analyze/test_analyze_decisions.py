# SPDX-License-Identifier: Apache-2.0
"""``--fail-if``: what is decided, at which look, and how often wrongly."""

import math

import pytest
from tests.analyze.looks_example import CELL, noisy_summary, summary_of
from tests.analyze.test_analyze_looks import CAMPAIGNS, noisy

from tare.analyze import courses, decisions
from tare.records import Course, Decision, Design, FailIf, Ruling, Skipped, Stop, Summary

LOOKS = (10, 16, 24, 32)
TWO_PERCENT = FailIf(text="overhead > 2%", threshold=0.02)
ARM = (CELL, "docker")


def design(*conditions: FailIf, looks: tuple[int, ...] = LOOKS) -> Design:
    return Design(looks=looks, margin=0.01, fail_if=conditions or (TWO_PERCENT,))


def asked(summary: Summary, asked_for: Design, done: int = 32) -> tuple[Course, Decision]:
    result = courses([summary], {ARM: done}, asked_for, ended=False)
    (decision,) = decisions([summary], result, asked_for)
    return result[ARM], decision


@pytest.mark.parametrize(
    ("effect", "ruling", "words"),
    [
        (0.2, Ruling.EXCEEDED, "docker (wall_s of work on 1c1p1i): the overhead exceeds 2 %: +"),
        (0.0, Ruling.KEPT, "docker (wall_s of work on 1c1p1i): the overhead does not exceed 2 %: "),
    ],
)
def test_what_is_clear_is_decided_at_the_first_look(effect: float, ruling: Ruling, words: str) -> None:
    course, decision = asked(summary_of(noisy(1, 0.005, effect)), design())
    assert (course.looks, course.stop) == ((10,), Stop.DECIDED)
    assert decision.ruling is ruling
    assert decision.sentence.startswith(words)
    assert decision.interval is not None
    assert decision.interval.n == 10


def test_an_arm_that_is_asked_for_stops_for_nothing_else() -> None:
    around = [math.log1p(0.02) + sign * 0.001 * part for part in range(1, 17) for sign in (1, -1)]
    course, decision = asked(summary_of(around), design())
    assert (course.looks, course.stop) == (LOOKS, Stop.OUT_OF_BLOCKS)
    assert decision.ruling is Ruling.UNDECIDED
    assert "more blocks" in decision.sentence


def test_what_is_asked_of_another_environment_leaves_this_one_to_the_usual_rules() -> None:
    other = FailIf(text="lxc overhead > 2%", threshold=0.02, environment="lxc")
    summary = summary_of(noisy(1, 0.002))
    result = courses([summary], {ARM: 32}, design(other), ended=False)
    assert result[ARM].stop is Stop.EQUIVALENT
    assert decisions([summary], result, design(other)) == ()


def test_the_first_look_that_decides_decides_for_good() -> None:
    first = [0.2 + 0.001 * number for number in range(10)]
    slow, never = FailIf(text="a", threshold=0.02), FailIf(text="b", threshold=0.02, metric="absent")
    summary = summary_of([*first, *(-0.5 for _ in range(22))])
    result = courses([summary], {ARM: 32}, design(slow, never), ended=False)
    assert result[ARM].looks == LOOKS
    ruled = {
        decision.condition.text: decision.ruling
        for decision in decisions([summary], result, design(slow, never))
    }
    assert ruled == {"a": Ruling.EXCEEDED, "b": Ruling.UNDECIDED}


def test_a_named_metric_is_asked_instead_of_the_primary_one() -> None:
    condition = FailIf(text="cpu_s overhead > 2%", threshold=0.02, metric="cpu_s")
    primary, other = (
        summary_of(noisy(1, 0.002)),
        summary_of(noisy(2, 0.002, 0.1), metric="cpu_s", primary=False),
    )
    result = courses([primary, other], {ARM: 32}, design(condition), ended=False)
    (decision,) = decisions([primary, other], result, design(condition))
    assert (decision.metric, decision.ruling) == ("cpu_s", Ruling.EXCEEDED)


def test_too_few_blocks_are_undecided_and_say_how_many_it_takes() -> None:
    _, decision = asked(summary_of(noisy(1, 0.01, blocks=4)), design(looks=(4,)), done=4)
    assert decision.ruling is Ruling.UNDECIDED
    assert "an interval needs at least 6 blocks" in decision.sentence


def test_what_did_not_run_is_undecided_with_its_reason() -> None:
    skipped = Skipped(environment="lxc", reason="lxc is not installed", remedy="apt install lxc")
    result = decisions([], {}, design(), ["lxc", "podman"], [skipped])
    assert [decision.ruling for decision in result] == [Ruling.UNDECIDED] * 2
    assert result[0].sentence == "lxc: undecided: it was skipped: lxc is not installed; apt install lxc"
    assert "none of its blocks was run" in result[1].sentence


@pytest.mark.parametrize(("side", "ruling"), [("exceeded", Ruling.EXCEEDED), ("kept", Ruling.KEPT)])
def test_at_the_threshold_itself_each_answer_is_rare(side: str, ruling: Ruling) -> None:
    rulings = [asked(noisy_summary(seed, 0.02, 0.02), design())[1].ruling for seed in range(CAMPAIGNS)]
    allowed = 0.025 + 3 * math.sqrt(0.025 * 0.975 / CAMPAIGNS)
    assert rulings.count(ruling) / CAMPAIGNS <= allowed, side


def test_without_a_named_metric_every_primary_one_is_asked() -> None:
    quick, slow = summary_of(noisy(1, 0.002)), summary_of(noisy(2, 0.002, 0.1), metric="cpu_s")
    result = courses([quick, slow], {ARM: 32}, design(), ended=False)
    ruled = {decision.metric: decision.ruling for decision in decisions([quick, slow], result, design())}
    assert ruled == {"wall_s": Ruling.KEPT, "cpu_s": Ruling.EXCEEDED}
