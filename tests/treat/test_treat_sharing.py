# SPDX-License-Identifier: Apache-2.0
import math
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sharing_example import ALONE, PRIMARY, Planted, cells, sharing_outcomes

from tare.records import (
    Cell,
    Coordinate,
    Direction,
    Layout,
    Outcome,
    Sample,
    SharedCell,
    SharingSummary,
    Status,
)
from tare.treat import sharing_summaries
from tare.treat.sharing import instance_logs, jain_index, spread, twins_alone

PLANTED = {"native": Planted(loss=0.04), "docker": Planted(overhead=0.5, loss=0.10, unfairness=0.05)}
PAIR = (cells("1c2p2i"),)
TIMES = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=8)


def exact(settings: tuple[str, ...] = (ALONE, "1c2p2i"), blocks: int = 3) -> list[Outcome]:
    """Without noise in a trial, but with drift from block to block."""
    return sharing_outcomes(PLANTED, settings=settings, blocks=blocks, noise=0.0, drift=0.3)


def by_name(outcomes: list[Outcome], metric: str = "hpl_flop_per_s") -> dict[str, SharingSummary]:
    summaries = sharing_summaries(outcomes, PAIR, PRIMARY)
    return {
        sharing_summary.environment: sharing_summary
        for sharing_summary in summaries
        if sharing_summary.metric == metric
    }


def lost(outcome: Outcome) -> Outcome:
    return replace(outcome, status=Status.FAILED, reason="planted", samples=())


def without(outcomes: list[Outcome], identity: str) -> list[Outcome]:
    assert identity in {outcome.trial.identity for outcome in outcomes}
    return [lost(outcome) if outcome.trial.identity == identity else outcome for outcome in outcomes]


def test_a_planted_loss_is_against_the_same_environment_alone_whatever_its_overhead_and_the_drift() -> None:
    summaries = by_name(exact())
    for losses in summaries["native"].log_losses:
        assert losses == pytest.approx([math.log(1.04)] * 2)
    for losses in summaries["docker"].log_losses:
        assert losses == pytest.approx([math.log(1.10), math.log(1.10 * 1.05)])


def test_a_rate_and_its_time_lose_the_same() -> None:
    rate, time = by_name(exact()), by_name(exact(), "wall_s")
    for name in PLANTED:
        for value, other in zip(rate[name].log_losses, time[name].log_losses, strict=True):
            assert value == pytest.approx(other)


def test_what_is_lost_beyond_native_is_the_difference_in_the_same_block() -> None:
    summaries = by_name(exact())
    expected = math.log(1.10) + math.log(1.05) / 2 - math.log(1.04)
    assert summaries["docker"].beyond_native == pytest.approx([expected] * 3)
    assert summaries["native"].beyond_native == ()


def test_a_neighbour_is_company_too_and_then_a_figure_of_the_whole_trial_counts() -> None:
    setting = "1c1p1i+1xstream@docker"
    summaries = sharing_summaries(exact((ALONE, setting)), [cells(setting)], PRIMARY)
    cpu = [
        sharing_summary
        for sharing_summary in summaries
        if sharing_summary.metric == "cpu_s" and sharing_summary.environment == "docker"
    ]
    assert [len(losses) for losses in cpu[0].log_losses] == [1, 1, 1]
    assert cpu[0].log_losses[0][0] == pytest.approx(math.log(1.10))
    assert (cpu[0].spreads, cpu[0].jain_indices, cpu[0].skews_s) == ((), (), ())


def test_a_figure_of_the_whole_trial_is_not_given_to_one_of_several_instances() -> None:
    assert "cpu_s" not in {
        sharing_summary.metric for sharing_summary in sharing_summaries(exact(), PAIR, PRIMARY)
    }


def test_the_primary_metric_and_native_come_first() -> None:
    summaries = sharing_summaries(exact(), PAIR, {"hpl": "wall_s"})
    assert [
        (sharing_summary.metric, sharing_summary.environment, sharing_summary.primary)
        for sharing_summary in summaries
    ] == [
        ("wall_s", "native", True),
        ("wall_s", "docker", True),
        ("hpl_flop_per_s", "native", False),
        ("hpl_flop_per_s", "docker", False),
    ]


@pytest.mark.parametrize(
    ("identity", "native", "docker"),
    [
        ("b001-hpl-1c1p1i-native-1", (0, 2), (0, 1, 2)),
        ("b001-hpl-1c2p2i-native-0", (0, 2), (0, 1, 2)),
        ("b001-hpl-1c1p1i-docker-0", (0, 1, 2), (0, 2)),
        ("b001-hpl-1c2p2i-docker-0", (0, 1, 2), (0, 2)),
    ],
)
def test_a_block_that_lacks_one_trial_is_dropped_for_that_environment_and_counted(
    identity: str, native: tuple[int, ...], docker: tuple[int, ...]
) -> None:
    summaries = by_name(without(exact(), identity))
    assert (summaries["native"].blocks, summaries["docker"].blocks) == (native, docker)
    assert (summaries["native"].dropped_blocks, summaries["docker"].dropped_blocks) == (
        3 - len(native),
        3 - len(docker),
    )
    assert len(summaries["docker"].beyond_native) == 2


def test_the_order_of_outcomes_makes_no_difference() -> None:
    outcomes = exact()
    shuffled = list(outcomes)
    random.Random(3).shuffle(shuffled)  # noqa: S311 - an order, not a secret
    assert by_name(shuffled)["docker"].log_losses == by_name(outcomes)["docker"].log_losses


