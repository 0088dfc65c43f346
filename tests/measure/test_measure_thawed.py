# SPDX-License-Identifier: Apache-2.0
"""What turns add up to."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tare.measure.thawed import Turn, cpu_s, freezing, idle_share, thawed_s, unsuited

MS = 1_000_000


def turn(thawed_ms: float, freeze_ms: float, cpu_s: float | None = None, latency_ms: float = 0.5) -> Turn:
    return Turn(
        thaw_asked_ns=round((thawed_ms - 0.1) * MS),
        thawed_ns=round(thawed_ms * MS),
        freeze_asked_ns=round(freeze_ms * MS),
        frozen_ns=round((freeze_ms + latency_ms) * MS),
        cpu_s=cpu_s,
    )


TURNS = [turn(100, 180, 0.08), turn(500, 580, 0.08, 2.5), turn(900, 980, 0.02)]


def test_only_what_lies_between_thaw_and_freeze_and_start_and_end_counts() -> None:
    assert thawed_s(TURNS, 110 * MS, 930 * MS) == pytest.approx(0.070 + 0.080 + 0.030)


def test_an_end_told_while_frozen_counts_no_more_than_the_turn() -> None:
    assert thawed_s(TURNS, 100 * MS, 990 * MS) == pytest.approx(0.24)


def test_latencies_are_told_apart_from_the_time() -> None:
    latency = freezing(TURNS)
    assert latency is not None
    assert (latency.median_s, latency.worst_s) == pytest.approx((0.0005, 0.0025))
    assert freezing([]) is None


def test_a_program_that_sleeps_more_than_a_fifth_is_not_suited_and_the_figure_is_said() -> None:
    assert idle_share(TURNS) == pytest.approx(0.25)
    assert "no processor in 25% of its time" in str(unsuited(TURNS))


def test_serial_then_parallel_work_is_no_idleness() -> None:
    assert unsuited([turn(0, 100, 0.1), turn(200, 300, 0.2)]) is None


def test_waiting_for_a_processor_that_others_use_is_no_idleness() -> None:
    assert unsuited([replace(turn(0, 100, 0.05), waited_s=0.045)]) is None
    assert unsuited([replace(turn(0, 100, 0.05), waited_s=0.01)]) is not None


def test_what_a_hypervisor_took_is_no_idleness_in_whichever_turn_its_tick_fell() -> None:
    halves = [turn(0, 100, 0.05), turn(200, 300, 0.1)]
    assert unsuited([halves[0], replace(halves[1], stolen_s=0.05)]) is None
    assert unsuited(halves) is not None


def test_without_the_groups_count_nothing_is_said_of_idleness() -> None:
    assert cpu_s([turn(0, 100), turn(200, 300, 0.0)]) is None
    assert unsuited([turn(0, 100), turn(200, 300, 0.0)]) is None


def test_so_short_a_run_is_not_judged() -> None:
    assert unsuited([turn(0, 10, 0.0)]) is None


@given(some.lists(some.tuples(some.integers(0, 50), some.integers(1, 90)), max_size=20), some.data())
def test_no_more_counts_than_lies_between_start_and_end(
    steps: list[tuple[int, int]], data: some.DataObject
) -> None:
    turns, at = [], 0
    for gap, length in steps:
        turns.append(turn(at + gap, at + gap + length))
        at += gap + length
    start = data.draw(some.integers(0, at))
    end = data.draw(some.integers(start, at))
    middle = data.draw(some.integers(start, end))
    whole = thawed_s(turns, start * MS, end * MS)
    assert 0 <= whole <= (end - start) * 1e-3 + 1e-9
    parts = thawed_s(turns, start * MS, middle * MS) + thawed_s(turns, middle * MS, end * MS)
    assert whole == pytest.approx(parts)
