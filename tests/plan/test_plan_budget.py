# SPDX-License-Identifier: Apache-2.0
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.plan.budget import BudgetPlan, blocks_for, fits, half_width, least_blocks, next_block_fits
from tare.plan.campaign import Campaign
from tare.plan.durations import NODE_ALLOWANCE_S, trial_durations_s
from tare.plan.trials import plan_block, plan_trials
from tare.records import (
    Environment,
    Layout,
    Limits,
    OptionValue,
    Outcome,
    Status,
    Trial,
    Turns,
    Way,
    Workload,
)
from tests.plan.plan_example import KINDS, outcome


def campaign(blocks: int = 10, **options: OptionValue) -> Campaign:
    return Campaign(
        name="test",
        environments=(Environment(name="docker", technology="docker"),),
        layouts=(Layout(nodes=1, processors=1, instances=1),),
        workloads=(Workload(name="count", kind="count", options={"steps": 4} | options),),
        limits=Limits(memory_byte=2**30, shm_byte=2**20),
        blocks=blocks,
        margin=0.01,
        budget_s=None,
        seed=None,
    )


def plan(
    asked: Campaign, budget_s: float | None, outcomes: Sequence[Outcome] = ()
) -> tuple[BudgetPlan, tuple[Trial, ...]]:
    trials = plan_trials(asked, 1)
    return fits(asked, trials, outcomes, budget_s, KINDS), trials


BLOCK_S = 3 * (4 + NODE_ALLOWANCE_S)


def test_a_budget_that_holds_all_says_so() -> None:
    budget_plan, _ = plan(campaign(), 600)
    assert budget_plan.expected_s == pytest.approx(10 * BLOCK_S)
    assert budget_plan.fitting_blocks == 10
    assert (
        budget_plan.sentence == "30 trials in 10 blocks, about 2 min 9 s; the budget of 10 min holds them all"
    )
    assert budget_plan.warnings == ()


def test_a_short_budget_leaves_out_whole_blocks() -> None:
    budget_plan, _ = plan(campaign(), 7.5 * BLOCK_S)
    assert budget_plan.fitting_blocks == 7
    assert "holds about 7 of 10 blocks; the rest will be left out as whole blocks" in budget_plan.sentence
    assert budget_plan.warnings == ()


@pytest.mark.parametrize(("blocks", "words"), [(1, "1 block gives"), (5, "5 blocks give")])
def test_fewer_than_six_blocks_are_warned_of(blocks: int, words: str) -> None:
    rest = "no 95 % interval, which takes 6"
    budget_plan, _ = plan(campaign(), (blocks + 0.5) * BLOCK_S)
    assert budget_plan.warnings == (f"{words} {rest}: raise the budget",)
    budget_plan, _ = plan(campaign(blocks), None)
    assert budget_plan.warnings == (f"{words} {rest}: ask for more blocks",)
    budget_plan, _ = plan(campaign(blocks, known=False), 60)
    assert budget_plan.warnings == (f"{words} {rest}: ask for more blocks",)


def test_six_blocks_are_enough_for_no_warning() -> None:
    assert plan(campaign(6), None)[0].warnings == ()


@pytest.mark.parametrize(("claims", "least"), [(1, 6), (2, 6), (6, 6), (25, 7), (128, 8)])
def test_blocks_that_can_show_nothing_of_many_claims_are_warned_of(claims: int, least: int) -> None:
    assert least == 6 or 2 / 3**least <= 0.05 / claims < 2 / 3 ** (least - 1)
    assert least_blocks(claims) == least
    result = campaign(least - 1)
    names = [f"e{number}" for number in range(claims)]
    several = replace(
        result, environments=tuple(replace(result.environments[0], name=name) for name in names)
    )
    budget_plan, _ = plan(several, None)
    assert len(budget_plan.warnings) == 1
    assert str(least) in budget_plan.warnings[0]
    budget_plan, _ = plan(replace(several, blocks=least), None)
    assert budget_plan.warnings == ()


def test_a_budget_below_one_block_is_warned_of() -> None:
    budget_plan, _ = plan(campaign(), 1.0)
    assert budget_plan.fitting_blocks == 0
    assert budget_plan.warnings == (
        "not even one block fits: it takes about 13 s, the budget is 1 s; raise it",
    )


def test_a_used_up_budget_is_said() -> None:
    budget_plan, _ = plan(campaign(), 0.0)
    assert budget_plan.sentence.endswith("; the budget is used up")
    assert budget_plan.warnings == ("not even one block fits: the budget is used up; raise it",)


def test_an_unknown_run_time_is_said() -> None:
    budget_plan, _ = plan(campaign(known=False), 600)
    assert (budget_plan.expected_s, budget_plan.fitting_blocks) == (None, None)
    assert "the run time of 'count' is unknown: the first block will tell" in budget_plan.sentence


def test_without_a_budget_everything_fits() -> None:
    budget_plan, _ = plan(campaign(), None)
    assert budget_plan.fitting_blocks == 10
    assert "budget" not in budget_plan.sentence


def test_measured_times_replace_the_guess() -> None:
    asked = campaign(known=False)
    first = [outcome(trial, 2.0) for trial in plan_block(asked, 1, 0)]
    budget_plan, _ = plan(asked, 60, first)
    assert (budget_plan.left_trials, budget_plan.left_blocks) == (27, 9)
    assert budget_plan.expected_s == pytest.approx(27 * 2.0)
    assert budget_plan.sentence.startswith("27 of 30 trials in 9 blocks, about 54 s; ")
    assert budget_plan.final_blocks == 10