def test_an_environment_that_never_ran_alone_keeps_its_place_without_a_block() -> None:
    outcomes = exact()
    for block in range(3):
        outcomes = without(outcomes, f"b00{block}-hpl-1c1p1i-docker-0")
    summaries = by_name(outcomes)
    assert (summaries["docker"].blocks, summaries["docker"].dropped_blocks) == ((), 3)
    assert len(summaries["docker"].spreads) == 3


def test_each_instance_of_a_group_is_set_against_the_one_in_its_place_alone() -> None:
    pair = SharedCell(
        shared=Cell(workload="hpl", layout="2c2p4i"), alone=Cell(workload="hpl", layout="1c2p2i")
    )
    outcomes = exact(("1c2p2i", "2c2p4i"))
    slower = {"1c2p2i": (1.0, 3.0), "2c2p4i": (1.1, 1.2, 3.3, 3.6)}
    timed = [
        replace(
            outcome,
            samples=tuple(
                replace(sample, value=slower[str(outcome.trial.layout)][sample.instance])
                for sample in outcome.samples
                if sample.name == "wall_s" and sample.instance is not None
            ),
        )
        for outcome in outcomes
    ]
    for summary in sharing_summaries(timed, [pair], {"hpl": "wall_s"}):
        assert summary.log_losses[0] == pytest.approx([math.log(1.1), math.log(1.2)] * 2)


@given(st.sampled_from(["1c1p1i", "1c2p2i", "2c1p1i", "2c2p4i", "4c1p2i", "1c4p1i"]), st.integers(2, 5))
def test_every_instance_alone_stands_for_equally_many_together(text: str, groups: int) -> None:
    alone = Layout.parse(text)
    together = Layout(
        nodes=groups * alone.nodes, processors=alone.processors, instances=groups * alone.instances
    )
    assert sorted(twins_alone(together, alone)) == sorted([*range(alone.instances)] * groups)


def test_all_instances_in_a_fuller_node_are_set_against_the_one_alone() -> None:
    assert twins_alone(Layout.parse("1c4p4i"), Layout.parse("1c4p1i")) == (0, 0, 0, 0)


def test_without_an_experiment_there_is_nothing() -> None:
    assert sharing_summaries(exact(), (), PRIMARY) == ()
    assert sharing_summaries(exact((ALONE,)), PAIR, PRIMARY) == ()


def test_points_of_a_curve_are_left_out() -> None:
    outcomes = [
        replace(
            outcome,
            samples=(
                *outcome.samples,
                *(
                    replace(sample, name="curve", coordinates=(Coordinate("size", 8.0, "B"),))
                    for sample in outcome.samples
                ),
            ),
        )
        for outcome in exact()
    ]
    assert "curve" not in {
        sharing_summary.metric for sharing_summary in sharing_summaries(outcomes, PAIR, PRIMARY)
    }


def test_fairness_is_of_each_trial_with_company_and_of_both_natives_together() -> None:
    summaries = by_name(exact())
    assert summaries["native"].spreads == pytest.approx([0.0] * 3)
    assert summaries["native"].jain_indices == pytest.approx([1.0] * 3)
    assert summaries["docker"].spreads == pytest.approx([0.05 / 1.025] * 3)
    assert len(summaries["native"].skews_s) == 6
    assert len(summaries["docker"].skews_s) == 3


def time(value: float, instance: int | None) -> Sample:
    return Sample(name="wall_s", value=value, unit="s", direction=Direction.LESS, instance=instance)


@pytest.mark.parametrize(
    ("samples", "instances"),
    [
        ([time(1, 0)], 2),
        ([time(1, 0), time(2, 0)], 2),
        ([time(1, 0), time(2, 2)], 2),
        ([time(1, 0), time(0, 1)], 2),
        ([time(1, 0), time(math.inf, 1)], 2),
        ([time(1, None)], 2),
        ([time(1, None), time(1, 0)], 2),
        ([], 1),
    ],
)
def test_part_of_a_trial_is_no_trial(samples: list[Sample], instances: int) -> None:
    assert instance_logs(samples, instances) is None


def test_instances_are_taken_by_their_numbers() -> None:
    assert instance_logs([time(4, 1), time(2, 0)], 2) == pytest.approx((math.log(2), math.log(4)))


@given(TIMES)
def test_fairness_stays_within_its_bounds(times: list[float]) -> None:
    logs = tuple(map(math.log, times))
    assert 1 / len(times) - 1e-9 <= jain_index(logs) <= 1 + 1e-9
    assert 0 <= spread(logs) <= len(times) + 1e-9


@given(TIMES, st.floats(1e-3, 1e3))
def test_fairness_does_not_depend_on_the_unit(times: list[float], factor: float) -> None:
    logs = tuple(map(math.log, times))
    scaled = tuple(log + math.log(factor) for log in logs)
    assert jain_index(scaled) == pytest.approx(jain_index(logs))
    assert spread(scaled) == pytest.approx(spread(logs), abs=1e-9)


def test_fairness_of_known_cases() -> None:
    logs = (math.log(1.0), math.log(2.0))
    assert spread(logs) == pytest.approx(2 / 3)
    assert jain_index(logs) == pytest.approx(1.5**2 / (2 * 1.25))
    assert jain_index((0.0, 50.0)) == pytest.approx(0.5)
