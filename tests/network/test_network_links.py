# SPDX-License-Identifier: Apache-2.0
"""Real links between real namespaces: they carry data, keep what was asked, and vanish without a trace."""

import itertools
import json
import re
import socket
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.network.namespaces import AS_ROOT, GONE, LINKED, connected, links, specs_of, transfer, within

from tare import network
from tare.errors import NodeError
from tare.host import mounts
from tare.network import links as links_of_nodes
from tare.network import netlink
from tare.network.plan import SWITCH_ADDRESS
from tare.nodes.provider import Node, NodeSpec
from tare.records import NetworkKind

pytestmark = AS_ROOT


def route(spec: NodeSpec) -> dict[str, object]:
    argv = ["nsenter", f"--net={spec.network.namespace}", "ip", "-json", "route"]
    (value,) = json.loads(subprocess.run(argv, check=True, capture_output=True, timeout=20).stdout)
    return dict(value)


class TestReach:
    @pytest.mark.parametrize("kind", LINKED)
    def test_every_node_reaches_every_other_and_the_switch_reaches_all(
        self, kind: NetworkKind, tmp_path: Path
    ) -> None:
        specs = specs_of(tmp_path, kind, count=3)
        with connected(specs):
            for node_spec, other in itertools.permutations(specs, 2):
                place, address = other.network.namespace, other.network.address or ""
                assert transfer(node_spec.network.namespace, place, address) == b"hello"
            for spec in specs:
                place, switch = spec.network.namespace, spec.network.switch
                assert transfer(switch, place, spec.network.address or "") == b"hello"
                assert transfer(place, switch, str(SWITCH_ADDRESS.ip)) == b"hello"

    @pytest.mark.parametrize("kind", LINKED)
    def test_nothing_appears_in_the_hosts_own_network(self, kind: NetworkKind, tmp_path: Path) -> None:
        specs = specs_of(tmp_path, kind)
        with connected(specs):
            made = links(specs[0].network.switch) | links(specs[0].network.namespace)
            here = {name for _, name in socket.if_nameindex()}
            addresses = subprocess.run(["ip", "address"], check=True, capture_output=True, timeout=20).stdout
        assert "eth0" in made
        assert here.isdisjoint(made - {"lo", "eth0"})
        assert b"198.18." not in addresses

    @pytest.mark.parametrize("kind", LINKED)
    def test_two_trials_with_the_same_addresses_do_not_meet(self, kind: NetworkKind, tmp_path: Path) -> None:
        ours, theirs = specs_of(tmp_path / "1", kind, count=1), specs_of(tmp_path / "2", kind)
        second = theirs[1].network
        with connected(ours), connected(theirs), pytest.raises(OSError, match=r"No route|timed out"):
            transfer(ours[0].network.namespace, second.namespace, second.address or "")

    def test_nodes_without_network_have_their_loopback_alone(self, tmp_path: Path) -> None:
        specs = specs_of(tmp_path, NetworkKind.NONE, count=1)
        with connected(specs):
            place = specs[0].network.namespace
            assert links(place) == {"lo"}
            assert transfer(place, place, "127.0.0.1") == b"hello"

    @pytest.mark.parametrize("kind", LINKED)
    def test_a_folder_with_any_name_will_do(self, kind: NetworkKind, tmp_path: Path) -> None:
        specs = specs_of(tmp_path / "a b#'\"\\ü", kind)
        with connected(specs):
            first, second = (spec.network for spec in specs)
            assert transfer(first.namespace, second.namespace, second.address or "") == b"hello"
        assert mounts.mounts_below(tmp_path) == []


