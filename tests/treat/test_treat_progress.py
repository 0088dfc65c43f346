# SPDX-License-Identifier: Apache-2.0


from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.calibrate.outcomes import outcome, outcomes_of
from tests.report.report_example import example

from tare.analyze import diagnosed, verdicts, with_order_warnings
from tare.calibrate.bench import WORK
from tare.records import Check, Outcome, Status, TurnsTaken, Way
from tare.treat import blocks_out_of_order, predecessors, summaries


def outcomes() -> tuple[Outcome, ...]:
    return example(blocks=3, environments=("docker", "lxc"), losing=False).outcomes


def by_slot(given: tuple[Outcome, ...], block: int) -> list[str]:
    own = sorted(
        (outcome for outcome in given if outcome.trial.block == block), key=lambda outcome: outcome.trial.slot
    )
    return [outcome.trial.environment.name for outcome in own]


def test_each_trial_follows_the_run_before_it_in_whichever_block() -> None:
    given = outcomes()
    names = [name for block in (1, 2, 3) for name in by_slot(given, block)]
    for order in predecessors(given):
        assert sorted(order.before) == [1, 2, 3]
        for block, before in order.before.items():
            place = names.index(order.environment, (block - 1) * len(names) // 3)
            assert before == (names[place - 1] if place else "nothing")


def test_the_run_before_may_be_of_another_cell() -> None:
    first, last = outcome("a", 0, at_s=0, wall_s=1.0), outcome("a", 0, at_s=9, wall_s=1.0)
    other = replace(last, trial=replace(last.trial, workload=replace(last.trial.workload, name="other")))
    befores = {order.cell.workload: order.before for order in predecessors([other, first])}
    assert befores == {first.trial.workload.name: {0: "nothing"}, "other": {0: "a"}}


def test_whoever_took_turns_is_before_nothing_and_after_nothing() -> None:
    turns = TurnsTaken(way=Way.SLICES, together="1", arms=1, turns=9)
    made = [outcome("a", block, at_s=block, wall_s=1.0) for block in range(4)]
    made[1] = replace(made[1], turns=turns)
    (order,) = predecessors(made)
    assert order.before == {0: "nothing", 1: "nothing", 2: "nothing", 3: "a"}


def test_each_host_has_predecessors_of_its_own() -> None:
    made = [
        outcome(name, block, at_s=2 * block + place, wall_s=1.0)
        for block in range(2)
        for place, name in enumerate(("a", "b"))
    ]
    on_hosts = [
        replace(each, trial=replace(each.trial, hosts=(each.trial.environment.name,))) for each in made
    ]
    assert [order.before for order in predecessors(on_hosts)] == [{0: "nothing", 1: name} for name in "ab"]


def test_an_after_effect_of_the_last_block_is_seen() -> None:
    """Each block begins with the arm that ended the last one, which before counted as nothing."""
    source = np.random.default_rng(1)
    names = ["native", "a", "native", "b"]
    made, last = [], ""
    for block in range(40):
        order = sorted(source.permutation(4).tolist(), key=lambda place: names[place] != last)
        for slot, place in enumerate(order):
            late = 0.2 if last == "a" else 0.0
            wall_s = float(np.exp(source.normal(0, 0.01) + late))
            made.append(
                outcome(names[place], block, int(place == 2), slot=slot, at_s=9 * block + slot, wall_s=wall_s)
            )
            last = names[place]
    judged = diagnosed(verdicts(summaries(made, {WORK: ("wall_s",)}), 0.01), predecessors(made))
    checks = {
        each.overhead.summary.environment: [own.check for own in each.findings if own.found]
        for each in judged
    }
    assert all(Check.CARRY_OVER in own for own in checks.values())


def test_native_has_no_predecessors_of_its_own() -> None:
    assert {order.environment for order in predecessors(outcomes())} == {"docker", "lxc"}


def test_a_trial_that_failed_ran_all_the_same() -> None:
    given = outcomes()
    failed = tuple(replace(outcome, status=Status.FAILED) for outcome in given)
    assert predecessors(failed) == predecessors(given)


def test_the_order_of_the_journal_does_not_matter() -> None:
    assert predecessors(outcomes()[::-1]) == predecessors(outcomes())


@given(st.integers(1, 6), st.integers(1, 4), st.randoms(use_true_random=False))
def test_block_after_block_is_in_order_whatever_the_order_within(
    blocks: int, arms: int, source: object
) -> None:
    names = [f"arm-{number}" for number in range(arms)]
    order = [(name, block) for block in range(blocks) for name in source.sample(names, arms)]  # type: ignore[attr-defined]
    made = [outcome(name, block, at_s=place, wall_s=1.0) for place, (name, block) in enumerate(order)]
    source.shuffle(made)  # type: ignore[attr-defined]
    assert blocks_out_of_order(made) == ()


def test_a_trial_of_another_block_in_between_is_told_with_both_blocks() -> None:
    order = [("a", 0), ("a", 1), ("b", 0), ("b", 1), ("a", 2), ("b", 2)]
    made = [outcome(name, block, at_s=place, wall_s=1.0) for place, (name, block) in enumerate(order)]
    assert [block for _, block in blocks_out_of_order(made)] == [0, 1]


def test_trials_of_other_cells_may_lie_in_between() -> None:
    made = [outcome("a", block, at_s=10 * block, wall_s=1.0) for block in (0, 1)]
    made += [outcome("b", block, at_s=10 * block + 5, wall_s=1.0) for block in (0, 1)]
    other = replace(made[0].trial.workload, name="other")
    beside = [replace(item, trial=replace(item.trial, workload=other, block=9)) for item in made]
    assert blocks_out_of_order((*made, *beside[1:2])) == ()


def test_a_verdict_says_how_many_of_its_blocks_were_torn_apart() -> None:
    made = outcomes_of({"a": 0.1}, blocks=6, source=np.random.default_rng(1))
    judged = verdicts(summaries(made, {"work": ("wall_s",)}), 0.01)
    cell = judged[0].overhead.summary.cell
    assert with_order_warnings(judged, ()) == judged
    assert "a block was not run together" in with_order_warnings(judged, [(cell, 3)])[0].warnings[-1]
    assert "2 blocks were not" in with_order_warnings(judged, [(cell, 3), (cell, 4)])[0].warnings[-1]
