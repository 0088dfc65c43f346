# SPDX-License-Identifier: Apache-2.0
import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import groupby, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.errors import JournalError
from tare.plan.campaign import Campaign
from tare.plan.source import preset_names
from tare.plan.succession import Succession
from tare.plan.trials import cells_of, plan_block, plan_trials, refuse_misnamed, trial_identity
from tare.records import NATIVE, Environment, HostLoad, Layout, Limits, NamedHost, Trial, Way, Workload
from tests.plan.preset_hosts import resolved_preset

SEEDS = st.integers(min_value=0, max_value=2**63 - 1)


def campaign(environments: int = 3, layouts: int = 2, workloads: int = 2, blocks: int = 5) -> Campaign:
    return Campaign(
        name="test",
        environments=tuple(
            Environment(name=f"e{index}", technology="docker") for index in range(environments)
        ),
        layouts=tuple(Layout(nodes=1, processors=index + 1, instances=1) for index in range(layouts)),
        workloads=tuple(Workload(name=f"w{index}", kind="command") for index in range(workloads)),
        limits=Limits(memory_byte=2**30, shm_byte=2**20),
        blocks=blocks,
        margin=0.01,
        budget_s=None,
        seed=None,
    )


CAMPAIGNS = st.builds(
    campaign,
    environments=st.integers(1, 5),
    layouts=st.integers(1, 3),
    workloads=st.integers(1, 3),
    blocks=st.integers(1, 6),
)


@given(CAMPAIGNS, SEEDS)
def test_each_arm_stands_once_in_each_cell_of_each_block(asked: Campaign, seed: int) -> None:
    counter = Counter(
        (trial.block, trial.workload.name, str(trial.layout), trial.environment.name, trial.replicate)
        for trial in plan_trials(asked, seed)
    )
    arms = [(NATIVE, 0), (NATIVE, 1), *((environment.name, 0) for environment in asked.environments)]
    expected = {
        (block, workload.name, str(layout), *arm)
        for block in range(asked.blocks)
        for workload in asked.workloads
        for layout in asked.layouts
        for arm in arms
    }
    assert set(counter) == expected
    assert set(counter.values()) == {1}


@given(CAMPAIGNS, SEEDS)
def test_the_same_seed_gives_the_same_plan(asked: Campaign, seed: int) -> None:
    assert plan_trials(asked, seed) == plan_trials(asked, seed)


@given(CAMPAIGNS, SEEDS, st.integers(1, 6))
def test_a_block_does_not_depend_on_how_many_there_are(asked: Campaign, seed: int, more: int) -> None:
    longer = dataclasses.replace(asked, blocks=asked.blocks + more)
    trials = plan_trials(asked, seed)
    assert plan_trials(longer, seed)[: len(trials)] == trials


@given(CAMPAIGNS, SEEDS)
def test_the_order_in_the_file_makes_no_difference(asked: Campaign, seed: int) -> None:
    turned = dataclasses.replace(
        asked,
        environments=asked.environments[::-1],
        layouts=asked.layouts[::-1],
        workloads=asked.workloads[::-1],
    )
    assert plan_trials(turned, seed) == plan_trials(asked, seed)


@given(CAMPAIGNS, SEEDS, SEEDS)
def test_what_is_run_is_named_alike_whatever_the_order(asked: Campaign, seed: int, other: int) -> None:
    first = {trial.identity for trial in plan_trials(asked, seed)}
    assert first == {trial.identity for trial in plan_trials(asked, other)}
    assert len(first) == len(plan_trials(asked, seed))


@given(CAMPAIGNS, SEEDS)
def test_slots_count_through_the_block_and_cells_stay_together(asked: Campaign, seed: int) -> None:
    block = plan_block(asked, seed, 0)
    assert [trial.slot for trial in block] == list(range(len(block)))
    cells = [(trial.workload.name, str(trial.layout)) for trial in block]
    changes = sum(before != after for before, after in pairwise(cells))
    assert changes + 1 == len(set(cells))


def test_an_identity_says_what_is_run() -> None:
    assert trial_identity(3, "hpcc", "1c2p1i", "docker", 0) == "b003-hpcc-1c2p1i-docker-0"


def test_the_order_of_a_begun_campaign_never_changes() -> None:
    """A begun result is continued by planning again: another order would mix two designs."""
    own = campaign(2, 1, 1)
    assert [trial.identity for block in (3, 4) for trial in plan_block(own, 42, block)] == [
        "b003-w0-1c1p1i-e1-0",
        "b003-w0-1c1p1i-e0-0",
        "b003-w0-1c1p1i-native-1",
        "b003-w0-1c1p1i-native-0",
        "b004-w0-1c1p1i-native-0",
        "b004-w0-1c1p1i-e0-0",
        "b004-w0-1c1p1i-e1-0",
        "b004-w0-1c1p1i-native-1",
    ]


def arms_of(trials: Iterable[Trial]) -> list[tuple[str, int]]:
    return [(trial.environment.name, trial.replicate) for trial in trials]


@given(CAMPAIGNS, SEEDS)
def test_each_cell_begins_with_the_arm_that_ended_the_last_one(asked: Campaign, seed: int) -> None:
    cells = [arms_of(cell) for cell in cells_of(plan_trials(asked, seed))]
    assert len(cells) == len(asked.cells) * asked.blocks
    assert all(before[-1] == after[0] for before, after in pairwise(cells))


