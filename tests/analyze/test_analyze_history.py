# SPDX-License-Identifier: Apache-2.0
"""Which earlier results show how days differ, and how often the gate of a history is wrong."""

import math
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from tests.analyze.verdict_example import around, verdict_of

from tare.analyze.history import history, on_different_days
from tare.records import Analysis, Cell, FailIf, Ruling, Session, Verdict, Withheld

CONDITION = FailIf(text="overhead worse by 0%", threshold=0.0)
HISTORIES = 60
NOISE = 0.01
"""Of a block's log-ratio; ten blocks make it about a third of that."""


def result_of(name: str, started_utc: str, verdict: Verdict) -> Analysis:
    """What a history reads of a result, and no more."""
    session = Session(
        identity=name,
        started_utc=started_utc,
        tare_version="",
        seed=1,
        image_name="",
        image_digest="",
        host={},
        skipped=(),
        planned_trials=0,
    )
    return cast(
        "Analysis", SimpleNamespace(result=name, sessions=(session,), verdicts=(verdict,), outcomes=())
    )


def daily(verdicts: Sequence[Verdict]) -> list[Analysis]:
    return [
        result_of(str(day), f"202601{day:02}T090000.000000Z", own)
        for day, own in enumerate(verdicts, start=1)
    ]


def of_days(*started_utc: str) -> list[str]:
    own = verdict_of(around(0.1, 0.01))
    return [
        result.result
        for result, _ in on_different_days([(result_of(at, at, own), own) for at in started_utc])
    ]


def test_of_results_within_half_a_day_the_last_counts() -> None:
    morning, noon, next_day = "20260101T080000Z", "20260101T120000Z", "20260102T000000Z"
    assert of_days(morning, noon, next_day) == [noon, next_day]
    # A sitting over midnight is one day: it begins twice only after twelve hours.
    late, early = "20260101T230000Z", "20260102T010000Z"
    assert of_days(late, early) == [early]
    assert of_days("20260101T230000.5Z", "20260102T110000.6Z") == [
        "20260101T230000.5Z",
        "20260102T110000.6Z",
    ]


def test_a_result_whose_date_is_unreadable_is_no_day() -> None:
    assert of_days("yesterday", "20260101T080000Z") == ["20260101T080000Z"]


def test_a_busy_result_and_one_without_an_interval_are_no_days() -> None:
    quiet = verdict_of(around(0.1, 0.01))
    busy, short = replace(quiet, withheld=Withheld.BUSY), verdict_of(around(0.1, 0.01, n=3))
    noisy = replace(quiet, withheld=Withheld.NOISE)
    dated = [(result, result.verdicts[0]) for result in daily([quiet, busy, short, noisy, quiet])]
    assert [result.result for result, _ in on_different_days(dated)] == ["1", "4", "5"]


def test_earlier_results_that_were_all_busy_answer_nothing() -> None:
    quiet = verdict_of(around(0.1, 0.01))
    busy = replace(quiet, withheld=Withheld.BUSY)
    (answer,) = history(daily([busy] * 6 + [quiet]), [CONDITION]).regressions
    assert (answer.ruling, answer.days, answer.missing_days) == (Ruling.UNDECIDED, (), 4)
    assert "the host was too busy to tell" in answer.sentence


def test_the_increase_in_points_is_against_the_mean_of_the_earlier_days() -> None:
    earlier = [verdict_of(around(math.log(1.2), 0.001)) for _ in range(6)]
    newest = verdict_of(around(math.log(1.5), 0.001))
    (answer,) = history(daily([*earlier, newest]), [CONDITION]).regressions
    assert answer.increase.point == pytest.approx(0.3)
    assert answer.ruling is Ruling.EXCEEDED
    assert answer.sentence.startswith(
        "docker's overhead on wall_s (work on 1c1p1i) is more than 0 points worse than the earlier results: "
    )
    assert answer.sentence.endswith("with room for days that differ as those of 6 earlier results (n = 10)")


def test_a_day_as_different_as_the_earlier_ones_is_no_regression() -> None:
    """Their own intervals do not overlap: by them alone the newest would be worse than the median."""
    centres = (0.10, 0.13, 0.08, 0.12, 0.09, 0.11, 0.135)
    (answer,) = history(daily([verdict_of(around(at, 0.005)) for at in centres]), [CONDITION]).regressions
    assert answer.ruling is Ruling.UNDECIDED
    assert answer.missing_days == 0


def test_several_questions_share_the_permitted_error() -> None:
    centres = (0.10, 0.13, 0.08, 0.12, 0.09, 0.11, 0.14)
    results = daily([verdict_of(around(at, 0.005)) for at in centres])
    (alone,) = history(results, [CONDITION]).regressions
    together = history(results, [replace(CONDITION, text=str(each)) for each in range(5)]).regressions
    assert together[0].increase.low is not None
    assert alone.increase.low is not None
    assert together[0].increase.low < alone.increase.low


@pytest.mark.parametrize("day", [0.0, 1.0])
def test_a_gate_on_no_change_fails_in_one_of_twenty_at_most(day: float) -> None:
    chance = np.random.default_rng([11, int(day)])
    own = NOISE / math.sqrt(10)
    failed = 0
    for _ in range(HISTORIES):
        centres = chance.normal(0.1, day * own, 9)
        verdicts = [verdict_of(list(chance.normal(centre, NOISE, 10))) for centre in centres]
        (answer,) = history(daily(verdicts), [CONDITION]).regressions
        assert answer.cell == Cell(workload="work", layout="1c1p1i")
        failed += answer.ruling is Ruling.EXCEEDED
    assert failed / HISTORIES <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / HISTORIES)
