# SPDX-License-Identifier: Apache-2.0
"""The load alone decides which blocks are left out, and a look sees what it saw when it was reached."""

from dataclasses import replace

import pytest
from tests.analyze.verdict_example import around, summary_of
from tests.busy_example import QUIET, busy_load

from tare.records import BlockRounds, BlockValue, HostLoad
from tare.treat.busy import apart, busy_loads, counted, parted
from tare.treat.pairing import Arm as TableArm
from tare.treat.pairing import BlockTable, Metric, complete_blocks, known_after, with_blocks

BUSY = busy_load(1.0, "stress")
STOLEN = HostLoad(processors=2, foreign=0.0, steal=0.6)


def blocks(*loads: HostLoad | None) -> list[BlockValue]:
    return [
        BlockValue(block=number, native=(1.0, 1.0), environment=2.0, load=load)
        for number, load in enumerate(loads)
    ]


@pytest.mark.parametrize(
    ("quiet", "busy", "kept"),
    [(6, 4, 6), (6, 26, 6), (5, 5, 10), (5, 1, 6), (0, 10, 10), (3, 1, 3), (2, 2, 4), (10, 0, 10)],
)
def test_busy_blocks_are_left_out_where_six_others_are_left(quiet: int, busy: int, kept: int) -> None:
    own, left_out = parted(blocks(*[QUIET] * quiet, *[BUSY] * busy))
    assert (len(own), len(left_out)) == (kept, quiet + busy - kept)


def test_a_busy_host_of_either_native_counts_like_that_of_the_environment() -> None:
    own = blocks(*[QUIET] * 8)
    own[3] = replace(own[3], native_loads=(None, BUSY))
    kept, left_out = parted(own)
    assert [block.block for block in left_out] == [3]
    assert len(kept) == 7


def test_no_measured_value_decides() -> None:
    slow = [replace(block, environment=1e9) for block in blocks(*[QUIET] * 4, *[BUSY] * 4, *[QUIET] * 4)]
    assert [block.block for block in parted(slow)[1]] == [4, 5, 6, 7]


def test_blocks_of_which_nobody_knows_the_load_are_quiet() -> None:
    assert parted(blocks(*[None] * 8))[1] == ()
    assert apart(range(3), {}).left_out


def test_a_look_sees_the_blocks_that_it_saw_when_it_was_reached() -> None:
    every = [
        replace(block, load=load)
        for block, load in zip(
            summary_of(around(0.1, 0.01, 16)).blocks,
            [BUSY] * 6 + [QUIET] * 10,
            strict=True,
        )
    ]
    whole = with_blocks(summary_of(around(0.1, 0.01, 16)), every)
    assert [len(whole.blocks), len(whole.busy_blocks)] == [10, 6]
    then = known_after(whole, 10)
    assert then == with_blocks(whole, every, 10)
    assert len(busy_loads(then, 10)) == 6, "of ten blocks four were quiet: too few"
    assert known_after(whole, 16) is whole
    assert len(then.log_ratios) == len(then.control_log_ratios) == 16


IN_TURNS = dict.fromkeys(range(12), 0.0)


def in_turns(load: HostLoad, metric: str, *, primary: bool = True, turns: bool = True) -> HostLoad | None:
    """The load that counts for a metric of a block."""
    known, arms = Metric(metric, "s", summary_of([0.0]).direction), ("native", "native", "docker")
    table = BlockTable(begun={0})
    for place, name in enumerate(arms):
        arm = TableArm(name, place % 2)
        table.values[0, arm, known], table.loads[0, arm] = 1.0, load
        if turns:
            table.rounds[0, arm, known] = IN_TURNS
    (block,) = complete_blocks(table, known, "docker", primary=primary)
    return block.busiest


def is_busy(load: HostLoad, metric: str = "wall_s", *, primary: bool = True, turns: bool = True) -> bool:
    counts = in_turns(load, metric, primary=primary, turns=turns)
    return counts is not None and counts.busy


def test_what_a_hypervisor_takes_counts_in_whole_runs_but_not_where_all_arms_share_it_in_turns() -> None:
    assert is_busy(STOLEN, turns=False)
    assert not is_busy(STOLEN)


@pytest.mark.parametrize("load", [replace(STOLEN, steal=1.2), replace(STOLEN, foreign=0.6)])
def test_beyond_half_or_by_other_programs_it_counts(load: HostLoad) -> None:
    assert is_busy(load)


@pytest.mark.parametrize("metric", ["compute (net of load)", "compute (CPU time)"])
def test_what_other_programs_take_does_not_count_for_a_metric_without_it(metric: str) -> None:
    load = replace(STOLEN, foreign=1.0)
    assert not is_busy(load, metric)
    assert is_busy(load, metric, turns=False)
    assert is_busy(load, metric, primary=False), "of several processes it may hold what others took"


def test_a_load_that_counts_is_not_hidden_by_a_larger_one_that_does_not() -> None:
    steal, foreign = (counted(load, by_turns=True, net=False) for load in (STOLEN, busy_load(0.5)))
    block = BlockValue(
        block=0,
        native=(1.0, 1.0),
        environment=1.0,
        load=steal,
        native_loads=(foreign, None),
        rounds=BlockRounds(rounds=12, log_ratio=0.0, control_log_ratio=0.0, slow=0, native_slow=0),
    )
    assert block.busiest is not None
    assert block.busiest.busy