class TestSettings:
    @pytest.mark.parametrize("kind", LINKED)
    def test_a_node_has_a_link_local_address_that_can_be_used_at_once(
        self, kind: NetworkKind, tmp_path: Path
    ) -> None:
        specs = specs_of(tmp_path, kind)
        tentative = 0x40
        with connected(specs):
            table = Path("/proc/thread-self/net/if_inet6")
            lines = within(specs[1].network.namespace, table.read_text).splitlines()
        (own,) = [line.split() for line in lines if line.endswith(" eth0")]
        assert own[0].startswith("fe80")
        assert not int(own[4], 16) & tentative

    def test_a_kernel_without_ipv6_is_not_waited_for(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tare.network.links._IPV6_ADDRESSES", tmp_path / "none")
        monkeypatch.setattr("tare.network.links._LINK_LOCAL_LIMIT_S", 3600)
        specs = specs_of(tmp_path, NetworkKind.VETH)
        with connected(specs):
            assert links(specs[1].network.namespace) == {"lo", "eth0"}

    def test_a_link_local_address_that_never_comes_is_not_waited_for_without_end(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = iter([True] * 3 + [False])
        monkeypatch.setattr("tare.network.links._awaits_link_local", lambda: next(asked, True))
        specs = specs_of(tmp_path, NetworkKind.VETH)
        with connected(specs):
            first, second = (spec.network for spec in specs)
            assert transfer(first.namespace, second.namespace, second.address or "") == b"hello"
        assert next(asked, None) is None

    def test_the_switch_is_a_bridge_without_spanning_tree_packet_filter_or_ipv6(self, tmp_path: Path) -> None:
        specs = specs_of(tmp_path, NetworkKind.VETH)
        show = ["ip", "-json", "-details", "link", "show", "switch"]
        with connected(specs):
            argv = ["nsenter", f"--net={specs[0].network.switch}", *show]
            (value,) = json.loads(subprocess.run(argv, check=True, capture_output=True, timeout=20).stdout)
            folder = Path("/proc/sys/net/bridge")
            filters = within(
                specs[0].network.switch,
                lambda: {file.name: file.read_text().strip() for file in folder.glob("bridge-nf-call-*")},
            )
            table = within(specs[0].network.switch, Path("/proc/thread-self/net/if_inet6").read_text)
        data = value["linkinfo"]["info_data"]
        assert (data["stp_state"], data["forward_delay"]) == (0, 0)
        assert set(filters.values()) <= {"0"}
        assert [line.split()[-1] for line in table.splitlines()] == ["lo"]

    def test_the_bridge_keeps_its_hardware_address_as_nodes_come(self, tmp_path: Path) -> None:
        specs = specs_of(tmp_path, NetworkKind.VETH, count=8)
        seen = set()
        with connected(specs[:1]):
            for spec in specs[1:]:
                with connected([spec]):
                    argv = [
                        "nsenter",
                        f"--net={spec.network.switch}",
                        "ip",
                        "-json",
                        "link",
                        "show",
                        "switch",
                    ]
                    done = subprocess.run(argv, check=True, capture_output=True, timeout=20)
                    seen.add(json.loads(done.stdout)[0]["address"])
        assert len(seen) == 1


class TestRetransmissionTimeout:
    @pytest.mark.parametrize("kind", LINKED)
    @pytest.mark.parametrize("rto_min_s", [0.001, 0.002, 0.2, 1.5])
    def test_it_is_on_every_nodes_route(self, kind: NetworkKind, rto_min_s: float, tmp_path: Path) -> None:
        specs = specs_of(tmp_path, kind, rto_min_s=rto_min_s)
        with connected(specs):
            routes = [route(spec) for spec in specs]
        assert [entry["metrics"] for entry in routes] == [[{"rto_min": rto_min_s * 1000}]] * 2
        assert [entry["prefsrc"] for entry in routes] == [spec.network.address for spec in specs]

    def test_without_it_the_route_says_nothing(self, tmp_path: Path) -> None:
        specs = specs_of(tmp_path, NetworkKind.VETH)
        with connected(specs):
            assert "metrics" not in route(specs[0])

    def test_connections_heed_it(self, tmp_path: Path) -> None:
        """Three seconds, as TCP's own choice lies between 200 ms and whatever a busy machine makes of it."""
        specs = specs_of(tmp_path, NetworkKind.VETH, rto_min_s=3)
        first, second = (spec.network for spec in specs)
        show = ["nsenter", f"--net={first.namespace}", "ss", "--tcp", "--info", "--numeric", "--no-header"]
        with connected(specs):
            server = within(second.namespace, lambda: socket.create_server((second.address or "", 0)))
            with server, within(first.namespace, lambda: socket.create_connection(server.getsockname())):
                accepted, _ = server.accept()
                with accepted:
                    done = subprocess.run(show, check=True, capture_output=True, text=True, timeout=20)
        match = re.search(r"\brto:(\d+)", done.stdout)
        assert match
        assert int(match[1]) >= 3000

    @pytest.mark.parametrize("rto_min_s", [0.0005, 0.0021, 0.0])
    def test_a_part_of_a_millisecond_is_refused_in_words(self, rto_min_s: float, tmp_path: Path) -> None:
        specs = specs_of(tmp_path, NetworkKind.VETH, rto_min_s=rto_min_s)
        with pytest.raises(NodeError, match="counts in whole milliseconds"), connected(specs):
            pytest.fail("it must not be made")

    def test_a_route_that_does_not_keep_it_is_found(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tare.network.links.set_rto_min", lambda *_: None)
        specs = specs_of(tmp_path, NetworkKind.VETH, rto_min_s=0.002)
        with pytest.raises(NodeError, match="does not keep rto_min = 2 ms"), connected(specs):
            pytest.fail("it must not be made")


class TestMessages:
    def test_ipvlan_is_made_for_layer_2_below_its_parent(self) -> None:
        """Not every kernel can try it: by linux/if_link.h the mode is attribute 1, a u16, and L2 is 0."""
        encoded = links_of_nodes.sharing(NetworkKind.IPVLAN, "eth0", parent=7, node=5).encoded()
        assert netlink.attribute(1, b"ipvlan\0") + netlink.attribute(2, b"\x06\0\x01\0\0\0\0\0") in encoded
        assert netlink.number(5, 7) in encoded  # IFLA_LINK
        assert netlink.number(28, 5) in encoded  # IFLA_NET_NS_FD


class TestRefusals:
    @pytest.mark.parametrize(
        ("kind", "missing", "remedy"),
        [
            (NetworkKind.VETH, "veth", "modprobe -a veth bridge"),
            (NetworkKind.VETH, "bridge", "modprobe -a veth bridge"),
            (NetworkKind.MACVLAN, "macvlan", "modprobe -a veth macvlan"),
        ],
    )
    def test_a_kernel_without_a_kind_of_link_is_told_with_the_way_out(
        self,
        kind: NetworkKind,
        missing: str,
        remedy: str,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        def lacking(link: netlink.Link) -> None:
            netlink.add_link(replace(link, kind="no-such-kind") if link.kind == missing else link)

        monkeypatch.setattr("tare.network.links.add_link", lacking)
        words = rf"cannot make the {kind} network: Operation not supported; try `{remedy}`"
        specs = specs_of(tmp_path, kind)
        with pytest.raises(NodeError, match=words), connected(specs):
            pytest.fail("it must not be made")
        assert mounts.mounts_below(tmp_path) == []


class TestAdoption:
    @pytest.mark.parametrize("kind", LINKED)
    def test_a_namespace_that_a_running_process_has_gets_its_link(
        self, kind: NetworkKind, tmp_path: Path
    ) -> None:
        specs = specs_of(tmp_path, kind)
        makers = [
            subprocess.Popen(["unshare", "--net", "sh", "-c", "echo; exec sleep 60"], stdout=subprocess.PIPE)
            for _ in specs
        ]
        try:
            for spec, maker in zip(specs, makers, strict=True):
                assert maker.stdout is not None
                maker.stdout.readline()
                network.adopt(Node(spec=spec, init_pid=maker.pid))
            first, second = (spec.network for spec in specs)
            assert transfer(first.namespace, second.namespace, second.address or "") == b"hello"
        finally:
            for maker in makers:
                maker.kill()
                maker.communicate()
            for spec in specs:
                network.remove(spec)
        assert mounts.mounts_below(tmp_path) == []

    @pytest.mark.parametrize("kind", [NetworkKind.NONE, NetworkKind.HOST, NetworkKind.DEFAULT])
    def test_a_node_without_a_link_is_left_as_it_is(self, kind: NetworkKind, tmp_path: Path) -> None:
        (spec,) = specs_of(tmp_path, kind, count=1)
        network.adopt(Node(spec=spec, init_pid=GONE))
        assert list(spec.directory.iterdir()) == []

    def test_a_node_that_has_ended_is_an_error(self, tmp_path: Path) -> None:
        specs = specs_of(tmp_path, NetworkKind.VETH)
        try:
            with pytest.raises(NodeError, match="No such file"):
                network.adopt(Node(spec=specs[0], init_pid=GONE))
            with pytest.raises(NodeError, match="no first process"):
                network.adopt(Node(spec=specs[0], init_pid=None))
        finally:
            network.remove(specs[0])
