# SPDX-License-Identifier: Apache-2.0
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from tare.statistics.letters import letters

NAMES = "PQRSTU"
PAIRS = list(combinations(NAMES, 2))


@given(st.sets(st.sampled_from(PAIRS)))
def test_two_share_a_letter_exactly_when_they_are_not_distinguished(
    distinguished: set[tuple[str, str]],
) -> None:
    result = letters(NAMES, sorted(distinguished))
    for first, second in PAIRS:
        assert bool(set(result[first]) & set(result[second])) == ((first, second) not in distinguished)


def test_where_nothing_is_distinguished_all_have_the_first_letter() -> None:
    assert letters(NAMES, []) == dict.fromkeys(NAMES, "a")


def test_letters_run_in_the_order_of_the_names() -> None:
    assert letters("PQR", [("P", "Q"), ("P", "R"), ("Q", "R")]) == {"P": "a", "Q": "b", "R": "c"}


def test_one_between_two_that_differ_has_the_letters_of_both() -> None:
    assert letters("PQR", [("P", "R")]) == {"P": "a", "Q": "ab", "R": "b"}


def test_letters_do_not_run_out() -> None:
    names = [f"e{number}" for number in range(30)]
    result = letters(names, combinations(names, 2))
    assert len(set(result.values())) == 30
    assert result["e26"] == "a1"
