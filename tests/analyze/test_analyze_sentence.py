# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import pytest

from tare.analyze import overhead
from tare.analyze.sentence import claim_said
from tare.records import BlockValue, Cell, Direction, Estimate, Overhead, Summary, Verdict, Word

DASH = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"


def measured(
    low: float, high: float, floor: float = 0.001, n: int = 10, direction: Direction = Direction.LESS
) -> Overhead:
    """An overhead with the given interval, and a noise floor of ±``floor``."""
    summary = Summary(
        cell=Cell(workload="burn", layout="1c1p1i"),
        environment="docker",
        metric="wall_s",
        unit="s",
        direction=direction,
        primary=True,
        blocks=(BlockValue(block=0, native=(1.0, 1.0), environment=1.0),),
        log_ratios=(0.0,),
        control_log_ratios=(0.0,),
        dropped_blocks=0,
    )
    typical = Estimate(point=(low + high) / 2, low=low, high=high, level=0.951, n=n)
    noise_floor = Estimate(point=0.0, low=-floor, high=floor / 2, level=0.951, n=n)
    return replace(overhead(summary), typical=typical, mean=typical, noise_floor=noise_floor, slow=None)


def judged(low: float, high: float, word: Word, *, floor: float = 0.001, n: int = 10) -> Verdict:
    return Verdict(
        overhead=measured(low, high, floor, n),
        word=word,
        margin=0.01,
        claim="",
        more_blocks=None,
        below_noise_floor=False,
    )


def sentence(verdict: Verdict) -> str:
    return replace(verdict, claim=claim_said(verdict)).sentence


def said(low: float, high: float, word: Word, more_blocks: int | None = None) -> str:
    return sentence(replace(judged(low, high, word), more_blocks=more_blocks))


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0523, 0.0811, f"slower by 5.2{DASH}8.2 %"),
        (0.46, 1.27, f"slower by 46{DASH}127 %"),
        (0.00412, 0.00567, f"slower by 0.41{DASH}0.57 %"),
        (0.051021, 0.051449, f"slower by 5.102{DASH}5.145 %"),
        (0.05, 0.05, "slower by 5.00 %"),
        (0.05, 0.05 + 1e-9, "slower by 5.000 %"),
        (8.51, 9.49, f"slower by 851{DASH}949 %"),
        (9.2, 31.4, f"slower: 10{DASH}33 times native's time"),
    ],
)
def test_digits_follow_the_width_of_the_interval(low: float, high: float, expected: str) -> None:
    assert said(low, high, Word.SLOWER) == f"docker: {expected} (n = 10)"


def of_a_rate(low: float, high: float, word: Word, at_most: float | None = None) -> str:
    of_time = judged(low, high, word)
    return sentence(replace(of_time, overhead=measured(low, high, direction=Direction.MORE), at_most=at_most))


@pytest.mark.parametrize(
    ("low", "high", "word", "expected"),
    [
        (-0.565, -0.523, Word.FASTER, f"faster: 2.0{DASH}2.3 times native's rate (n = 10)"),
        (-0.081, -0.052, Word.FASTER, f"faster: its rate is 5.4{DASH}8.9 % higher (n = 10)"),
        (0.25, 0.35, Word.SLOWER, f"slower: its rate is 20{DASH}26 % lower (n = 10)"),
        (9.2, 31.4, Word.SLOWER, f"slower: its rate is 90{DASH}97 % lower (n = 10)"),
    ],
)
def test_a_rates_gain_and_loss_are_those_of_the_rate(
    low: float, high: float, word: Word, expected: str
) -> None:
    assert of_a_rate(low, high, word) == f"docker: {expected}"


def test_an_open_question_about_a_rate_shows_the_rates_own_change() -> None:
    assert f"undecided: {MINUS}18 to +9 % (" in of_a_rate(-0.08, 0.21, Word.UNDECIDED)


def test_a_bound_of_a_rate_is_what_the_rate_may_lose() -> None:
    assert of_a_rate(-0.2, 0.0704, Word.BOUNDED, 0.0704) == "docker: costs at most 6.6 % (n = 10)"


def test_faster_names_the_time_saved_smaller_figure_first() -> None:
    assert said(-0.081, -0.052, Word.FASTER) == f"docker: faster by 5.2{DASH}8.1 % (n = 10)"


def test_the_bound_next_to_zero_is_never_printed_as_zero() -> None:
    assert said(0.0003, 0.11, Word.SLOWER) == f"docker: slower by 0.03{DASH}11 % (n = 10)"


@pytest.mark.parametrize(("margin", "expected"), [(0.01, "±1 %"), (0.025, "±2.5 %"), (0.1, "±10 %")])
def test_within_names_the_margin_that_holds(margin: float, expected: str) -> None:
    text = sentence(replace(judged(0.001, 0.002, Word.WITHIN, n=24), within=margin, below_noise_floor=True))
    assert text == f"docker: within {expected} of native (n = 24)"


@pytest.mark.parametrize(("at_most", "expected"), [(0.0704, "7.1"), (0.02, "2"), (0.0001, "0.1")])
def test_a_bound_is_never_rounded_down(at_most: float, expected: str) -> None:
    text = sentence(replace(judged(-0.2, at_most, Word.BOUNDED), at_most=at_most))
    assert text == f"docker: costs at most {expected} % (n = 10)"


@pytest.mark.parametrize(
    ("more_blocks", "advice"),
    [
        (14, "about 14 more blocks, a quieter machine or longer runs would help"),
        (1, "about 1 more block, a quieter machine or longer runs would help"),
        (None, "more blocks alone would hardly decide; a quieter machine or longer runs would help"),
    ],
)
def test_undecided_shows_the_signed_interval_the_noise_and_what_would_help(
    more_blocks: int | None, advice: str
) -> None:
    text = said(-0.08, 0.21, Word.UNDECIDED, more_blocks)
    noise = "native against native differs by up to ±0.10 %"
    assert text == f"docker: undecided: {MINUS}8 to +21 % (n = 10; {noise}; {advice})"


def test_a_bound_of_exactly_zero_has_no_sign() -> None:
    assert "undecided: 0.0 to +2.1 %" in said(0.0, 0.021, Word.UNDECIDED, 3)


@pytest.mark.parametrize("word", [Word.SLOWER, Word.FASTER])
def test_a_difference_below_the_noise_floor_is_said_to_be(word: Word) -> None:
    sign = 1 if word is Word.SLOWER else -1
    low, high = sorted((sign * 0.004, sign * 0.008))
    text = sentence(replace(judged(low, high, word, floor=0.012), below_noise_floor=True))
    assert text == (
        f"docker: {word.value} by 0.40{DASH}0.80 % (n = 10), "
        "but native against native differs by up to ±1.2 %"
    )
