# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.analyze.claims import claim, margins, narrowest
from tare.records import Estimate, Word

SURE = Estimate(point=0.02, low=0.01, high=0.03, level=0.95, n=10)


def test_the_campaigns_margin_joins_the_others_and_the_widest_comes_first() -> None:
    assert margins(0.01) == (0.1, 0.05, 0.02, 0.01)
    assert margins(0.2) == (0.2, 0.1, 0.05, 0.02, 0.01)
    assert margins(0.03) == (0.1, 0.05, 0.03, 0.02, 0.01)


def test_a_margin_is_not_tested_once_a_wider_one_failed() -> None:
    tested: list[float] = []

    def holds(margin: float) -> bool:
        tested.append(margin)
        return margin != 0.05

    assert narrowest(0.01, holds) == 0.1
    assert tested == [0.1, 0.05]


@given(st.floats(0.001, 0.5), st.floats(0.0, 0.2))
def test_the_narrowest_margin_is_the_least_that_holds(declared: float, needed: float) -> None:
    held = [margin for margin in margins(declared) if margin > needed]
    assert narrowest(declared, lambda margin: margin > needed) == min(held, default=None)


@pytest.mark.parametrize(
    ("within", "differs", "word"),
    [
        (0.01, True, Word.WITHIN),
        (0.05, True, Word.SLOWER),
        (0.05, False, Word.WITHIN),
        (None, True, Word.SLOWER),
        (None, False, Word.BOUNDED),
    ],
)
def test_the_order_of_what_is_said(within: float | None, differs: bool, word: Word) -> None:
    result = claim(SURE, 0.01, within, differs=differs)
    assert (result.word, result.within) == (word, within)
    assert result.at_most == (0.03 if word is Word.BOUNDED else None)


def test_a_bound_of_ten_per_cent_or_more_and_a_missing_interval_are_undecided() -> None:
    assert claim(replace(SURE, high=0.1), 0.01, None, differs=False).word is Word.UNDECIDED
    assert claim(replace(SURE, low=None, high=None), 0.01, 0.01, differs=True).word is Word.UNDECIDED
