# SPDX-License-Identifier: Apache-2.0
"""mpirun's daemons are run in the nodes by the runner, and end with whichever side ends first."""

import json
import os
import secrets
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.measure.measure_nodes import wait_until

from tare.measure import agent
from tare.measure.agent import AgentServer, Daemon, explain

LIMIT_S = 30


@pytest.fixture
def server(tmp_path: Path) -> Iterator[AgentServer]:
    with AgentServer(tmp_path, {"here": ["env", "PLACE=here"], "gone": ["/no/such/way"]}) as made:
        yield made


def start(programs: Path, folder: Path, *argv: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [str(programs / "agent"), *argv],
        env={"TARE_AGENT": str(folder / AgentServer.name)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finished(child: "subprocess.Popen[bytes]", given: bytes = b"") -> tuple[int, bytes, bytes]:
    out, err = child.communicate(given, timeout=LIMIT_S)
    return child.returncode, out, err


@pytest.mark.usefixtures("server")
def test_the_command_gets_the_agents_own_files_and_its_exit_code_comes_back(
    programs: Path, tmp_path: Path
) -> None:
    given = secrets.token_bytes(1 << 20)
    assert finished(start(programs, tmp_path, "here", "cat"), given) == (0, given, b"")
    code, out, err = finished(start(programs, tmp_path, "here", "echo $PLACE;", "echo no >&2; exit 7"))
    assert (code, out, err) == (7, b"here\n", b"no\n")


@pytest.mark.usefixtures("server")
def test_a_command_ended_by_a_signal_is_told_as_a_shell_tells_it(programs: Path, tmp_path: Path) -> None:
    assert finished(start(programs, tmp_path, "here", "kill -9 $$"))[0] == 128 + 9


def test_a_failed_daemon_is_remembered_with_its_node(
    server: AgentServer, programs: Path, tmp_path: Path
) -> None:
    assert finished(start(programs, tmp_path, "here", "true"))[0] == 0
    assert server.failure() is None
    assert finished(start(programs, tmp_path, "gone", "true"))[0] == 126
    assert server.failure() == Daemon(node="gone", code=126)
    assert "gone ended with 126" in str(explain(Daemon(node="gone", code=126), "first\nlast words"))


def test_an_unknown_node_is_refused(server: AgentServer, programs: Path, tmp_path: Path) -> None:
    assert finished(start(programs, tmp_path, "elsewhere", "true"))[0] == 126
    assert server.failure() == Daemon(node="elsewhere", code=126)


def test_the_end_of_the_agent_ends_its_command(server: AgentServer, programs: Path, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    asking = start(
        programs, tmp_path, "here", f"echo $$ > {pid_file}.new; mv {pid_file}.new {pid_file}; sleep 600"
    )
    wait_until(pid_file.exists)
    pid = int(pid_file.read_text())
    asking.kill()
    asking.communicate(timeout=LIMIT_S)
    wait_until(lambda: server.ended)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_end_of_the_server_ends_the_commands_and_the_agents(programs: Path, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    with AgentServer(tmp_path, {"here": []}):
        asking = start(
            programs, tmp_path, "here", f"echo $$ > {pid_file}.new; mv {pid_file}.new {pid_file}; sleep 600"
        )
        wait_until(pid_file.exists)
    code, _, _ = finished(asking)
    assert code != 0
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)


def test_a_long_path_is_no_obstacle_to_the_server(programs: Path, tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 120)
    deep.mkdir()
    (tmp_path / "short").symlink_to(deep)
    with AgentServer(deep, {"here": []}):
        assert finished(start(programs, Path(os.path.relpath(tmp_path / "short")), "here", "true"))[0] == 0


def connected(folder: Path) -> socket.socket:
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    client.settimeout(LIMIT_S)
    client.connect(str(folder / AgentServer.name))
    return client


def answer_to(folder: Path, text: bytes) -> bytes:
    with connected(folder) as client, Path(os.devnull).open("r+b") as file:
        socket.send_fds(client, [text], [file.fileno()] * 3)
        return client.recv(100)


@pytest.mark.parametrize(
    "text",
    [
        b"\xff{",
        b"[1]",
        b"{}",
        b"[" * 100_000,
        b'{"node":["here"],"command":"true"}',
        b'{"node":"here","command":5}',
        b'{"node":"here","command":"\\ud800"}',
    ],
    ids=[
        "no JSON",
        "a list",
        "nothing in it",
        "deep",
        "a node that is none",
        "a command that is none",
        "half a character",
    ],
)
def test_what_makes_no_sense_is_hung_up_on(server: AgentServer, tmp_path: Path, text: bytes) -> None:
    assert answer_to(tmp_path, text) == b""
    assert answer_to(tmp_path, b'{"node":"here","command":"true"}') == b"0"
    assert server.failure() is None


@pytest.mark.usefixtures("server")
def test_a_command_that_no_argument_can_hold_cannot_be_run(tmp_path: Path) -> None:
    assert answer_to(tmp_path, json.dumps({"node": "here", "command": "a\0b"}).encode()) == b"126"


def test_who_stays_silent_is_not_waited_for_at_the_end(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with AgentServer(tmp_path, {"here": ["env"]}):
        silent = [connected(tmp_path) for _ in range(3)]
        assert answer_to(tmp_path, b'{"node":"here","command":"true"}') == b"0"
    assert set(threading.enumerate()) == before
    for client in silent:
        assert client.recv(100) == b""
        client.close()


def test_a_crowd_is_hung_up_on_until_there_is_room_again(
    server: AgentServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent, "_CROWD", 0)
    first, second = connected(tmp_path), connected(tmp_path)
    with connected(tmp_path) as third:
        assert third.recv(100) == b""
    for client in (first, second):
        client.close()
    wait_until(lambda: answered(tmp_path))
    assert server.failure() is None


def answered(folder: Path) -> bool:
    try:
        return answer_to(folder, b'{"node":"here","command":"true"}') == b"0"
    except OSError:  # hung up on while asking
        return False


@pytest.mark.parametrize("argv", [[], ["here"]])
def test_the_agent_says_how_it_is_used(programs: Path, tmp_path: Path, argv: list[str]) -> None:
    code, _, err = finished(start(programs, tmp_path, *argv))
    assert code != 0
    assert b"write: TARE_AGENT=SOCKET agent NODE WORD..." in err


def test_an_agent_without_a_server_says_what_it_cannot_reach(programs: Path, tmp_path: Path) -> None:
    code, _, err = finished(start(programs, tmp_path, "here", "true"))
    assert code != 0
    assert b"cannot reach Tare at" in err
