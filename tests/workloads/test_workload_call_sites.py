# SPDX-License-Identifier: Apache-2.0
"""Places that call MPI, joined over ranks and runs: no time is lost, and none is made up."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.workloads.recorded import recorded

from tare.records.profiled import ProfiledRun
from tare.workloads import profile
from tare.workloads.call_sites import joined_runs, parse_profiled

SAID = json.loads(recorded("npb", "cg-profiled").files[profile.FILE])
"""Of two ranks, by a profiler that told of no places."""


def row(function: str | None, time_s: float, **keys: Any) -> dict[str, Any]:
    return {
        "call": "MPI_Send",
        "module": "/bin/solve",
        "offset": 16,
        "function": function,
        "count": 2,
        "time_s": time_s,
        **keys,
    }


def run(*ranks: list[dict[str, Any]]) -> ProfiledRun:
    with_sites = [{**rank, "call_sites": rows} for rank, rows in zip(SAID["profile"], ranks, strict=True)]
    return parse_profiled(json.dumps({**SAID, "profile": with_sites}))


def test_a_place_has_the_mean_over_all_ranks_and_the_largest_of_any() -> None:
    profiled = run([row("exchange", 1.0), row("reduce", 0.5)], [row("exchange", 3.0)])
    exchange, reduce = profiled.sites
    assert (exchange.place.function, exchange.count, exchange.mean_s, exchange.largest_s) == (
        "exchange",
        4,
        2.0,
        3.0,
    )
    assert (reduce.mean_s, reduce.largest_s) == (0.25, 0.5)
    whole_s = sum(rank["wall_s"] for rank in SAID["profile"])
    assert exchange.share == pytest.approx(4.0 / whole_s, rel=1e-6)


def test_calls_without_a_known_place_stay_apart() -> None:
    profiled = run([row(None, 1.0, call=None, module=None, offset=None), row(None, 2.0)], [])
    assert [site.place.call for site in profiled.sites] == ["MPI_Send", None]


def test_runs_are_joined_by_their_means() -> None:
    first, second = run([row("exchange", 1.0)], []), run([row("exchange", 2.0)], [row("reduce", 1.0)])
    exchange, reduce = joined_runs([first.sites, second.sites])
    assert (exchange.mean_s, exchange.largest_s, exchange.count) == (0.75, 2.0, 4)
    assert (reduce.mean_s, reduce.largest_s) == (0.25, 1.0)


@given(st.lists(st.lists(st.floats(0, 100), max_size=5), min_size=2, max_size=2))
def test_all_places_together_have_all_the_time(times_s: list[list[float]]) -> None:
    profiled = run(*([row(f"f{number}", time_s) for number, time_s in enumerate(own)] for own in times_s))
    assert sum(site.mean_s for site in profiled.sites) == pytest.approx(sum(map(sum, times_s)) / 2)
    assert all(site.largest_s >= site.mean_s for site in profiled.sites)


def test_an_older_profilers_file_has_no_places() -> None:
    assert parse_profiled(json.dumps(SAID)).sites == ()


@pytest.mark.parametrize("text", ["", "{}", json.dumps({**SAID, "schema": 2}), json.dumps(SAID)[:-9]])
def test_what_is_no_whole_profile_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - pydantic's words
        parse_profiled(text)
