# SPDX-License-Identifier: Apache-2.0
"""Virtual functions lent to nodes: which is free by a written /sys, and links moved for real in their place."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.network.namespaces import AS_ROOT, links, specs_of, transfer, within
from tests.network.wires import RUNNER, WiredHost, between, linked, specs_on, wired

from tare import network
from tare.errors import NodeError
from tare.host import mounts
from tare.network import functions
from tare.network.functions import free_function, unused_among
from tare.network.wire import facts_of
from tare.nodes.provider import NodeSpec
from tare.nodes.record import record_text
from tare.records import NetworkKind

KILLED = """\
import sys
from pathlib import Path
from tare import network
from tare.network import functions
from tare.nodes.record import parse_record
functions._NET = Path(sys.argv[1])
directory = Path(sys.argv[2])
network.create(parse_record(sys.stdin.buffer.read(), directory, {"fake"}))
"""
"""For Python: a process that makes a node's network and ends, as one that is killed then."""


@pytest.fixture
def sys_net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A /sys/class/net of an interface eth0 whose functions a test adds."""
    net = tmp_path / "sys-net"
    (net / "eth0/device").mkdir(parents=True)
    monkeypatch.setattr(functions, "_NET", net)
    return net


def add_function(net: Path, number: int, name: str | None) -> None:
    """Without a name it has no driver, or is in another network."""
    folder = net / f"eth0/device/virtfn{number}/net"
    (folder / name if name else folder).mkdir(parents=True)


def test_the_first_function_by_number_that_nobody_uses_is_free(sys_net: Path) -> None:
    for number, name in ((0, "vf0"), (1, None), (10, "vf10"), (9, "vf9")):
        add_function(sys_net, number, name)
    assert free_function("eth0", {"vf0", "vf9", "vf10"}) == "vf0"
    assert free_function("eth0", {"vf9", "vf10"}) == "vf9"


def test_an_interface_without_functions_says_how_to_make_some(sys_net: Path) -> None:
    assert sys_net.exists()
    with pytest.raises(
        NodeError, match=r"eth0 has no virtual functions: .*sriov_numvfs, or choose the network macvlan"
    ):
        free_function("eth0", set())


def test_more_nodes_than_functions_are_refused_in_words(sys_net: Path) -> None:
    add_function(sys_net, 0, "vf0")
    with pytest.raises(
        NodeError, match="none of the 1 virtual functions of eth0 is free: every node on a host takes one"
    ):
        free_function("eth0", {"eth0"})


def test_what_has_an_address_or_a_master_is_in_use() -> None:
    local, own = {"scope": "link", "local": "fe80::1"}, {"scope": "global", "local": "10.0.0.1"}
    shown = [
        {"ifname": "vf0", "addr_info": [local]},
        {"ifname": "vf1", "addr_info": [local, own]},
        {"ifname": "vf2", "master": "bond0", "addr_info": []},
        {"ifname": "vf3"},
        {},
    ]
    assert unused_among(json.dumps(shown)) == {"vf0", "vf3"}
    with pytest.raises(NodeError, match="is not understood"):
        unused_among("[3]")


@pytest.mark.root
class TestOnAWire:
    """Each host has two more links to the wire, in the place of its functions."""

    pytestmark = AS_ROOT

    @pytest.fixture
    def hosts(self, tmp_path: Path, sys_net: Path) -> Iterator[dict[str, WiredHost]]:
        for number in range(2):
            add_function(sys_net, number, f"vf{number}")
        with wired(tmp_path / "hosts", "left", "right") as made:
            wire = WiredHost("wire", tmp_path / "hosts/wire", "")
            for host in made.values():
                for number in range(2):
                    peer = ("type", "veth", "peer", "name", f"vf{number}", "netns", str(host.namespace))
                    wire.ip("link", "add", f"{host.name}{number}", "master", "wire", "up", *peer)
            yield made

    def specs(self, hosts: dict[str, WiredHost], folder: Path) -> list[NodeSpec]:
        return specs_on(folder, NetworkKind.SRIOV, ("left", "left", "right"), between(hosts), rto_min_s=0.002)

    def test_each_node_has_one_and_every_host_has_its_own_back_afterwards(
        self, hosts: dict[str, WiredHost], tmp_path: Path
    ) -> None:
        specs = self.specs(hosts, tmp_path / "nodes")
        left, right = hosts["left"], hosts["right"]
        before = {name: host.ip("-json", "address") for name, host in hosts.items()}
        with linked([left, left, right], specs):
            first, second, far = (spec.network for spec in specs)
            for here, there in ((first, second), (second, far), (far, first)):
                assert transfer(here.namespace, there.namespace, there.address or "") == b"hello"
            assert transfer(left.namespace, right.namespace, right.address) == b"hello"
            assert (links(left.namespace), links(right.namespace)) == ({"lo", "eth0"}, {"lo", "eth0", "vf1"})
            facts = within(left.namespace, lambda: facts_of(first, None))
        assert facts["way to the wire"] == "virtual function of eth0"
        assert {name: names(text) for name, text in before.items()} == {
            name: names(host.ip("-json", "address")) for name, host in hosts.items()
        }
        assert mounts.mounts_below(tmp_path / "nodes") == []
        assert [path for spec in specs for path in spec.directory.iterdir()] == []

    def test_a_node_for_which_none_is_left_is_refused_and_the_others_are_given_back(
        self, hosts: dict[str, WiredHost], tmp_path: Path
    ) -> None:
        left = hosts["left"]
        specs = specs_on(tmp_path / "nodes", NetworkKind.SRIOV, ("left",) * 3, between(hosts))
        refused = pytest.raises(NodeError, match="none of the 2 virtual functions of eth0 is free")
        with refused, linked([left] * 3, specs):
            pytest.fail("it must not be made")
        assert links(left.namespace) == {"lo", "eth0", "vf0", "vf1"}

    def test_what_a_killed_process_has_lent_is_given_back_by_the_next(
        self, hosts: dict[str, WiredHost], tmp_path: Path, sys_net: Path
    ) -> None:
        right, spec = hosts["right"], self.specs(hosts, tmp_path / "nodes")[2]
        enter = ["nsenter", f"--net={right.namespace}", sys.executable, "-c", KILLED]
        subprocess.run(
            [*enter, str(sys_net), str(spec.directory)],
            input=record_text(spec).encode(),
            check=True,
            timeout=60,
        )
        assert links(right.namespace) == {"lo", "eth0", "vf1"}
        for _ in range(2):
            within(right.namespace, lambda: network.give_back(spec))
            assert links(right.namespace) == {"lo", "eth0", "vf0", "vf1"}
        within(right.namespace, lambda: network.remove(spec))

    def test_a_function_whose_way_back_is_refused_stays_the_nodes_until_the_next_try(
        self, hosts: dict[str, WiredHost], tmp_path: Path
    ) -> None:
        right, spec = hosts["right"], self.specs(hosts, tmp_path / "nodes")[2]
        with linked([right], [spec]):
            # Its name is another's now.
            right.ip("link", "add", "vf0", "type", "veth", "peer", "name", "pair")
            with pytest.raises(FileExistsError):
                within(right.namespace, lambda: network.give_back(spec))
            right.ip("link", "delete", "vf0")
        assert links(right.namespace) == {"lo", "eth0", "vf0", "vf1"}

    def test_the_launcher_takes_one_of_the_runners_own(
        self, hosts: dict[str, WiredHost], tmp_path: Path
    ) -> None:
        known, spec = between(hosts), self.specs(hosts, tmp_path / "nodes")[2]
        (own,) = specs_of(tmp_path / "launcher", NetworkKind.NONE, count=1)
        plan = network.launcher_network(spec.network, own.directory, known)
        with linked([hosts["right"], hosts[RUNNER]], [spec, replace(own, network=plan)]):
            assert transfer(plan.namespace, spec.network.namespace, spec.network.address or "") == b"hello"
            assert links(hosts[RUNNER].namespace) == {"lo", "eth0", "vf1"}


def names(text: str) -> set[tuple[str, tuple[str, ...]]]:
    """Each interface with its addresses; moving one gives it another number."""
    return {
        (link["ifname"], tuple(each["local"] for each in link["addr_info"] if each["scope"] == "global"))
        for link in json.loads(text)
    }