def test_one_slow_run_does_not_move_the_median() -> None:
    asked = campaign()
    times = [2.0, 2.0, 90.0]
    seen = [outcome(trial, times[block]) for block in range(3) for trial in plan_block(asked, 1, block)]
    assert plan(asked, None, seen)[0].expected_s == pytest.approx(21 * 2.0)


def test_an_arm_that_has_not_run_takes_its_cells_time() -> None:
    asked = campaign(known=False)
    block = plan_block(asked, 1, 0)
    seen = [outcome(trial, 3.0) for trial in block if trial.environment.name == "native"]
    assert trial_durations_s(block, seen, max, KINDS) == [3.0, 3.0, 3.0]


def test_a_finished_campaign_has_nothing_left() -> None:
    asked = campaign()
    budget_plan, _ = plan(asked, 5.0, [outcome(trial, 1.0) for trial in plan_trials(asked, 1)])
    assert budget_plan.sentence == "all 30 trials are done"
    assert budget_plan.warnings == ()


def test_a_failed_trial_counts_as_run() -> None:
    asked = campaign(1)
    failed = [outcome(trial, 1.0, Status.FAILED) for trial in plan_trials(asked, 1)]
    assert plan(asked, None, failed)[0].left_trials == 0


def test_a_block_starts_only_if_its_slowest_fits() -> None:
    asked = campaign()
    times = [2.0, 5.0]
    seen = [outcome(trial, times[block]) for block in range(2) for trial in plan_block(asked, 1, block)]
    block = plan_block(asked, 1, 2)
    assert next_block_fits(block, seen, 3 * 5.0 * 1.1 + 0.01, KINDS)
    assert not next_block_fits(block, seen, 3 * 5.0 * 1.1 - 0.01, KINDS)
    assert next_block_fits(block, seen, None, KINDS)


def test_an_unknown_first_block_starts_while_time_is_left() -> None:
    block = plan_block(campaign(known=False), 1, 0)
    assert next_block_fits(block, [], 0.5, KINDS)
    assert not next_block_fits(block, [], 0.0, KINDS)


@given(st.lists(st.floats(0.5, 1.1), min_size=9, max_size=9), st.floats(30, 3000))
def test_a_budget_is_kept_while_no_block_is_a_tenth_slower_than_any_before(
    changes: list[float], budget_s: float
) -> None:
    asked = campaign(known=False)
    seen: list[Outcome] = []
    left_s, slowest_s = budget_s, 10.0
    for number, change in enumerate([1.0, *changes]):
        block = plan_block(asked, 1, number)
        if not next_block_fits(block, seen, left_s, KINDS):
            break
        trial_s = slowest_s * change
        slowest_s = max(slowest_s, trial_s)
        seen += [outcome(trial, trial_s) for trial in block]
        left_s -= len(block) * trial_s
    assert seen
    assert left_s >= -1e-9


@given(st.integers(1, 12), st.floats(1, 1000), st.floats(1, 1000))
def test_a_larger_budget_never_holds_less(blocks: int, budget_s: float, more_s: float) -> None:
    asked = campaign(blocks)
    smaller, larger = plan(asked, budget_s)[0], plan(asked, budget_s + more_s)[0]
    assert smaller.fitting_blocks is not None
    assert larger.fitting_blocks is not None
    assert smaller.fitting_blocks <= larger.fitting_blocks <= blocks


@pytest.mark.parametrize(("variation", "blocks"), [(0.01, 10), (0.03, 72), (0.1, 771)])
def test_blocks_for_one_percent_follow_the_formula(variation: float, blocks: int) -> None:
    assert abs(blocks_for(0.01, variation) - blocks) <= 1


@given(st.integers(6, 1000), st.floats(0.001, 0.5))
def test_the_half_width_is_reached_by_its_own_number_of_blocks(blocks: int, variation: float) -> None:
    width = half_width(blocks, variation)
    assert width is not None
    assert blocks_for(width * 1.000001, variation) == blocks


def test_too_few_blocks_have_no_half_width() -> None:
    assert half_width(5, 0.01) is None


def test_the_plan_tells_what_its_blocks_can_decide_at_three_levels_of_noise() -> None:
    precisions = plan(campaign(), None)[0].precision
    assert [entry.variation for entry in precisions] == [0.01, 0.03, 0.1]
    assert [entry.half_width for entry in precisions] == pytest.approx([0.0098, 0.0294, 0.098], rel=0.01)
    assert [entry.blocks_for_margin for entry in precisions] == [10, 72, 771]


def test_a_budget_for_few_blocks_tells_of_those_blocks_alone() -> None:
    budget_plan = plan(campaign(), 5.5 * BLOCK_S)[0]
    assert [entry.half_width for entry in budget_plan.precision] == [None, None, None]


def test_the_first_block_of_turns_is_estimated_with_one_start_of_each_arms_nodes() -> None:
    turned = [Workload(name=name, kind="fake", options={"slices": True}, way=Way.SLICES) for name in "ab"]
    asked = replace(campaign(), workloads=tuple(turned), turns=Turns())
    value, two = (
        trial_durations_s(plan_block(replace(asked, workloads=tuple(turned[:count])), 1, 0), ())
        for count in (1, 2)
    )
    slices_s = min(two)  # type: ignore[type-var]
    assert slices_s is not None
    assert sum(filter(None, value)) == pytest.approx(3 * (slices_s + NODE_ALLOWANCE_S))
    assert sum(filter(None, two)) == pytest.approx(3 * (2 * slices_s + NODE_ALLOWANCE_S))
