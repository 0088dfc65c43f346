# SPDX-License-Identifier: Apache-2.0
"""Every node of a trial has an address that no other has, and a place on disk that is its own."""

from ipaddress import IPv4Address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.network import SUBNET, neighbours_problem, plan_networks
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
    assert "by 1190 entries of this host's ARP table, which holds 1024: " in said
    assert said.endswith("sysctl -w net.ipv4.neigh.default.gc_thresh3=2380")
