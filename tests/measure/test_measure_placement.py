# SPDX-License-Identifier: Apache-2.0
"""Shares of the host are equal and disjoint, and every instance has a place."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tare.measure.placement import NodePlace, effective_layout, place, places_of, places_over, sharing_said
from tare.records import Environment, Layout, Limits, Neighbour, Spread, Trial, Workload

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
    given_out = [processor for node_place in places for processor in node_place.processors]
    assert len(places) == layout.nodes
    assert {len(node_place.processors) for node_place in places} == {layout.processors}
    assert len(set(given_out)) == len(given_out) == layout.total_processors
    assert set(given_out) <= set(host)
    assert {node_place.memory_byte for node_place in places} == {MEMORY_BYTE // layout.nodes}


@given(layouts, hosts)
def test_independent_instances_are_placed_once_and_nodes_differ_by_at_most_one(
    layout: Layout, host: list[int]
) -> None:
    assume(not layout.cooperative)
    places = place(layout, MEMORY_BYTE, host)
    counts = [len(node_place.instances) for node_place in places]
    assert sorted(number for node_place in places for number in node_place.instances) == list(
        range(layout.instances)
    )
    assert max(counts) - min(counts) <= 1


@given(st.integers(1, 6), st.integers(2, 6), hosts)
def test_a_cooperative_instance_has_neighbouring_nodes_and_all_have_equally_many(
    instances: int, span: int, host: list[int]
) -> None:
    layout = Layout(nodes=instances * span, processors=1, instances=instances)
    numbers = [node_place.instances for node_place in place(layout, MEMORY_BYTE, host)]
    assert numbers == [(number,) for number in range(instances) for _ in range(span)]


@given(st.integers(1, 32), st.integers(1, 32), st.integers(0, 400))
def test_instances_share_a_nodes_processors_equally_or_all_have_all(
    processors: int, instances: int, first: int
) -> None:
    own = tuple(range(first, first + processors))
    node = NodePlace(index=0, dealt=own, memory_byte=1, instances=tuple(range(instances)))
    parts = [node.instance_processors(number) for number in range(instances)]
    if processors % instances == 0:
        assert [processor for part in parts for processor in part] == list(own)
        assert {len(part) for part in parts} == {processors // instances}
    else:
        assert set(parts) == {own}


@given(layouts, st.integers(1, 47))
def test_too_few_processors_are_shared_evenly(layout: Layout, count: int) -> None:
    assume(count < layout.total_processors)
    assert places_of(trial("docker", layout), range(count)).oversubscribed
    if layout.processors > count:
        assert {node_place.processors for node_place in place(layout, MEMORY_BYTE, range(count))} == {
            tuple(range(count))
        }
        return
    loads = Counter(
        number for node_place in place(layout, MEMORY_BYTE, range(count)) for number in node_place.processors
    )
    assert set(loads) == set(range(count))
    assert max(loads.values()) - min(loads.values()) <= 1


@given(st.integers(1, 40), st.integers(1, 4), st.integers(1, 4), st.integers(1, 16))
def test_an_instance_runs_on_the_same_processors_natively_as_in_its_node_however_few_there_are(
    nodes: int, each: int, ranks: int, count: int
) -> None:
    layout = Layout(nodes=nodes, processors=each * ranks, instances=nodes * each)
    loads = []
    for technology in ("native", "docker"):
        places = places_of(trial(technology, layout), range(count)).measured
        loads.append(
            Counter(
                processor
                for node in places
                for number in node.instances
                for processor in node.instance_processors(number)
            )
        )
    assert loads[0] == loads[1]


@given(layouts)
def test_native_is_one_node_with_all_processors_and_no_other_is(layout: Layout) -> None:
    native = effective_layout(trial("native", layout))
    assert (native.nodes, native.processors, native.instances) == (
        1,
        layout.total_processors,
        layout.instances,
    )
    assert effective_layout(trial("docker", layout)) == layout


@given(layouts, st.integers(1, 4), hosts)
def test_a_neighbour_gets_as_much_as_a_node_and_nothing_of_the_measured_ones(
    layout: Layout, count: int, host: list[int]
) -> None:
    assume(layout.total_processors + count * layout.processors <= len(host))
    neighbour = Neighbour(
        environment=Environment(name="n", technology="docker"),
        workload=Workload(name="w", kind="fake"),
        count=count,
    )
    for technology in ("native", "docker"):
        places = places_of(replace(trial(technology, layout), neighbour=neighbour), host)
        measured = {number for node_place in places.measured for number in node_place.processors}
        assert len(places.neighbours) == count
        assert {len(node_place.processors) for node_place in places.neighbours} == {layout.processors}
        assert not measured & {number for node_place in places.neighbours for number in node_place.processors}
        share_byte = MEMORY_BYTE // layout.nodes
        assert all(abs(node_place.memory_byte - share_byte) <= 1 for node_place in places.neighbours)


@pytest.mark.parametrize(("requested", "share"), [(35, "17 or 18"), (14, "7")])
def test_it_is_said_how_many_share_a_processor(requested: int, share: str) -> None:
    said = sharing_said(requested, 2)
    assert said == f"{requested} processors asked for and 2 there: {share} share one"


@given(
    hosts=st.integers(1, 5),
    per_host=st.integers(1, 4),
    processors=st.integers(1, 4),
    spread=st.sampled_from(Spread),
    technology=st.sampled_from(["docker", "native"]),
    data=st.data(),
)
def test_over_hosts_each_node_has_processors_of_its_own_host_and_native_has_as_many(
    hosts: int, per_host: int, processors: int, spread: Spread, technology: str, data: st.DataObject
) -> None:
    layout = Layout(nodes=hosts * per_host, processors=processors, instances=1, hosts=hosts, spread=spread)
    names = tuple(f"h{number}" for number in range(hosts))
    sizes = st.lists(st.integers(0, 500), min_size=16, max_size=20, unique=True).map(sorted)
    available = {name: data.draw(sizes) for name in names}
    own = replace(trial(technology, layout), hosts=names)
    places = places_over(own, available)
    assert len(places.measured) == (hosts if technology == "native" else layout.nodes)
    assert sum(node.memory_byte for node in places.measured) <= MEMORY_BYTE
    for name in names:
        dealt = [number for node in places.measured if node.host == name for number in node.processors]
        assert len(dealt) == len(set(dealt)) == per_host * processors
        assert set(dealt) <= set(available[name])
    assert not places.oversubscribed
    assert replace(places_over(own, {name: [0] for name in names})).requested == per_host * processors


@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.sampled_from(["docker", "native"]))
def test_neighbours_are_on_each_host_and_leave_the_measured_nodes_where_they_are_alone(
    hosts: int, processors: int, count: int, technology: str
) -> None:
    layout = Layout(nodes=2 * hosts, processors=processors, instances=1, hosts=hosts)
    names = tuple(f"h{number}" for number in range(hosts))
    available = {name: range(32) for name in names}
    alone = replace(trial(technology, layout), hosts=names)
    neighbour = Neighbour(
        environment=Environment(name="n", technology="docker"),
        workload=Workload(name="w", kind="fake"),
        count=count,
    )
    places = places_over(replace(alone, neighbour=neighbour), available)
    assert places.measured == places_over(alone, available).measured
    for name in names:
        beside = [node for node in places.neighbours if node.host == name]
        measured = [node for node in places.measured if node.host == name]
        assert len(beside) == count
        assert {len(node.processors) for node in beside} == {processors}
        assert not {number for node in beside for number in node.processors} & {
            number for node in measured for number in node.processors
        }
