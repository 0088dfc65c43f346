# SPDX-License-Identifier: Apache-2.0
"""What single calls cost, from what the stopwatches said with READY; missing with a reason where they did not."""

import pytest

from tare.measure.observation import add_costs
from tare.records import Scope
from tare.signals.watch import Found


def costs(*seen: dict[str, object]) -> Found:
    result = Found()
    add_costs(result, seen)
    return result


def test_a_cost_is_the_median_over_the_stopwatches_in_seconds() -> None:
    result = costs(
        {"system_call_ns": 150.5, "clock_read_ns": 20},
        {"system_call_ns": 900, "clock_read_ns": 25},
        {"system_call_ns": 160, "clock_read_ns": 31},
    )
    assert {signal.name: signal.value for signal in result.signals} == {
        "system_call_cost_s": pytest.approx(160e-9),
        "clock_read_cost_s": pytest.approx(25e-9),
    }
    assert {(signal.unit, signal.scope, signal.lost_time) for signal in result.signals} == {
        ("s", Scope.NODE, False)
    }
    assert result.missing == {}


def test_a_stopwatch_of_an_older_image_leaves_both_missing_with_why() -> None:
    result = costs({"pid": 1})
    assert result.signals == []
    assert set(result.missing) == {"system_call_cost_s", "clock_read_cost_s"}
    assert all("does not measure it" in why for why in result.missing.values())


def test_where_mpirun_starts_the_commands_they_are_missing_with_that_reason() -> None:
    assert all("mpirun" in why for why in costs().missing.values())


@pytest.mark.parametrize(
    "nonsense", [None, True, "160", -1, 0, [], {}, float("nan"), float("inf"), 1e12, 10**400]
)
def test_what_a_node_makes_up_is_no_cost(nonsense: object) -> None:
    result = costs({"system_call_ns": nonsense, "clock_read_ns": 25})
    assert [signal.name for signal in result.signals] == ["clock_read_cost_s"]
    assert set(result.missing) == {"system_call_cost_s"}
