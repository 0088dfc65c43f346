# SPDX-License-Identifier: Apache-2.0
"""Where nodes are found: given by Tare, or asked of the kernel in the node's own network."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from ipaddress import IPv4Interface
from pathlib import Path

import pytest
from tests.conftest import REPOSITORY
from tests.network.namespaces import AS_ROOT, GONE, LINKED, specs_of

from tare import network
from tare.errors import NodeError
from tare.network.addresses import parse_addresses
from tare.nodes.provider import Elsewhere, Node
from tare.records import NetworkKind

OUTPUTS = REPOSITORY / "tests" / "outputs" / "network"
NOBODY = 65534


def nodes_of(
    folder: Path, kind: NetworkKind, *pids: int | None, rto_min_s: float | None = None
) -> list[Node]:
    specs = specs_of(folder, kind, count=len(pids), rto_min_s=rto_min_s)
    return [Node(spec=spec, init_pid=pid) for spec, pid in zip(specs, pids, strict=True)]


@contextmanager
def with_addresses(*addresses: str, user: int = 0) -> Iterator[int]:
    """A process in a network of its own, on a link with these addresses; yields its process id."""
    make = "ip link add veth0 type veth peer name veth1; ip link set veth0 up; ip link set veth1 up; "
    give = "".join(f"ip address add {address} dev veth0; " for address in addresses)
    argv = ["unshare", "--user", "--map-root-user"] if user else ["unshare"]
    argv += ["--net", "sh", "-c", f"{make}{give}echo; exec sleep 60"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, user=user, group=user, extra_groups=[]) as child:
        assert child.stdout is not None
        if child.stdout.readline() != b"\n":
            pytest.skip("this kernel gives an ordinary user no namespaces")
        try:
            yield child.pid
        finally:
            child.kill()


def told_to(user: int, look: Callable[[], str | None]) -> str:
    """What a child process of that user prints."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            os.write(writing, str(look()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as text_io_wrapper:
        text = text_io_wrapper.read()
    os.waitpid(child, 0)
    return text


class TestParsing:
    def test_recorded_addresses_with_their_subnets(self) -> None:
        interfaces = parse_addresses((OUTPUTS / "addresses.json").read_text())
        assert interfaces == [IPv4Interface("198.18.0.10/16"), IPv4Interface("172.17.0.2/24")]

    @pytest.mark.parametrize("text", ["", "[]", "[{}]", '[{},{"ifname":"lo","addr_info":[]}]'])
    def test_none_are_none(self, text: str) -> None:
        assert parse_addresses(text) == []


@pytest.mark.parametrize("kind", LINKED)
class TestLinked:
    def test_the_address_is_what_was_given_and_nobody_is_asked(
        self, kind: NetworkKind, tmp_path: Path
    ) -> None:
        nodes = nodes_of(tmp_path, kind, GONE, GONE)
        assert [network.node_address(node) for node in nodes] == ["198.18.0.10", "198.18.0.11"]

    def test_they_meet_in_the_subnet_and_are_reached_from_the_switch(
        self, kind: NetworkKind, tmp_path: Path
    ) -> None:
        nodes = nodes_of(tmp_path, kind, GONE, GONE)
        assert network.meeting_place(nodes) == "198.18.0.0/16"
        assert network.launcher_namespace(nodes[1:]) == nodes[0].spec.directory / "switch"

    def test_the_fact_names_kind_address_and_timeout(self, kind: NetworkKind, tmp_path: Path) -> None:
        (plain,) = nodes_of(tmp_path, kind, GONE)
        (timed,) = nodes_of(tmp_path, kind, GONE, rto_min_s=0.002)
        assert network.describe(plain) == {"network": f"{kind}, 198.18.0.10/16"}
        assert network.describe(timed) == {"network": f"{kind}, 198.18.0.10/16, rto_min 2 ms"}


class TestElsewhere:
    """Nodes on other hosts, of which only what was told is known."""

    def nodes_in(self, folder: Path, subnet: str | None, *addresses: str | None) -> list[Node]:
        nodes = nodes_of(folder, NetworkKind.HOST, *(None for _ in addresses))
        return [
            replace(node, elsewhere=Elsewhere(subnet=subnet, address=address))
            for node, address in zip(nodes, addresses, strict=True)
        ]

    def test_they_meet_in_the_range_that_was_given_as_this_host_is_in_it(self, tmp_path: Path) -> None:
        nodes = self.nodes_in(tmp_path, "127.0.0.0/8", "127.0.0.2", "127.0.0.3")
        assert network.meeting_place(nodes) == "127.0.0.0/8"
        assert network.launcher_namespace(nodes) is None
        assert [network.node_address(node) for node in nodes] == ["127.0.0.2", "127.0.0.3"]
        assert network.describe(nodes[1]) == {"network": "its host's, 127.0.0.3"}

    def test_a_range_without_this_host_is_an_error(self, tmp_path: Path) -> None:
        nodes = self.nodes_in(tmp_path, "203.0.113.0/24", "203.0.113.2", "203.0.113.3")
        with pytest.raises(NodeError, match=r"has no address in 203\.0\.113\.0/24"):
            network.meeting_place(nodes)

    @pytest.mark.parametrize(("subnet", "address"), [(None, None), ("127.0.0.0/8", None)])
    def test_what_nobody_told_is_an_error_that_says_what_to_give(
        self, subnet: str | None, address: str | None, tmp_path: Path
    ) -> None:
        nodes = self.nodes_in(tmp_path, subnet, address, address)
        with pytest.raises(NodeError, match=r"give subnet, as docs/hosts\.md explains"):
            network.meeting_place(nodes)
        assert network.describe(nodes[0]) == {"network": "its host's"}


