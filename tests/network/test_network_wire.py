# SPDX-License-Identifier: Apache-2.0
"""Links of nodes on two hosts: all reach all, the hosts keep what they have, and nothing stays."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.network.namespaces import AS_ROOT, links, specs_of, transfer, within
from tests.network.wires import RUNNER, WiredHost, between, bridge, linked, specs_on, wired

from tare import network
from tare.errors import NodeError
from tare.host import mounts
from tare.network.wire import facts_of
from tare.nodes.provider import NodeSpec
from tare.records import NetworkKind

pytestmark = AS_ROOT
PLACES = ("left", "left", "right")
KINDS = [NetworkKind.VETH, NetworkKind.MACVLAN, NetworkKind.VXLAN]


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[dict[str, WiredHost]]:
    with wired(tmp_path / "hosts", "left", "right") as made:
        yield made


def on(hosts: dict[str, WiredHost]) -> list[WiredHost]:
    return [hosts[place] for place in PLACES]


def all_reach_all(hosts: dict[str, WiredHost], specs: list[NodeSpec]) -> None:
    for one, other in itertools.permutations(specs, 2):
        assert (
            transfer(one.network.namespace, other.network.namespace, other.network.address or "") == b"hello"
        )
    left, right = hosts["left"], hosts["right"]
    assert transfer(left.namespace, right.namespace, right.address) == b"hello"


@pytest.mark.parametrize("kind", KINDS)
def test_nodes_of_two_hosts_reach_each_other_and_the_hosts_keep_their_network(
    hosts: dict[str, WiredHost], tmp_path: Path, kind: NetworkKind
) -> None:
    specs = specs_on(tmp_path / "nodes", kind, PLACES, between(hosts), rto_min_s=0.002)
    before = {name: host.ip("-json", "address") for name, host in hosts.items()}
    with linked(on(hosts), specs):
        all_reach_all(hosts, specs)
        assert {name: host.ip("-json", "address") for name, host in hosts.items()} == before
        routes = [WiredHost("", spec.network.namespace or Path(), "").ip("route") for spec in specs]
        assert [text.count("rto_min lock 2ms") for text in routes] == [1, 1, 1]
        facts = within(hosts["left"].namespace, lambda: facts_of(specs[0].network, None))
    assert mounts.mounts_below(tmp_path / "nodes") == []
    assert facts["host's interface"].startswith("eth0 (veth); MTU 1500 B; 10000 Mbit/s; on: ")
    mtu_byte = 1450 if kind is NetworkKind.VXLAN else 1500
    driver = "macvlan" if kind is NetworkKind.MACVLAN else "veth"
    assert facts["node's interface"].startswith(f"eth0 ({driver}); MTU {mtu_byte} B; ")
    assert (
        facts["way to the wire"]
        == {
            NetworkKind.VETH: "bridge, routed to a macvlan on eth0",
            NetworkKind.MACVLAN: "macvlan on eth0",
            NetworkKind.VXLAN: "bridge, VXLAN in UDP over eth0",
        }[kind]
    )


def test_a_host_whose_wire_is_in_a_bridge_gets_ports_there_and_loses_them(
    hosts: dict[str, WiredHost], tmp_path: Path
) -> None:
    for name in ("left", "right"):
        bridge(hosts[name])
    specs = specs_on(tmp_path / "nodes", NetworkKind.VETH, PLACES, between(hosts))
    before = links(hosts["left"].namespace)
    with linked(on(hosts), specs):
        all_reach_all(hosts, specs)
        assert len(links(hosts["left"].namespace) - before) == 2
        facts = within(hosts["right"].namespace, lambda: facts_of(specs[2].network, None))
    assert facts["way to the wire"] == "port of the bridge br0"
    assert links(hosts["left"].namespace) == before


@pytest.mark.parametrize("kind", KINDS)
def test_the_launchers_namespace_reaches_every_node_from_the_runner(
    hosts: dict[str, WiredHost], tmp_path: Path, kind: NetworkKind
) -> None:
    known = between(hosts)
    specs = specs_on(tmp_path / "nodes", kind, PLACES, known)
    (own,) = specs_of(tmp_path / "launcher", NetworkKind.NONE, count=1)
    launcher = network.launcher_network(specs[0].network, own.directory, known)
    own = replace(own, network=launcher)
    with linked([*on(hosts), hosts[RUNNER]], [*specs, own]):
        for spec in specs:
            assert (
                transfer(launcher.namespace, spec.network.namespace, spec.network.address or "") == b"hello"
            )
            assert transfer(spec.network.namespace, launcher.namespace, launcher.address or "") == b"hello"


def test_a_parent_that_is_taken_is_told_with_the_interfaces_name(
    hosts: dict[str, WiredHost], tmp_path: Path
) -> None:
    """A port of a bridge can carry no macvlan."""
    host = hosts["left"]
    host.ip("link", "add", "br0", "up", "type", "bridge")
    host.ip("link", "set", "eth0", "master", "br0")
    specs = specs_on(tmp_path / "nodes", NetworkKind.MACVLAN, ("left",), between(hosts))
    refused = pytest.raises(
        NodeError, match=r"on eth0: cannot make the macvlan network: Device or resource busy"
    )
    with refused, linked([host], specs):
        pytest.fail("it must not be made")
    assert mounts.mounts_below(tmp_path / "nodes") == []


def test_a_host_without_an_address_on_the_subnet_is_refused_in_words(
    hosts: dict[str, WiredHost], tmp_path: Path
) -> None:
    host = hosts["left"]
    host.ip("address", "flush", "dev", "eth0")
    specs = specs_on(tmp_path / "nodes", NetworkKind.VXLAN, ("left",), between(hosts))
    with pytest.raises(NodeError, match=r"has no address in 198\.18\.240\.0/24"), linked([host], specs):
        pytest.fail("it must not be made")
