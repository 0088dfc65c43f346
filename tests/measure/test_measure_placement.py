# SPDX-License-Identifier: Apache-2.0
"""Shares of the host are equal and disjoint, and every instance has a place."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tare.errors import NodeError
from tare.measure.placement import NodePlace, effective_layout, place
from tare.records import Environment, Layout, Limits, Trial, Workload

MEMORY_BYTE = 1 << 30
layouts = st.builds(
    Layout, nodes=st.integers(1, 6), processors=st.integers(1, 8), instances=st.integers(1, 24)
)
hosts = st.lists(st.integers(0, 500), min_size=48, max_size=64, unique=True).map(sorted)


def trial(technology: str, layout: Layout) -> Trial:
    return Trial(
        identity="t",
        block=0,
        slot=0,
        environment=Environment(name="e", technology=technology),
        replicate=0,
        layout=layout,
        workload=Workload(name="w", kind="fake"),
        limits=Limits(memory_byte=MEMORY_BYTE, shm_byte=1),
    )


@given(layouts, hosts)
def test_nodes_get_disjoint_equal_shares_of_what_is_there(layout: Layout, host: list[int]) -> None:
    places = place(layout, MEMORY_BYTE, host)
    given_out = [processor for one in places for processor in one.processors]
    assert len(places) == layout.nodes
    assert {len(one.processors) for one in places} == {layout.processors}
    assert len(set(given_out)) == len(given_out) == layout.total_processors
    assert set(given_out) <= set(host)
    assert {one.memory_byte for one in places} == {MEMORY_BYTE // layout.nodes}


@given(layouts, hosts)
def test_every_instance_is_placed_once_and_nodes_differ_by_at_most_one(
    layout: Layout, host: list[int]
) -> None:
    places = place(layout, MEMORY_BYTE, host)
    counts = [len(one.instances) for one in places]
    assert sorted(number for one in places for number in one.instances) == list(range(layout.instances))
    assert max(counts) - min(counts) <= 1


@given(st.integers(1, 32), st.integers(1, 32), st.integers(0, 400))
def test_instances_share_a_nodes_processors_equally_or_all_have_all(
    processors: int, instances: int, first: int
) -> None:
    own = tuple(range(first, first + processors))
    node = NodePlace(index=0, processors=own, memory_byte=1, instances=tuple(range(instances)))
    parts = [node.instance_processors(number) for number in range(instances)]
    if processors % instances == 0:
        assert [processor for part in parts for processor in part] == list(own)
        assert {len(part) for part in parts} == {processors // instances}
    else:
        assert set(parts) == {own}


@given(layouts, st.integers(0, 47))
def test_too_few_processors_are_an_error_with_both_numbers(layout: Layout, count: int) -> None:
    assume(count < layout.total_processors)
    with pytest.raises(NodeError, match=f"needs {layout.total_processors} processors, here are {count}"):
        place(layout, MEMORY_BYTE, range(count))


@given(layouts)
def test_native_is_one_node_with_all_processors_and_no_other_is(layout: Layout) -> None:
    native = effective_layout(trial("native", layout))
    assert (native.nodes, native.processors, native.instances) == (
        1,
        layout.total_processors,
        layout.instances,
    )
    assert effective_layout(trial("docker", layout)) == layout
