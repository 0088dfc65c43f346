# SPDX-License-Identifier: Apache-2.0
"""Text of others: whatever is in it, it can be shown."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.foreign import LONGEST, one_line, shortened, visible

ANY = st.text(st.characters())
"""Half surrogate pairs among them."""


@given(ANY)
def test_visible_text_moves_nothing_and_hides_nothing_and_is_utf_8(text: str) -> None:
    shown = visible(text)
    assert shown.encode().decode() == shown
    for character in shown:
        category = unicodedata.category(character)
        assert character in "\n\t" or (category[0] != "C" and category not in {"Zl", "Zp"})
    assert visible(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mb\x00", r"a\x1b[31mb\x00"),
        ("\r\x08\x7f\x85\x9b", r"\x0d\x08\x7f\x85\x9b"),
        ("\u202eevil\u2066\u200b\ufeff", r"\u202eevil\u2066\u200b\ufeff"),
        ("\u2028\u2029\ud800\U000e0041", r"\u2028\u2029\ud800\U000e0041"),
        (
            "two lines\n\tand a tab, 3 \N{MICRO SIGN}s \N{MINUS SIGN}1",
            "two lines\n\tand a tab, 3 \N{MICRO SIGN}s \N{MINUS SIGN}1",
        ),
    ],
)
def test_each_control_character_is_shown_as_its_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(ANY)
def test_one_line_is_one_and_short(text: str) -> None:
    line = one_line(text * 50)
    assert len(line) <= LONGEST
    assert len(line.splitlines()) <= 1


def test_what_is_too_long_loses_its_middle() -> None:
    assert shortened("ab" * 3, 6) == "ababab"
    assert shortened("a" * 50_000 + "z" * 50_000, 9) == "aaaa\N{HORIZONTAL ELLIPSIS}zzzz"
    assert one_line("a\n b\tc") == "a b c"
