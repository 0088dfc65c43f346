# SPDX-License-Identifier: Apache-2.0
"""Whatever somebody sends as JSON is a bounded value, or one kind of error."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.untrusted import MOST_DEPTH, figure, from_json, is_address, object_from_json, whole

HONEST = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 63) - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(HONEST)
def test_an_honest_value_arrives_as_it_was_sent(value: object) -> None:
    assert from_json(json.dumps(value)) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Expecting value"),
        ('{"a": 1', "Expecting"),
        ("[" * 100_000, "levels deep"),
        ("[" * (MOST_DEPTH + 1) + "]" * (MOST_DEPTH + 1), "levels deep"),
        ('{"a":' * 900 + "1" + "}" * 900, "levels deep"),
        ("9" * 400, "64 bits"),
        ("-" + "9" * 5000, "64 bits"),
        (str(1 << 64), "64 bits"),
        ("1e999", "finite"),
        ("0." + "1" * 5000, "finite"),
        ("NaN", "no number"),
        ("[-Infinity]", "no number"),
        ('{"a": 1, "a": 2}', "twice"),
        ('"\\ud800"', "surrogates"),
        ('"\ud800"', "surrogates"),
        (b'"\xff"', "utf-8"),
        (b'"\xed\xa0\x80"', "utf-8"),
        ("[" + " " * (17 << 20) + "]", "are the most"),
    ],
    ids=range(18),
)
def test_what_could_break_a_reader_is_one_kind_of_error(text: str | bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        from_json(text)


def test_what_lies_just_within_the_limits_is_read() -> None:
    assert from_json(str((1 << 64) - 1)) == (1 << 64) - 1
    assert from_json('"\\ud83d\\ude00"') == "\N{GRINNING FACE}"
    deep = from_json("[" * MOST_DEPTH + "]" * MOST_DEPTH)
    for _ in range(MOST_DEPTH - 1):
        (deep,) = deep
    assert deep == []


@pytest.mark.parametrize("text", ["[]", "1", '"a"', "null"])
def test_an_object_is_not_mistaken(text: str) -> None:
    with pytest.raises(ValueError, match="no object"):
        object_from_json(text)
    assert object_from_json('{"a": null}') == {"a": None}


@given(st.text(max_size=30) | st.integers().map(str))
def test_an_integer_of_digits_fits_64_bits_or_is_refused(text: str) -> None:
    try:
        value = whole(text)
    except ValueError:
        return
    assert int(text) == value
    assert abs(value) < 1 << 64


@given(st.text(max_size=30) | st.floats().map(str))
def test_a_figure_is_finite_or_refused(text: str) -> None:
    try:
        value = figure(text)
    except ValueError:
        return
    assert float(text) == value
    assert math.isfinite(value)


@pytest.mark.parametrize("text", ["1_000", " 1", "+1", "\N{ARABIC-INDIC DIGIT ONE}", "", "-", "1\n"])
def test_what_python_takes_for_an_integer_and_no_program_prints_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="64 bits"):
        whole(text)


@pytest.mark.parametrize("text", ["127.0.0.1", "::1", "2001:db8::7"])
def test_an_address_of_either_version_is_one(text: str) -> None:
    assert is_address(text)


@pytest.mark.parametrize("text", ["", "host", "127.0.0", "127.0.0.1:80", "[::1]", "1.2.3.4/8"])
def test_a_name_or_part_of_an_address_is_none(text: str) -> None:
    assert not is_address(text)
