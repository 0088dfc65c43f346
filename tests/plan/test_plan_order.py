# SPDX-License-Identifier: Apache-2.0
"""Order experiments and iterations, as a campaign file asks for them."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from tare.errors import CampaignError
from tare.plan.budget import fits
from tare.plan.campaign import differences
from tare.plan.durations import NODE_ALLOWANCE_S
from tare.plan.trials import plan_block, plan_trials
from tare.records import NATIVE, Layout, Ordering
from tests.plan.plan_example import KINDS, kept_and_read, load_text

ORDER = """\
name = "ordered"
blocks = 8

[[environment]]
technology = "docker"

[[workload]]
name = "count"

[[order]]
workload = "count"
option = "steps"
values = [40, 10, 20]
"""
ALONE = ORDER.replace('name = "count"', 'name = "count"\nmeasure = false')


def problem(folder: Path, text: str) -> str:
    with pytest.raises(CampaignError) as caught:
        load_text(folder, text)
    return str(caught.value)


def test_values_rise_and_the_metric_is_the_primary_one(tmp_path: Path) -> None:
    (order,) = load_text(tmp_path, ORDER).orders
    assert (order.values, order.boots, order.metrics) == ((10, 20, 40), 6, ("wall_s",))
    assert order.layout == Layout(nodes=1, processors=1, instances=1)


def test_each_environment_starts_once_in_each_order_native_too(tmp_path: Path) -> None:
    block = [trial for trial in plan_block(load_text(tmp_path, ORDER), 1, 0) if trial.series]
    counter = Counter((trial.environment.name, trial.series.ordering) for trial in block if trial.series)
    assert counter == {(name, ordering): 1 for name in (NATIVE, "docker") for ordering in Ordering}


def test_series_run_as_their_order_says(tmp_path: Path) -> None:
    campaign = load_text(tmp_path, ORDER)
    runs = {
        trial.series.ordering: [options["steps"] for options in trial.run_options]
        for trial in plan_trials(campaign, 1)
        if trial.series
    }
    assert runs[Ordering.ASCENDING] == [10, 20, 40]
    assert runs[Ordering.DESCENDING] == [40, 20, 10]
    drawn = {
        trial.series.values
        for trial in plan_trials(campaign, 1)
        if trial.series and "random" in trial.setting
    }
    assert len(drawn) > 1
    assert {tuple(sorted(values)) for values in drawn} == {(10, 20, 40)}


def test_starts_of_an_environment_follow_each_other(tmp_path: Path) -> None:
    block = [trial.environment.name for trial in plan_block(load_text(tmp_path, ORDER), 3, 0) if trial.series]
    assert block in (["docker"] * 3 + [NATIVE] * 3, [NATIVE] * 3 + ["docker"] * 3)


def test_there_are_as_many_blocks_of_it_as_boots(tmp_path: Path) -> None:
    blocks = {trial.block for trial in plan_trials(load_text(tmp_path, ORDER), 1) if trial.series}
    assert blocks == set(range(6))


def test_an_experiment_changes_no_other_order(tmp_path: Path) -> None:
    without = load_text(tmp_path, ORDER.partition("[[order]]")[0])
    others = [trial for trial in plan_trials(load_text(tmp_path, ORDER), 1) if not trial.series]
    assert others == list(plan_trials(without, 1))


def test_identities_differ_by_the_order(tmp_path: Path) -> None:
    names = [trial.identity for trial in plan_trials(load_text(tmp_path, ORDER), 1)]
    assert len(set(names)) == len(names)
    assert "b000-count-1c1p1i~ascending-docker-0" in names


def test_a_workload_may_serve_the_experiment_alone(tmp_path: Path) -> None:
    campaign = load_text(tmp_path, ALONE)
    assert campaign.workloads == ()
    assert all(trial.series for trial in plan_trials(campaign, 1))


def test_a_kept_campaign_is_read_again_and_differences_are_told(tmp_path: Path) -> None:
    campaign = load_text(tmp_path, ORDER)
    assert kept_and_read(campaign) == campaign
    other = load_text(tmp_path, ORDER.replace("20]", "20]\nboots = 7"))
    assert [words for words in differences(campaign, other) if "boots: 6 in the result, 7 now" in words]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('workload = "count"', 'workload = "counts"', "there is no [[workload]] 'counts'"),
        ('option = "steps"', 'option = "step"', "count has no option"),
        ("[40, 10, 20]", "[40]", "values"),
        ("[40, 10, 20]", "[40, 10, 40]", "values holds one twice"),
        ("[40, 10, 20]", "[40, 10, 1.5]", "steps = 1.5"),
        ("[40, 10, 20]", "[40, 10, 20]\nboots = 9", "9 starts need as many blocks"),
        ("[40, 10, 20]", "[40, 10, 20]\nlayout = '1c2p2i'", "a series has one"),
        ("[40, 10, 20]", "[40, 10, 9000]", "9000 steps do not fit into the memory"),
        ("blocks = 8", 'blocks = 8\nlayouts = ["1c1p1i", "1c2p1i"]', "does not say in which layout"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert ORDER.count(old) == 1
    assert words in problem(tmp_path, ORDER.replace(old, new))


def test_the_same_experiment_twice_is_refused(tmp_path: Path) -> None:
    again = ORDER + ORDER[ORDER.index("[[order]]") :]
    assert "second one of count by steps" in problem(tmp_path, again)


def test_the_time_of_all_runs_is_planned(tmp_path: Path) -> None:
    campaign = load_text(tmp_path, ALONE)
    starts = len(plan_trials(campaign, 1))
    assert starts == 6 * 3 * 2
    plan = fits(campaign, plan_trials(campaign, 1), kinds=KINDS)
    assert plan.expected_s == pytest.approx(starts * (70 + NODE_ALLOWANCE_S))


def test_iterations_are_planned_too(tmp_path: Path) -> None:
    text = ORDER.partition("[[order]]")[0].replace('name = "count"', 'name = "count"\niterations = 5')
    campaign = load_text(tmp_path, text)
    assert campaign.workloads[0].iterations == 5
    assert kept_and_read(campaign) == campaign
    trials = plan_trials(campaign, 1)
    assert {len(trial.run_options) for trial in trials} == {5}
    plan = fits(campaign, trials, kinds=KINDS)
    assert plan.expected_s == pytest.approx(len(trials) * (5 * 10 + NODE_ALLOWANCE_S))


@pytest.mark.parametrize("count", ["0", "1001", "2.0"])
def test_a_count_of_iterations_that_is_none_is_refused(tmp_path: Path, count: str) -> None:
    text = ORDER.replace('name = "count"', f'name = "count"\niterations = {count}', 1)
    assert "iterations" in problem(tmp_path, text)


def test_each_ordering_follows_itself_as_often_as_each_other(tmp_path: Path) -> None:
    """What a series leaves behind hits the next one, whatever its ordering."""
    campaign = load_text(tmp_path, ALONE)
    followed: Counter[tuple[Ordering, Ordering]] = Counter()
    for seed in range(200):
        orderings = [trial.series.ordering for trial in plan_trials(campaign, seed) if trial.series]
        followed.update(pairwise(orderings))
    expected = sum(followed.values()) / len(Ordering) ** 2
    assert len(followed) == len(Ordering) ** 2
    assert all(abs(count - expected) < 5 * expected**0.5 for count in followed.values())
