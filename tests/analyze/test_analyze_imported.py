# SPDX-License-Identifier: Apache-2.0
"""Arms that were measured apart: what may be said of them, and what not."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.analyze import compare_imported
from tare.records import (
    ChangeWord,
    Direction,
    ImportedComparison,
    ImportedMeasurements,
    ImportedSeries,
    ImportedSource,
    Lack,
)

NATIVE = (1.00, 1.01, 0.99, 1.02, 0.98, 1.005, 0.995, 1.015, 0.985, 1.0)


def series(arm: str, values: Sequence[float], **given: object) -> ImportedSeries:
    usual: dict[str, object] = {"subject": "", "metric": "wall_s", "unit": "s", "direction": Direction.LESS}
    return ImportedSeries(arm=arm, values=tuple(values), **{**usual, **given})  # type: ignore[arg-type]


def compared(*given: ImportedSeries) -> ImportedComparison:
    return compare_imported(ImportedMeasurements(sources=(), series=given))


def word(*given: ImportedSeries) -> ChangeWord:
    return compared(*given).differences[0].word


def test_a_clear_difference_and_the_same_values_are_told_apart() -> None:
    native = series("native", NATIVE)
    assert word(native, series("box", [1.1 * value for value in NATIVE])) is ChangeWord.LARGER
    assert word(native, series("box", [0.9 * value for value in NATIVE])) is ChangeWord.SMALLER
    quiet = [1 + (value - 1) / 10 for value in NATIVE]
    assert word(series("native", quiet), series("box", quiet[::-1])) is ChangeWord.ALIKE


def test_a_higher_rate_takes_less_time() -> None:
    rates = {"metric": "rate", "unit": "1/s", "direction": Direction.MORE}
    native, box = series("native", NATIVE, **rates), series("box", [1.1 * value for value in NATIVE], **rates)
    difference = compared(native, box).differences[0]
    assert difference.word is ChangeWord.SMALLER
    assert difference.change.point == pytest.approx(1 / 1.1 - 1)
    assert difference.after.point == pytest.approx(1.1, rel=1e-3)


@pytest.mark.parametrize("n", [1, 5])
def test_few_values_give_no_interval_no_verdict_and_no_claim(n: int) -> None:
    native = series("native", NATIVE)
    comparison = compared(
        native,
        series("native", NATIVE, metric="cpu_s"),
        series("box", [2.0] * n),
        series("box", [1.1 * value for value in NATIVE], metric="cpu_s"),
    )
    few, enough = comparison.differences
    assert (few.word, few.change.low, few.change.high, few.p_value) == (ChangeWord.UNDECIDED, None, None, 1.0)
    assert (few.after.n, few.after.low) == (n, None)
    assert (enough.word, enough.claims) == (ChangeWord.LARGER, 1)


def test_values_printed_with_few_digits_show_no_more_than_their_rounding_allows() -> None:
    """Ten times 0.16 and ten times 0.17 may be 0.164 and 0.166."""
    native, box = series("native", [0.16] * 10), series("box", [0.17] * 10)
    assert word(native, box) is ChangeWord.LARGER
    printed = [series(each.arm, each.values, rounding=0.005 / each.values[0]) for each in (native, box)]
    difference = compared(*printed).differences[0]
    assert difference.word is ChangeWord.UNDECIDED
    assert difference.change.low is not None
    assert difference.change.low < 0
    assert compared(printed[0]).figures[0].value.low == pytest.approx(0.16 / (1 + 0.005 / 0.16))


@given(st.floats(1e-9, 1e9), st.lists(st.floats(0.5, 2.0), min_size=6, max_size=12))
def test_a_change_does_not_depend_on_the_unit(factor: float, values: list[float]) -> None:
    plain = compared(series("native", NATIVE), series("box", values)).differences[0]
    scaled = compared(
        series("native", [factor * value for value in NATIVE]),
        series("box", [factor * value for value in values]),
    ).differences[0]
    assert scaled.change.point == pytest.approx(plain.change.point, abs=1e-9)
    assert math.isclose(scaled.after.point, factor * plain.after.point, rel_tol=1e-9)


NOISES: dict[str, Callable[[np.random.Generator], Sequence[float]]] = {
    "normal": lambda random: random.normal(0, 0.01, 10).tolist(),
    "skewed": lambda random: random.exponential(0.02, 10).tolist(),
    "spikes": lambda random: (
        random.normal(0, 0.01, 10) + (random.random(10) < 0.1) * random.exponential(0.3, 10)
    ).tolist(),
}


@pytest.mark.parametrize("noise", NOISES)
def test_arms_that_do_not_differ_are_rarely_told_apart(noise: str) -> None:
    """1000 pairs of each gave 1.9, 2.7 and 2.3 % (docs/imports.md)."""
    random = np.random.default_rng(1)
    pairs = [
        [series(arm, [math.exp(value) for value in NOISES[noise](random)]) for arm in ("native", "box")]
        for _ in range(80)
    ]
    claimed = [pair for pair in pairs if word(*pair) in {ChangeWord.LARGER, ChangeWord.SMALLER}]
    assert len(claimed) <= 6


def test_what_only_one_arm_has_or_has_in_another_unit_is_not_compared() -> None:
    comparison = compared(
        series("native", NATIVE),
        series("native", NATIVE, subject="sort"),
        series("box", NATIVE, unit="1/s", direction=Direction.MORE),
    )
    assert comparison.differences == ()
    assert [(each.what, each.reason) for each in comparison.incomparable] == [
        ("wall_s", "the units differ: s, less is better and 1/s, more is better"),
        ("wall_s of sort", "only in native"),
    ]


def test_what_the_sources_say_differently_of_themselves_is_listed() -> None:
    sources = tuple(
        ImportedSource(name=name, path=name, kind="hyperfine", facts={"host": name, "kernel": "6.1"})
        for name in ("a", "b")
    )
    read = ImportedMeasurements(sources=sources, series=(series("a", NATIVE),), subjects=("x", "y"))
    assert [(each.label, each.values) for each in compare_imported(read).unlike] == [
        ("what ran", ("x", "y")),
        ("host", ("a", "b")),
    ]


def test_every_comparison_says_that_order_control_and_host_are_lacking() -> None:
    assert set(compared(series("a", NATIVE)).lacks) == {Lack.ORDER, Lack.CONTROL, Lack.HOST}
