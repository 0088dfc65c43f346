# SPDX-License-Identifier: Apache-2.0
"""Words with placeholders: each is filled in on its own and never split."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.environments.custom_commands import complaint, fill, mentions

VALUES = {"name": "tare-1", "root": "/a b/c", "cpu_quota": None}


def escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def test_values_are_put_in_and_a_space_splits_nothing() -> None:
    assert fill(["tool", "--root={root}", "{name}:{name}"], VALUES) == [
        "tool",
        "--root=/a b/c",
        "tare-1:tare-1",
    ]


def test_a_word_without_a_value_is_left_out_whole() -> None:
    assert fill(["tool", "--quota={cpu_quota}", "x"], VALUES) == ["tool", "x"]


def test_doubled_braces_are_braces() -> None:
    assert fill(["{{name}}", "{{{name}}}"], VALUES) == ["{name}", "{tare-1}"]


@given(st.lists(st.text()))
def test_any_text_survives_when_its_braces_are_doubled(argv: list[str]) -> None:
    words = [escaped(word) for word in argv]
    assert complaint(words, ()) is None
    assert fill(words, {}) == argv


@given(st.text(), st.text(), st.text())
def test_a_value_is_never_read_again(before: str, value: str, after: str) -> None:
    assert fill([f"{escaped(before)}{{name}}{escaped(after)}"], {"name": value}) == [before + value + after]


@given(st.lists(st.text()))
def test_what_has_no_complaint_can_be_filled_in(argv: list[str]) -> None:
    if complaint(argv, VALUES) is None:
        assert len(fill(argv, VALUES)) <= len(argv)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("{nmae}", "unknown placeholder 'nmae' in '{nmae}'; known: cpu_quota, name, root"),
        ("{}", "unknown placeholder '' in '{}'"),
        ("{name.real}", "unknown placeholder 'name.real'"),
        ("{0}", "unknown placeholder '0'"),
        ("{name!r}", "a name in braces and nothing else"),
        ("{name:>20}", "a name in braces and nothing else"),
        ("{name", "write {{ and }} for braces"),
        ("name}", "write {{ and }} for braces"),
        ("{", "write {{ and }} for braces"),
    ],
)
def test_what_is_no_placeholder_is_said(word: str, said: str) -> None:
    assert said in (complaint(["tool", word], VALUES) or "")


def test_a_placeholder_is_found_wherever_it_stands() -> None:
    assert mentions(["tool", "--root={root}"], "root")
    assert not mentions(["tool", "{{root}}", "root"], "root")
