# SPDX-License-Identifier: Apache-2.0
import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.plan.problems import Problem
from tare.plan.ranges import parse_bounds, ranges_of
from tare.records import Range


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("100 kB .. 1 MB", (100e3, 1e6)),
        ("1 .. 4", (1.0, 4.0)),
        ("0..16 KiB", (0.0, 16384.0)),
        ("<= 1", (None, 1.0)),
        (">= 64 KiB", (65536.0, None)),
        (" >5 MB ", (math.nextafter(5e6, math.inf), None)),
        ("< 100 kB", (None, math.nextafter(100e3, 0))),
    ],
)
def test_bounds_are_read_as_people_write_them(text: str, bounds: tuple[float | None, float | None]) -> None:
    assert parse_bounds(text) == bounds


@pytest.mark.parametrize(
    "text",
    ["", "..", "1", "1 ..", ".. 4", "4 .. 1", "< nan", "> inf", "< x", "1 .. 2 .. 3", 7, None, ["< 1"]],
)
def test_what_is_no_range_is_refused_with_an_example(text: object) -> None:
    with pytest.raises(ValueError, match=r"must be a range such as|begins above its end"):
        parse_bounds(text)


@given(st.floats(-1e12, 1e12), st.floats(-1e12, 1e12))
def test_any_two_numbers_bound_a_range_in_their_order(first: float, second: float) -> None:
    least, most = sorted((first, second))
    assert parse_bounds(f"{least!r} .. {most!r}") == (least, most)


def problems_of(tables: Mapping[str, Mapping[str, object]]) -> tuple[tuple[Range, ...], list[Problem]]:
    problems: list[Problem] = []
    return ranges_of(tables, ("workload", 0), problems), problems


def test_a_table_becomes_a_record() -> None:
    ranges, problems = problems_of({"small": {"metric": "latency_s", "size": "<= 64", "ranks": "2 .. 4"}})
    assert problems == []
    assert ranges == (
        Range(name="small", metric="latency_s", bounds={"size": (None, 64.0), "ranks": (2.0, 4.0)}),
    )


@pytest.mark.parametrize(
    ("table", "key", "words"),
    [
        ({"size": "< 1"}, ("workload", 0, "ranges", "small"), "says not of which curve"),
        ({"metric": "latency_s"}, ("workload", 0, "ranges", "small"), "has no bounds"),
        ({"metric": "latency_s", "size": 4}, ("workload", 0, "ranges", "small", "size"), "must be a range"),
    ],
)
def test_a_faulty_table_is_named_with_its_place(
    table: Mapping[str, object], key: tuple[object, ...], words: str
) -> None:
    ranges, (problem,) = problems_of({"small": table})
    assert ranges == ()
    assert problem.path == key
    assert words in problem.text
