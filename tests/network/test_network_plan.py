# SPDX-License-Identifier: Apache-2.0
"""Every node of a trial has an address that no other has, and a place on disk that is its own."""

from ipaddress import IPv4Address
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.errors import NodeError
from tare.network import (
    SUBNET,
    WIRE_SUBNET,
    Between,
    launcher_network,
    neighbours_problem,
    plan_networks,
    plan_wire,
)
from tare.network.plan import SWITCH_ADDRESS
from tare.records import Layout, NetworkKind

LINKED = [NetworkKind.VETH, NetworkKind.MACVLAN]


def directories(count: int) -> list[Path]:
    return [Path(f"/state/nodes/tare-x-{number}") for number in range(count)]


@given(kind=st.sampled_from(LINKED), count=st.integers(1, 200))
def test_addresses_are_unique_and_within_the_subnet_and_not_the_switchs(
    kind: NetworkKind, count: int
) -> None:
    plans = plan_networks(kind, directories(count), None)
    addresses = [IPv4Address(plan.address or "") for plan in plans]
    reserved = {SUBNET.network_address, SUBNET.broadcast_address, SWITCH_ADDRESS.ip}
    assert len(set(addresses)) == count
    assert all(address in SUBNET for address in addresses)
    assert reserved.isdisjoint(addresses)


@given(kind=st.sampled_from(LINKED), count=st.integers(1, 200))
def test_each_namespace_lies_in_its_nodes_folder_and_the_one_switch_in_the_firsts(
    kind: NetworkKind, count: int
) -> None:
    folders = directories(count)
    plans = plan_networks(kind, folders, 0.002)
    assert [plan.namespace for plan in plans] == [folder / "network" for folder in folders]
    assert {plan.switch for plan in plans} == {folders[0] / "switch"}
    assert {plan.rto_min_s for plan in plans} == {0.002}


def between(count: int) -> Between:
    addresses = {f"h{number}": f"10.1.{number // 200}.{number % 200 + 1}" for number in range(count)}
    return Between(subnet="10.1.0.0/16", own="10.1.9.9", addresses=addresses)


@given(
    kind=st.sampled_from([*LINKED, NetworkKind.IPVLAN, NetworkKind.VXLAN]),
    hosts=st.integers(1, 256),
    listed=st.data(),
)
def test_over_hosts_no_two_of_nodes_routers_and_the_launcher_have_an_address_in_common(
    kind: NetworkKind, hosts: int, listed: st.DataObject
) -> None:
    known = between(hosts)
    each = listed.draw(st.integers(1, max(1, 400 // hosts)), label="nodes on each host")
    places = [name for name in known.addresses for _ in range(each)]
    plans = plan_wire(kind, directories(len(places)), places, known, 0.002)
    launcher = launcher_network(plans[0], Path("/state/nodes/tare-x-l"), known)
    wires = [plan.wire for plan in (*plans, launcher) if plan.wire is not None]
    used = [*(plan.address or "" for plan in (*plans, launcher)), *{wire.router for wire in wires}]
    assert len(set(used)) == len(used) == len(places) + 1 + hosts + 1
    assert all(IPv4Address(address) in WIRE_SUBNET for address in used)
    assert len({wire.number for wire in wires}) == 1
    assert set(wires[0].peers) == {known.own, *known.addresses.values()}


def test_the_nodes_of_a_host_share_a_switch_in_the_folder_of_its_first() -> None:
    folders = directories(4)
    plans = plan_wire(NetworkKind.VXLAN, folders, ["h0", "h1", "h0", "h1"], between(3), None)
    assert [plan.switch for plan in plans] == [folders[number] / "switch" for number in (0, 1, 0, 1)]
    routers = [plan.wire.router for plan in plans if plan.wire]
    assert routers[0] == routers[2] != routers[1] == routers[3]
    assert plans[0].wire is not None
    assert set(plans[0].wire.peers) == {"10.1.9.9", "10.1.0.1", "10.1.0.2"}  # the third host has no node


def test_trials_of_a_campaign_have_the_same_addresses_and_their_own_vxlan() -> None:
    names = [Path(f"/state/nodes/tare-x-{number}") for number in range(4)]
    trials = [plan_wire(NetworkKind.VXLAN, [name], ["h0"], between(2), None)[0] for name in names]
    assert len({plan.address for plan in trials}) == 1
    assert all(one.wire != other.wire for one, other in pairwise(trials))


def test_a_launcher_of_nodes_without_a_wire_is_no_plan_of_ours() -> None:
    (plain,) = plan_networks(NetworkKind.VETH, directories(1), None)
    with pytest.raises(NodeError, match="no wire"):
        launcher_network(plain, Path("/state/nodes/tare-x-l"), between(1))


def test_a_vxlan_has_one_end_on_a_host_so_mpirun_needs_another() -> None:
    here = Between(subnet="10.1.0.0/16", own="10.1.0.1", addresses={"here": "10.1.0.1", "h": "10.1.0.2"})
    for kind in (NetworkKind.MACVLAN, NetworkKind.VXLAN):
        plan, _ = plan_wire(kind, directories(2), ["here", "h"], here, None)
        if kind is NetworkKind.VXLAN:
            with pytest.raises(NodeError, match=r"10\.1\.0\.1, has nodes and mpirun"):
                launcher_network(plan, Path("/state/nodes/tare-x-l"), here)
        else:
            assert launcher_network(plan, Path("/state/nodes/tare-x-l"), here).kind is kind


def test_only_the_nodes_of_one_host_share_its_table(tmp_path: Path) -> None:
    (tmp_path / "most").write_text("1024\n")
    assert neighbours_problem(NetworkKind.VXLAN, Layout.parse("64c1p1i on 8"), tmp_path / "most") is None
    assert neighbours_problem(NetworkKind.VXLAN, Layout.parse("512c1p1i on 64"), tmp_path / "most")


@pytest.mark.parametrize("kind", [NetworkKind.HOST, NetworkKind.DEFAULT])
def test_nothing_is_made_for_a_network_that_is_not_ours(kind: NetworkKind) -> None:
    for plan in plan_networks(kind, directories(2), 0.002):
        assert (plan.kind, plan.namespace, plan.switch, plan.address) == (kind, None, None, None)
        assert plan.rto_min_s is None


def test_a_node_without_network_has_a_namespace_and_nothing_else() -> None:
    (plan,) = plan_networks(NetworkKind.NONE, directories(1), 0.002)
    assert plan.namespace == directories(1)[0] / "network"
    assert (plan.switch, plan.address, plan.rto_min_s) == (None, None, None)


@pytest.mark.parametrize(
    ("layout", "kind"),
    [("32c1p1i", NetworkKind.VETH), ("35c1p35i", NetworkKind.VETH), ("35c1p1i", NetworkKind.HOST)],
)
def test_few_nodes_or_such_as_need_no_entries_have_room(
    layout: str, kind: NetworkKind, tmp_path: Path
) -> None:
    (tmp_path / "most").write_text("1024\n")
    assert neighbours_problem(kind, Layout.parse(layout), tmp_path / "most") is None
    assert neighbours_problem(NetworkKind.VETH, Layout.parse("99c1p1i"), tmp_path / "none") is None


def test_nodes_that_would_overflow_the_kernels_table_are_told_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "most").write_text("1024\n")
    said = neighbours_problem(NetworkKind.VETH, Layout.parse("35c1p1i"), tmp_path / "most")
    assert said is not None
    assert "of 35c1p1i on one host" in said
    assert "by 1190 entries of its ARP table, which holds 1024: " in said
    assert said.endswith("sysctl -w net.ipv4.neigh.default.gc_thresh3=2380")
