# SPDX-License-Identifier: Apache-2.0
"""Names are written where the nodes' own /etc/hosts is, and never to the host's."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.network.namespaces import AS_ROOT, GONE, specs_of

from tare import network
from tare.environments.fake import Fake
from tare.errors import NodeError
from tare.host import process
from tare.network import HOSTS, has_own_hosts, hosts_text
from tare.nodes.provider import Node
from tare.records import NetworkKind

names = st.text("abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1).map(lambda end: f"tare-{end}")
addresses = st.ip_addresses(v=4).map(str)


class Recording(Fake):
    """Notes which commands would run in which node."""

    def __init__(self, code: int = 0) -> None:
        self.code = code

    def prefix(self, node: Node) -> list[str]:
        note = node.spec.directory / "written"
        return ["sh", "-c", f'echo "$@" > "$0"; cat >> "$0"; exit {self.code}', str(note)]


def written(node: Node) -> list[str]:
    note = node.spec.directory / "written"
    return note.read_text().splitlines() if note.exists() else []


@pytest.fixture
def process_elsewhere(tmp_path: Path) -> Iterator[int]:
    """A process whose root directory has an /etc/hosts of its own."""
    (tmp_path / "root" / "etc").mkdir(parents=True)
    (tmp_path / "root" / "etc" / "hosts").touch()
    script = "import os, sys, time; os.chroot(sys.argv[1]); print(flush=True); time.sleep(60)"
    argv = [sys.executable, "-c", script, str(tmp_path / "root")]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        yield child.pid
        child.kill()


def nodes_of(folder: Path, kind: NetworkKind, pids: Sequence[int | None]) -> list[Node]:
    specs = specs_of(folder, kind, count=len(pids))
    return [Node(spec=spec, init_pid=pid) for spec, pid in zip(specs, pids, strict=True)]


@given(st.dictionaries(names, addresses))
def test_every_name_stands_once_with_its_address_and_localhost_is_kept(
    node_addresses: dict[str, str],
) -> None:
    lines = [line.split() for line in hosts_text(node_addresses).splitlines()]
    assert lines[0] == ["127.0.0.1", "localhost"]
    assert lines[1][:2] == ["::1", "localhost"]
    assert {name: address for address, name in lines[2:]} == node_addresses


class TestWriting:
    pytestmark = AS_ROOT

    def test_every_node_gets_all_names_its_own_included(self, tmp_path: Path, process_elsewhere: int) -> None:
        nodes = nodes_of(tmp_path, NetworkKind.VETH, [process_elsewhere] * 3)
        network.name_nodes(nodes, Recording())
        for node in nodes:
            command, *lines = written(node)
            assert command == f"tee {HOSTS}"
            assert lines[2:] == [f"198.18.0.{10 + number} tare-test-{number}" for number in range(3)]

    def test_a_node_that_refuses_is_an_error_with_its_name(
        self, tmp_path: Path, process_elsewhere: int
    ) -> None:
        nodes = nodes_of(tmp_path, NetworkKind.VETH, [process_elsewhere] * 2)
        with pytest.raises(NodeError, match=r"cannot write /etc/hosts in tare-test-0: .*has the image tee"):
            network.name_nodes(nodes, Recording(code=1))

    @pytest.mark.parametrize("kind", [NetworkKind.NONE, NetworkKind.HOST])
    def test_a_node_alone_without_a_network_of_its_own_is_not_entered(
        self, kind: NetworkKind, tmp_path: Path, process_elsewhere: int
    ) -> None:
        nodes = nodes_of(tmp_path, kind, [process_elsewhere])
        network.name_nodes(nodes, Recording())
        assert written(nodes[0]) == []


class TestTheUsersFile:
    def test_a_node_on_the_hosts_own_root_is_never_written_to(self, tmp_path: Path) -> None:
        nodes = nodes_of(tmp_path, NetworkKind.HOST, [os.getpid(), None])
        network.name_nodes(nodes, Recording())
        assert [written(node) for node in nodes] == [[], []]

    def test_a_node_that_has_ended_is_not_trusted(self, tmp_path: Path) -> None:
        (node,) = nodes_of(tmp_path, NetworkKind.VETH, [GONE])
        assert not has_own_hosts(node)

    @pytest.mark.root
    @pytest.mark.skipif(os.geteuid() != 0, reason="needs root to change the root directory")
    def test_a_root_of_its_own_with_the_hosts_file_in_it_is_never_written_to(
        self, tmp_path: Path, process_elsewhere: int
    ) -> None:
        """As with a campaign's ``binds = ["/etc:rw"]``."""
        (node,) = nodes_of(tmp_path, NetworkKind.VETH, [process_elsewhere])
        assert has_own_hosts(node)
        inside = tmp_path / "root" / "etc" / "hosts"
        process.run_checked(["mount", "--bind", str(HOSTS), str(inside)])
        try:
            assert not has_own_hosts(node)
        finally:
            process.run_checked(["umount", str(inside)])
