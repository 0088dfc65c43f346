# SPDX-License-Identifier: Apache-2.0
"""Trials that rules took out: what goes with them, and who is told to have lost how many."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.treat.test_treat_pairing import DOCKER, NATIVE, NO_OP, PRIMARY, outcome, time

from tare.records import BLAS, PROGRAM, Outcome, Rule, Status
from tare.treat import exclusions, summaries, unlike

HOST = [Rule.FOREIGN_LOAD, Rule.FREQUENCY]


def block(number: int) -> list[Outcome]:
    return [
        outcome(NATIVE, number, [time(1.0)]),
        outcome(NATIVE, number, [time(1.0)], replicate=1),
        outcome(DOCKER, number, [time(1.1)]),
        outcome(NO_OP, number, [time(1.0)]),
    ]


def taken_out(outcomes: Sequence[Outcome], place: int, rule: Rule) -> list[Outcome]:
    result = list(outcomes)
    result[place] = replace(result[place], status=Status.INVALID, reason="planted", excluded_by=rule)
    return result


def kept(outcomes: Sequence[Outcome]) -> dict[str, list[int]]:
    return {
        summary.environment: [value.block for value in summary.blocks]
        for summary in summaries(outcomes, PRIMARY)
    }


@pytest.mark.parametrize("rule", HOST)
@pytest.mark.parametrize("place", range(4))
def test_a_disturbed_host_takes_the_whole_block_from_every_environment(rule: Rule, place: int) -> None:
    outcomes = taken_out([*block(0), *block(1)], place, rule)
    assert kept(outcomes) == {"docker": [1], "no-op": [1]}
    assert {summary.dropped_blocks for summary in summaries(outcomes, PRIMARY)} == {1}


def test_a_wrong_clock_takes_its_own_environments_block_alone() -> None:
    outcomes = taken_out([*block(0), *block(1)], 2, Rule.CLOCK)
    assert kept(outcomes) == {"docker": [1], "no-op": [0, 1]}


def test_another_cell_of_the_block_is_not_disturbed() -> None:
    other = [
        replace(item, trial=replace(item.trial, identity=f"o-{item.trial.identity}", workload=workload))
        for item in block(0)
        for workload in [replace(item.trial.workload, name="other")]
    ]
    result = summaries([*taken_out(block(0), 0, Rule.FOREIGN_LOAD), *other], {})
    assert {(summary.cell.workload, len(summary.blocks)) for summary in result} == {("other", 1)}


@given(st.sets(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=12))
def test_what_is_left_is_as_if_disturbed_blocks_had_never_been(disturbed: set[tuple[int, int]]) -> None:
    blocks = {number: block(number) for number in range(6)}
    for number, place in disturbed:
        blocks[number] = taken_out(blocks[number], place, Rule.FOREIGN_LOAD)
    undisturbed = [number for number in blocks if number not in {value for value, _ in disturbed}]
    whole = summaries([item for outcomes in blocks.values() for item in outcomes], PRIMARY)
    left = summaries([item for number in undisturbed for item in blocks[number]], PRIMARY)
    if left:
        assert [summary.log_ratios for summary in whole] == [summary.log_ratios for summary in left]
    assert all(summary.dropped_blocks == 6 - len(undisturbed) for summary in whole)


def test_losses_are_counted_by_environment_and_rule() -> None:
    outcomes = [*taken_out(block(0), 1, Rule.FOREIGN_LOAD), *taken_out(block(1), 2, Rule.CLOCK)]
    result = {exclusion.environment: exclusion for exclusion in exclusions(outcomes)}
    assert (result["native"].trials, result["native"].excluded) == (4, {Rule.FOREIGN_LOAD: 1})
    assert result["native"].share == pytest.approx(0.25)
    assert result["docker"].excluded == {Rule.CLOCK: 1}
    assert (result["no-op"].excluded, result["no-op"].share) == ({}, 0.0)


def test_a_failed_trial_was_not_taken_out_by_a_rule() -> None:
    failed = [replace(block(0)[0], status=Status.FAILED, reason="planted")]
    assert [exclusion.excluded for exclusion in exclusions(failed)] == [{}]


def told(fact: str, *values: str | None) -> list[Outcome]:
    """A block whose four trials tell these values of a fact."""
    return [
        result if value is None else replace(result, facts={fact: value})
        for result, value in zip(block(0), values, strict=True)
    ]


@pytest.mark.parametrize("fact", [PROGRAM, BLAS])
def test_an_environment_with_another_program_or_code_path_is_named(fact: str) -> None:
    (value,) = unlike(told(fact, "a", "a", "b", "a"))
    assert (value.environment, value.fact, value.native, value.here) == ("docker", fact, "a", "b")


@pytest.mark.parametrize(
    "values", [("a", "a", "a", "a"), ("a", "a", "not known: no sha256sum", None), (None, None, "b", "c")]
)
def test_what_is_alike_or_not_known_is_no_difference(values: tuple[str | None, ...]) -> None:
    assert unlike(told(PROGRAM, *values)) == ()


def test_other_facts_may_differ() -> None:
    assert unlike(told("storage driver", "a", "a", "b", "c")) == ()
