# SPDX-License-Identifier: Apache-2.0
"""What ping and the transfer print is understood, and every way in which a node is not reached has its words."""

import json
import shutil
from pathlib import Path

import pytest
from tests.conftest import REPOSITORY

from tare.environments.fake import Fake
from tare.errors import NodeError
from tare.host.process import Completed
from tare.network import reach
from tare.network.reach import TRANSFER_BYTE, read_round_trip_s, read_transfer, try_reach
from tare.nodes.provider import Node, NodeNetwork, NodeSpec
from tare.records import NetworkKind

OUTPUTS = REPOSITORY / "tests" / "outputs" / "network"


def ended(stdout: str = "", code: int = 0, stderr: str = "") -> Completed:
    return Completed(code=code, stdout=stdout, stderr=stderr)


def moved(**changes: object) -> str:
    return json.dumps({"byte": TRANSFER_BYTE, "s": 0.01, "named": True} | changes)


class Script(Fake):
    """Runs a node's commands on the host, the named programs replaced by scripts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def replace(self, program: str, script: str) -> None:
        self.folder.mkdir(exist_ok=True)
        (self.folder / program).write_text(f"#!/bin/sh\n{script}\n")
        (self.folder / program).chmod(0o755)

    def prefix(self, node: Node) -> list[str]:  # noqa: ARG002 - all alike
        return ["env", f"PATH={self.folder}:/usr/bin:/bin"]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    result = Script(tmp_path / "bin")
    result.replace("ping", f"cat {OUTPUTS / 'ping-iputils.txt'}")
    return result


def node(folder: Path, name: str, kind: NetworkKind = NetworkKind.HOST) -> Node:
    """A node on the host itself, as the fake's are."""
    spec = NodeSpec(
        name=name,
        technology="fake",
        options={},
        directory=folder / name,
        image_root=Path("/nowhere"),
        image_digest="sha256:0",
        processors=(0,),
        memory_byte=1,
        shm_byte=1,
        cpu_quota=None,
        network=NodeNetwork(kind=kind),
    )
    spec.work.mkdir(parents=True)
    return Node(spec=spec, init_pid=None, work_directory=str(spec.work))


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Node, Node]:
    return node(tmp_path, "localhost"), node(tmp_path, "tare-no-such-name")


class TestReading:
    @pytest.mark.parametrize(("maker", "least_s"), [("iputils", 0.000052), ("busybox", 0.000067)])
    def test_the_least_round_trip_of_either_ping(self, maker: str, least_s: float) -> None:
        said = (OUTPUTS / f"ping-{maker}.txt").read_text()
        assert read_round_trip_s(ended(said), "127.0.0.1") == pytest.approx(least_s)

    def test_no_answer_is_an_error_with_the_address(self) -> None:
        said = (OUTPUTS / "ping-unanswered.txt").read_text()
        with pytest.raises(NodeError, match=r"no ping to 198\.18\.0\.11 is answered: .*100% packet loss"):
            read_round_trip_s(ended(said, 1), "198.18.0.11")

    @pytest.mark.parametrize("said", ["", "pong", "rtt min/avg/max/mdev = "])
    def test_words_without_a_time_are_no_answer(self, said: str) -> None:
        with pytest.raises(NodeError, match="no ping"):
            read_round_trip_s(ended(said), "198.18.0.11")

    @pytest.mark.parametrize(
        ("done", "words"),
        [
            (ended(code=1, stderr="TimeoutError: timed out"), "TimeoutError: timed out"),
            (ended(moved(byte=1000)), f"1000 of {TRANSFER_BYTE} bytes arrived"),
            (ended("garbage"), "garbage"),
            (ended(), "it printed nothing"),
        ],
    )
    def test_a_transfer_that_failed_or_was_cut_is_an_error(self, done: Completed, words: str) -> None:
        with pytest.raises(NodeError, match=rf"no TCP transfer to 198\.18\.0\.11: {words}"):
            read_transfer(done, "198.18.0.11")


class TestTrying:
    def test_everything_works_on_the_hosts_own_network(self, script: Script, pair: tuple[Node, Node]) -> None:
        server, client = pair
        round_trip = try_reach(client, server, script)
        assert round_trip.round_trip_s == pytest.approx(0.000052)
        assert round_trip.transferred_byte == TRANSFER_BYTE
        assert round_trip.transfer_s > 0
        assert round_trip.remarks == ()

    def test_a_name_that_is_not_resolved_is_remarked(self, script: Script, pair: tuple[Node, Node]) -> None:
        client, server = pair
        (remark,) = try_reach(client, server, script).remarks
        assert "name is not resolved" in remark

    def test_a_node_alone_reaches_itself(self, script: Script, tmp_path: Path) -> None:
        alone = node(tmp_path, "tare-alone", NetworkKind.NONE)
        assert try_reach(alone, alone, script).remarks == ()

    @pytest.mark.parametrize("recording", ["ping-refused", "ping-refused-program"])
    def test_refused_raw_sockets_are_said_and_the_transfer_decides(
        self, recording: str, script: Script, pair: tuple[Node, Node]
    ) -> None:
        script.replace("ping", f"cat {OUTPUTS / recording}.txt >&2; exit 2")
        round_trip = try_reach(pair[1], pair[0], script)
        assert round_trip.round_trip_s is None
        assert round_trip.remarks == ("the node may not ping: raw sockets are refused there",)
        assert round_trip.transferred_byte == TRANSFER_BYTE

    def test_an_image_without_ping_is_said(
        self, script: Script, pair: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reach, "_PING", ("env", "no-such-ping"))
        round_trip = try_reach(pair[1], pair[0], script)
        assert round_trip.round_trip_s is None
        assert round_trip.remarks == ("the node has no ping",)

    def test_an_image_without_python_is_an_error_that_asks_for_it(
        self, script: Script, pair: tuple[Node, Node]
    ) -> None:
        script.replace("python3", "echo python3: not found >&2; exit 127")
        with pytest.raises(NodeError, match=r"no TCP server starts in localhost: .*has the image python3\?"):
            try_reach(pair[1], pair[0], script)

    def test_a_client_that_fails_leaves_no_server(self, script: Script, pair: tuple[Node, Node]) -> None:
        """The second python3 is the client's."""
        once, real = script.folder / "once", shutil.which("python3")
        script.replace("python3", f'[ ! -e {once} ] || exit 9; : > {once}; exec {real} "$@"')
        with pytest.raises(NodeError, match="no TCP transfer"):
            try_reach(pair[1], pair[0], script)
        servers = [
            entry
            for entry in Path("/proc").glob("[0-9]*/cmdline")
            if str(pair[0].spec.work).encode() in read_or_nothing(entry)
        ]
        assert servers == []

    def test_a_node_without_an_address_is_an_error(self, script: Script, tmp_path: Path) -> None:
        nodes = [node(tmp_path, name, NetworkKind.NONE) for name in ("tare-1", "tare-2")]
        with pytest.raises(NodeError, match="tare-2 has no IPv4 address"):
            try_reach(nodes[0], nodes[1], script)


def read_or_nothing(entry: Path) -> bytes:
    try:
        return entry.read_bytes()
    except OSError:
        return b""
