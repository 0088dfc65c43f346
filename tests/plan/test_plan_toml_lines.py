# SPDX-License-Identifier: Apache-2.0
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.plan.toml_lines import key_lines, line_of
from tests.plan.plan_example import GOOD

TRICKY = '''\
a = """
b = 1   # no key: inside a string
""" # [no.table]
"quoted key" = 'x # y'
c.d = [
  1, # [[no]]
  2,
]
[t]
e = { f = 1, g = "]" }
[[many]]
h = 1
[many.inner]
i = 1
[[many]]
h = 2
  j   =   3
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("a",), 1),
        (("quoted key",), 4),
        (("c", "d"), 5),
        (("t",), 9),
        (("t", "e"), 10),
        (("many", 0), 11),
        (("many", 0, "h"), 12),
        (("many", 0, "inner", "i"), 14),
        (("many", 1), 15),
        (("many", 1, "j"), 17),
        (("many",), 11),
    ],
)
def test_a_key_is_found_at_its_line(path: tuple[str | int, ...], line: int) -> None:
    assert tomllib.loads(TRICKY)
    assert key_lines(TRICKY)[path] == line


def test_what_only_looks_like_a_key_is_none() -> None:
    assert not {("b",), ("no",), ("no", 0), ("no", "table")} & set(key_lines(TRICKY))


@pytest.mark.parametrize(
    ("path", "line"),
    [(("t", "e", "f"), 10), (("many", 1, "absent"), 15), (("c", "d", 1), 5), (("absent",), None)],
)
def test_an_unknown_key_falls_back_to_what_is_around_it(
    path: tuple[str | int, ...], line: int | None
) -> None:
    assert line_of(key_lines(TRICKY), path) == line


def every_key(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    if isinstance(value, dict):
        return [inner for key, part in value.items() for inner in every_key(part, (*path, key))] + [path]
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [inner for position, part in enumerate(value) for inner in every_key(part, (*path, position))]
    return [path]


def test_every_key_of_a_campaign_is_found_where_it_is_written() -> None:
    lines = GOOD.splitlines()
    result = key_lines(GOOD)
    for path in every_key(tomllib.loads(GOOD)):
        if path and path[0] != "blocks":
            assert (
                str(next(part for part in reversed(path) if isinstance(part, str))) in lines[result[path] - 1]
            )


@given(st.text(alphabet="a[]{}=.\"'#\n\\ \t-", max_size=200))
def test_any_text_has_lines_within_itself(text: str) -> None:
    assert all(1 <= line <= text.count("\n") + 1 for line in key_lines(text).values())