@pytest.mark.parametrize(("environments", "layouts"), [(1, 1), (2, 1), (4, 1), (2, 3)])
def test_every_arm_follows_every_arm_itself_included_equally_often(environments: int, layouts: int) -> None:
    """What one arm leaves behind hits all arms alike."""
    asked = campaign(environments, layouts, workloads=1, blocks=1500)
    followed = Counter(pairwise(arms_of(plan_trials(asked, 3))))
    arms = environments + 2
    expected = asked.blocks * layouts / arms
    assert len(followed) == arms**2
    assert all(abs(count - expected) < 5 * expected**0.5 for count in followed.values())


def turning(blocks: int) -> Campaign:
    own = campaign(environments=2, layouts=2, workloads=4, blocks=blocks)
    ways = {"w0": Way.SLICES, "w1": Way.FREEZER}
    workloads = tuple(
        dataclasses.replace(workload, way=ways.get(workload.name, Way.WHOLE)) for workload in own.workloads
    )
    return dataclasses.replace(own, workloads=workloads)


@given(SEEDS)
def test_whole_runs_stay_together_before_or_after_what_takes_turns(seed: int) -> None:
    """Else what takes turns would come between an arm and itself."""
    asked = turning(blocks=6)
    ways = [trial.turns is None for trial in plan_trials(asked, seed)]
    assert [whole for whole, _ in groupby(ways)] == [False, True, False, True, False, True, False]
    whole = [arms_of(cell) for cell in cells_of(plan_trials(asked, seed)) if cell[0].turns is None]
    assert all(before[-1] == after[0] for before, after in pairwise(whole))


def test_each_host_has_a_chain_of_its_own() -> None:
    hosts = tuple(NamedHost(name=name) for name in ("a", "b"))
    asked = dataclasses.replace(campaign(2, 1, 2, blocks=30), hosts=hosts)
    ended: dict[tuple[str, ...], tuple[str, int]] = {}
    for cell in cells_of(plan_trials(asked, 1)):
        arms = arms_of(cell)
        assert ended.get(cell[0].hosts, arms[0]) == arms[0]
        ended[cell[0].hosts] = arms[-1]
    assert len(ended) == 2


@given(st.permutations(range(4)), st.integers(0, 3))
def test_what_is_left_of_a_plan_is_chained_again_in_the_same_slots(order: list[int], gone: int) -> None:
    """An arm that stopped at a look breaks no chain."""
    asked = campaign(2, 1, 1, blocks=8)
    left = [
        [trial for trial in cell if arms_of([trial])[0] != arms_of(plan_block(asked, 1, 0))[gone]]
        for cell in cells_of(plan_trials(asked, sum(order)))
    ]
    succession = Succession()
    chained = [succession.of(cell) for cell in left]
    assert all(arms_of(before)[-1] == arms_of(after)[0] for before, after in pairwise(chained))
    for before, after in zip(left, chained, strict=True):
        assert [trial.slot for trial in before] == [trial.slot for trial in after]
        assert sorted(arms_of(before)) == sorted(arms_of(after))


def test_after_something_else_a_cell_keeps_its_own_order() -> None:
    first, second = (list(plan_block(campaign(3, 1, 1), 5, block)) for block in (0, 3))
    succession = Succession()
    succession.of(first)
    succession.end()
    assert succession.of(second) == second


def test_every_arm_comes_at_every_position_about_equally_often() -> None:
    asked = campaign(environments=3, layouts=1, workloads=1, blocks=1)
    plans = 3000
    counter = Counter(
        (trial.environment.name, trial.replicate, trial.slot)
        for seed in range(plans)
        for trial in plan_block(asked, seed, 0)
    )
    expected = plans / 5
    chi_square = sum((count - expected) ** 2 / expected for count in counter.values())
    assert len(counter) == 25
    assert chi_square < 50  # 16 degrees of freedom: exceeded once in 40 000 fair shuffles


def test_cells_come_in_every_order_and_blocks_differ() -> None:
    asked = campaign(environments=1, layouts=2, workloads=2, blocks=200)
    orders = Counter(
        tuple(
            dict.fromkeys((trial.workload.name, str(trial.layout)) for trial in plan_block(asked, 1, block))
        )
        for block in range(asked.blocks)
    )
    assert len(orders) == 24


@pytest.mark.parametrize("preset", preset_names())
def test_every_trial_of_a_plan_has_the_name_that_fits_it(preset: str) -> None:
    asked = resolved_preset(preset, processors=64, memory_byte=1 << 40)
    refuse_misnamed(plan_trials(asked, 1))


def first_trial() -> Trial:
    return plan_block(campaign(environments=1, layouts=1, workloads=1), 1, 0)[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"identity": "another"},
        {"block": 7},
        {"workload": Workload(name="other", kind="fake")},
        {"environment": Environment(name=NATIVE, technology="docker")},
        {"environment": Environment(name="other", technology="docker")},
    ],
)
def test_a_trial_under_another_ones_name_is_refused(changes: dict[str, object]) -> None:
    native = next(
        trial
        for trial in plan_block(campaign(environments=1, layouts=1, workloads=1), 1, 0)
        if trial.environment.name == NATIVE
    )
    with pytest.raises(JournalError, match="was altered; restore it"):
        refuse_misnamed([dataclasses.replace(native, **changes)])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "made",
    [
        lambda: Layout(nodes=1, processors=2, instances=0),
        lambda: Layout(nodes=0, processors=2, instances=1),
        lambda: dataclasses.replace(first_trial(), block=-1),
        lambda: dataclasses.replace(first_trial(), slot=-1),
        lambda: dataclasses.replace(first_trial(), replicate=2),
        lambda: HostLoad(processors=0, foreign=0.1),
        lambda: HostLoad(processors=2, foreign=1e308),
        lambda: HostLoad(processors=2, foreign=0.1, steal=float("nan")),
    ],
)
def test_what_no_plan_and_no_host_can_have_is_no_record(made: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"is not a layout|is none of a"):
        made()
