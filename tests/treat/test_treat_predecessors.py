# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

from tests.report.report_example import example

from tare.records import Outcome, Status
from tare.treat import predecessors


def outcomes() -> tuple[Outcome, ...]:
    return example(blocks=3, environments=("docker", "lxc"), losing=False).outcomes


def by_slot(given: tuple[Outcome, ...], block: int) -> list[str]:
    own = sorted(
        (outcome for outcome in given if outcome.trial.block == block), key=lambda outcome: outcome.trial.slot
    )
    return [outcome.trial.environment.name for outcome in own]


def test_each_trial_follows_the_one_in_the_slot_before() -> None:
    given = outcomes()
    for order in predecessors(given):
        for block, before in order.before.items():
            names = by_slot(given, block)
            place = names.index(order.environment)
            assert before == (names[place - 1] if place else "nothing")


def test_native_has_no_predecessors_of_its_own() -> None:
    assert {order.environment for order in predecessors(outcomes())} == {"docker", "lxc"}


def test_a_trial_that_failed_ran_all_the_same() -> None:
    given = outcomes()
    failed = tuple(replace(outcome, status=Status.FAILED) for outcome in given)
    assert predecessors(failed) == predecessors(given)


def test_the_order_of_the_journal_does_not_matter() -> None:
    assert predecessors(outcomes()[::-1]) == predecessors(outcomes())
