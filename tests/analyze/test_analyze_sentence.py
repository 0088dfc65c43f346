# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import pytest

from tare.analyze import overhead
from tare.analyze.sentence import sentence
from tare.records import BlockValue, Cell, Direction, Estimate, Overhead, Summary, Word

DASH = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"


def measured(low: float, high: float, floor: float = 0.001, n: int = 10) -> Overhead:
    """An overhead with the given interval, and a noise floor of ±``floor``."""
    summary = Summary(
        cell=Cell(workload="burn", layout="1c1p1i"),
        environment="docker",
        metric="rate",
        unit="1/s",
        direction=Direction.MORE,
        primary=True,
        blocks=(BlockValue(block=0, native=(1.0, 1.0), environment=1.0),),
        log_ratios=(0.0,),
        control_log_ratios=(0.0,),
        dropped_blocks=0,
    )
    typical = Estimate(point=(low + high) / 2, low=low, high=high, level=0.951, n=n)
    noise_floor = Estimate(point=0.0, low=-floor, high=floor / 2, level=0.951, n=n)
    return replace(overhead(summary), typical=typical, noise_floor=noise_floor)


def said(low: float, high: float, word: Word, more_blocks: int | None = None, n: int = 10) -> str:
    return sentence(measured(low, high, n=n), word, 0.01, more_blocks, below_noise_floor=False)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0523, 0.0811, f"slower by 5.2{DASH}8.1 %"),
        (0.46, 1.27, f"slower by 46{DASH}127 %"),
        (0.00412, 0.00567, f"slower by 0.41{DASH}0.57 %"),
        (0.051021, 0.051449, f"slower by 5.102{DASH}5.145 %"),
        (0.05, 0.05, "slower by 5.00 %"),
        (0.05, 0.05 + 1e-9, "slower by 5.000 %"),
        (8.51, 9.49, f"slower by 851{DASH}949 %"),
        (9.2, 31.4, f"slower: 10{DASH}32 times native's time"),
    ],
)
def test_digits_follow_the_width_of_the_interval(low: float, high: float, expected: str) -> None:
    assert said(low, high, Word.SLOWER) == f"docker: {expected} (n = 10)"


def test_faster_names_the_time_saved_smaller_figure_first() -> None:
    assert said(-0.081, -0.052, Word.FASTER) == f"docker: faster by 5.2{DASH}8.1 % (n = 10)"


def test_the_bound_next_to_zero_is_never_printed_as_zero() -> None:
    assert said(0.0003, 0.11, Word.SLOWER) == f"docker: slower by 0.03{DASH}11 % (n = 10)"


@pytest.mark.parametrize(("margin", "expected"), [(0.01, "±1 %"), (0.025, "±2.5 %")])
def test_within_names_the_margin(margin: float, expected: str) -> None:
    found = sentence(measured(0.001, 0.002, n=24), Word.WITHIN, margin, None, below_noise_floor=True)
    assert found == f"docker: within {expected} of native (n = 24)"


@pytest.mark.parametrize(
    ("more_blocks", "advice"),
    [
        (14, "about 14 more blocks"),
        (1, "about 1 more block"),
        (None, "no feasible number of blocks would decide"),
    ],
)
def test_undecided_shows_the_signed_interval_and_what_would_decide(
    more_blocks: int | None, advice: str
) -> None:
    found = said(-0.008, 0.021, Word.UNDECIDED, more_blocks)
    assert found == f"docker: not enough data: {MINUS}0.8 to +2.1 % (n = 10; {advice})"


def test_a_bound_of_exactly_zero_has_no_sign() -> None:
    assert "not enough data: 0.0 to +2.1 %" in said(0.0, 0.021, Word.UNDECIDED, 3)


@pytest.mark.parametrize("word", [Word.SLOWER, Word.FASTER])
def test_a_difference_below_the_noise_floor_is_said_to_be(word: Word) -> None:
    sign = 1 if word is Word.SLOWER else -1
    low, high = sorted((sign * 0.004, sign * 0.008))
    found = sentence(measured(low, high, floor=0.012), word, 0.001, None, below_noise_floor=True)
    assert found == (
        f"docker: {word.value} by 0.40{DASH}0.80 % (n = 10), "
        "but native against native differs by up to ±1.2 %"
    )
