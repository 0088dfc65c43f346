# SPDX-License-Identifier: Apache-2.0
"""The search for a number of neighbours ends at the true one, and says only what its blocks show."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sharing_example import PRIMARY, Planted, cells, sharing_outcomes

from tare.analyze import sharing_losses
from tare.analyze.capacity import answered, most_tests, next_count, step_of
from tare.records import Capacity, CapacityStep, Ruling, SharingLoss, Withheld
from tare.treat import sharing_summaries

MOST = st.integers(1, 200)


def searched(most: int, ruling_of: Callable[[int], Ruling]) -> dict[int, Ruling]:
    rulings: dict[int, Ruling] = {}
    while (count := next_count(rulings, most)) is not None:
        assert 1 <= count <= most
        assert count not in rulings
        rulings[count] = ruling_of(count)
    return rulings


def capacity_of(rulings: dict[int, Ruling], most: int) -> Capacity:
    steps = [CapacityStep(neighbours=count, loss=None, ruling=ruling) for count, ruling in rulings.items()]
    return answered("docker", 0.1, most, steps)


@given(MOST, st.data())
def test_halving_ends_at_the_true_number_within_its_number_of_tests(most: int, data: st.DataObject) -> None:
    true = data.draw(st.integers(0, most))
    rulings = searched(most, lambda count: Ruling.KEPT if count <= true else Ruling.EXCEEDED)
    capacity = capacity_of(rulings, most)
    assert capacity.fits == true
    assert capacity.exceeds == (true + 1 if true < most else None)
    assert len(rulings) <= most_tests(most, 1)


@given(MOST, st.data())
def test_what_stays_undecided_lies_between_the_ends(most: int, data: st.DataObject) -> None:
    low = data.draw(st.integers(0, most))
    high = data.draw(st.integers(low + 1, most + 1))

    def ruling(count: int) -> Ruling:
        return Ruling.KEPT if count <= low else Ruling.EXCEEDED if count >= high else Ruling.UNDECIDED

    rulings = searched(most, ruling)
    capacity = capacity_of(rulings, most)
    assert capacity.fits == low
    assert capacity.exceeds == (high if high <= most else None)
    assert len(rulings) <= most_tests(most, 1)


def loss_of(planted: float, blocks: int = 10) -> SharingLoss:
    outcomes = sharing_outcomes({"native": Planted(loss=planted)}, blocks=blocks, noise=0.01)
    (loss,) = sharing_losses(sharing_summaries(outcomes, [cells("1c2p2i")], PRIMARY), margin=0.01)[:1]
    return loss


@pytest.mark.parametrize(
    ("planted", "ruling"), [(0.04, Ruling.KEPT), (0.2, Ruling.EXCEEDED), (0.1, Ruling.UNDECIDED)]
)
def test_a_planted_loss_is_on_its_side_of_the_limit_with_the_error_of_all_tests(
    planted: float, ruling: Ruling
) -> None:
    step = step_of(loss_of(planted), 2, 0.1, tests=12, looks=(10, 20))
    assert step.ruling is ruling
    assert step.loss is not None
    assert step.loss.level >= 1 - 0.05 / 12
    assert step.loss.n == 10


def test_a_later_look_does_not_change_what_an_earlier_one_decided() -> None:
    step = step_of(loss_of(0.04, blocks=20), 2, 0.1, tests=12, looks=(10, 20))
    assert step.loss is not None
    assert step.loss.n == 10


def test_a_lost_block_counts_at_its_look_so_that_more_blocks_change_nothing() -> None:
    loss = loss_of(0.04, blocks=20)
    summary = loss.summary
    kept = [place for place, block in enumerate(summary.blocks) if block != 5]
    lacking = replace(
        loss,
        summary=replace(
            summary,
            blocks=tuple(summary.blocks[place] for place in kept),
            log_losses=tuple(summary.log_losses[place] for place in kept),
        ),
    )
    step = step_of(lacking, 2, 0.1, tests=12, looks=(10, 20))
    assert step.loss is not None
    assert step.loss.n == 9


def test_a_number_above_one_that_is_too_much_does_not_fit_whatever_chance_says() -> None:
    rulings = {2: Ruling.EXCEEDED, 5: Ruling.KEPT}
    assert next_count(rulings, 9) == 1
    assert capacity_of({**rulings, 1: Ruling.KEPT}, 9).fits == 1
    assert capacity_of({**rulings, 1: Ruling.KEPT}, 9).sentence.startswith("1 neighbour fits: one more costs")


def test_where_trials_fail_the_answer_says_what_is_shown_and_why_there_is_no_more() -> None:
    lost = CapacityStep(neighbours=4, loss=None, ruling=Ruling.UNDECIDED, lost="out of memory")
    kept = CapacityStep(neighbours=2, loss=None, ruling=Ruling.KEPT)
    assert answered("docker", 0.1, 7, [kept, lost]).sentence == (
        "2 neighbours or more fit before the loss exceeds 10 %; no block with 4 neighbours is whole: out of memory"
    )
    assert answered("docker", 0.1, 7, [lost]).sentence == "no block with 4 neighbours is whole: out of memory"


def test_what_was_decided_is_said_although_the_host_became_busy() -> None:
    busy = CapacityStep(neighbours=4, loss=None, ruling=Ruling.UNDECIDED, withheld=True)
    steps = [CapacityStep(neighbours=1, loss=None, ruling=Ruling.EXCEEDED), busy]
    assert answered("docker", 0.1, 7, steps).sentence == "no neighbour fits: the first costs more than 10 %"


def test_twelve_blocks_reach_the_error_of_each_test_among_the_most_neighbours() -> None:
    assert 0.05 / most_tests(200, 3) >= 2 ** (1 - 12)


def test_a_busy_host_and_a_result_without_blocks_decide_nothing() -> None:
    busy = step_of(replace(loss_of(0.04), withheld=Withheld.BUSY), 2, 0.1, tests=12, looks=(10,))
    assert (busy.ruling, busy.withheld) == (Ruling.UNDECIDED, True)
    assert "too busy" in answered("docker", 0.1, 4, [busy]).sentence
    assert step_of(None, 2, 0.1, tests=12, looks=(10,)).loss is None


@pytest.mark.parametrize(
    ("rulings", "sentence"),
    [
        ({1: Ruling.KEPT, 2: Ruling.EXCEEDED}, "1 neighbour fits: one more costs more than 10 %"),
        ({1: Ruling.EXCEEDED}, "no neighbour fits: the first costs more than 10 %"),
        ({4: Ruling.KEPT}, "4 neighbours, the most that were tried, cost at most 10 %"),
        (
            {1: Ruling.KEPT, 2: Ruling.UNDECIDED, 3: Ruling.EXCEEDED},
            "1 to 2 neighbours fit before the loss exceeds 10 %; undecided between",
        ),
        ({2: Ruling.UNDECIDED}, "undecided whether any neighbour fits"),
    ],
)
def test_the_answer_says_what_is_shown(rulings: dict[int, Ruling], sentence: str) -> None:
    assert capacity_of(rulings, 4).sentence == sentence