class TestShared:
    def test_nodes_on_the_hosts_network_meet_on_its_loopback(self, tmp_path: Path) -> None:
        nodes = nodes_of(tmp_path, NetworkKind.HOST, os.getpid(), os.getpid())
        assert {network.node_address(node) for node in nodes} == {"127.0.0.1"}
        assert network.meeting_place(nodes) == "lo"
        assert network.launcher_namespace(nodes) is None
        assert network.describe(nodes[0]) == {"network": "host's"}

    def test_a_default_that_is_the_hosts_is_called_so(self, tmp_path: Path) -> None:
        nodes = nodes_of(tmp_path, NetworkKind.DEFAULT, os.getpid(), os.getpid())
        assert {network.node_address(node) for node in nodes} == {"127.0.0.1"}
        assert network.meeting_place(nodes) == "lo"
        assert network.describe(nodes[0]) == {"network": "default (the host's)"}

    def test_a_node_without_a_first_process_is_taken_to_be_on_the_hosts_and_not_described_as_such(
        self, tmp_path: Path
    ) -> None:
        nodes = nodes_of(tmp_path, NetworkKind.DEFAULT, None, None)
        assert network.meeting_place(nodes) == "lo"
        assert network.describe(nodes[0]) == {"network": "default (not seen from here)"}

    def test_a_node_without_network_has_no_address_and_only_itself(self, tmp_path: Path) -> None:
        (node,) = nodes_of(tmp_path, NetworkKind.NONE, GONE)
        assert network.node_address(node) is None
        assert network.meeting_place([node]) == "lo"
        assert network.describe(node) == {"network": "none"}

    def test_a_node_that_has_ended_is_an_error_with_its_name(self, tmp_path: Path) -> None:
        (node,) = nodes_of(tmp_path, NetworkKind.DEFAULT, GONE)
        with pytest.raises(NodeError, match="cannot see the network of tare-test-0: No such file"):
            network.node_address(node)


class TestDefault:
    pytestmark = AS_ROOT

    def test_the_first_address_and_the_common_subnet_are_found(self, tmp_path: Path) -> None:
        with ExitStack() as stack:
            first = stack.enter_context(with_addresses("10.9.0.1/24", "198.18.7.2/24"))
            second = stack.enter_context(with_addresses("198.18.7.3/24"))
            nodes = nodes_of(tmp_path, NetworkKind.DEFAULT, first, second)
            assert [network.node_address(node) for node in nodes] == ["10.9.0.1", "198.18.7.3"]
            assert network.meeting_place(nodes) == "198.18.7.0/24"
            assert network.launcher_namespace(nodes) is None
            assert network.describe(nodes[0]) == {"network": "default (10.9.0.1/24, 198.18.7.2/24)"}

    @pytest.mark.parametrize("second", [["198.19.0.2/24"], [], ["198.18.7.2/24"]])
    def test_without_a_common_subnet_or_with_the_same_address_they_do_not_meet(
        self, second: list[str], tmp_path: Path
    ) -> None:
        """The same address twice: each has a network that leads to it alone, as pasta(1) and slirp4netns(1) make."""
        with with_addresses("198.18.7.2/24") as value, with_addresses(*second) as other:
            nodes = nodes_of(tmp_path, NetworkKind.DEFAULT, value, other)
            with pytest.raises(
                NodeError, match=r"do not meet .*tare-test-0: 198\.18\.7\.2/24.*network = veth"
            ):
                network.meeting_place(nodes)

    def test_a_node_alone_without_an_address_is_described_and_meets_itself(self, tmp_path: Path) -> None:
        with with_addresses() as pid:
            nodes = nodes_of(tmp_path, NetworkKind.DEFAULT, pid)
            assert network.node_address(nodes[0]) is None
            assert network.describe(nodes[0]) == {"network": "default (no address)"}
            assert network.meeting_place(nodes) == "lo"

    def test_an_ordinary_user_is_told_of_a_network_of_its_own(self, tmp_path: Path) -> None:
        with with_addresses("198.18.7.2/24", user=NOBODY) as pid:
            (node,) = nodes_of(tmp_path, NetworkKind.DEFAULT, pid)
            assert told_to(NOBODY, lambda: network.node_address(node)) == "198.18.7.2"
