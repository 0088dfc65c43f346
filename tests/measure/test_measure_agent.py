# SPDX-License-Identifier: Apache-2.0
"""mpirun's daemons are run in the nodes by the runner, and end with whichever side ends first."""

import os
import secrets
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.measure.measure_nodes import wait_until

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
    agent = start(
        programs, tmp_path, "here", f"echo $$ > {pid_file}.new; mv {pid_file}.new {pid_file}; sleep 600"
    )
    wait_until(pid_file.exists)
    pid = int(pid_file.read_text())
    agent.kill()
    agent.communicate(timeout=LIMIT_S)
    wait_until(lambda: server.ended)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_end_of_the_server_ends_the_commands_and_the_agents(programs: Path, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    with AgentServer(tmp_path, {"here": []}):
        agent = start(
            programs, tmp_path, "here", f"echo $$ > {pid_file}.new; mv {pid_file}.new {pid_file}; sleep 600"
        )
        wait_until(pid_file.exists)
    code, _, _ = finished(agent)
    assert code != 0
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)


def test_a_long_path_is_no_obstacle_to_the_server(programs: Path, tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 120)
    deep.mkdir()
    (tmp_path / "short").symlink_to(deep)
    with AgentServer(deep, {"here": []}):
        assert finished(start(programs, Path(os.path.relpath(tmp_path / "short")), "here", "true"))[0] == 0


@pytest.mark.parametrize("argv", [[], ["here"]])
def test_the_agent_says_how_it_is_used(programs: Path, tmp_path: Path, argv: list[str]) -> None:
    code, _, err = finished(start(programs, tmp_path, *argv))
    assert code != 0
    assert b"write: TARE_AGENT=SOCKET agent NODE WORD..." in err


def test_an_agent_without_a_server_says_what_it_cannot_reach(programs: Path, tmp_path: Path) -> None:
    code, _, err = finished(start(programs, tmp_path, "here", "true"))
    assert code != 0
    assert b"cannot reach Tare at" in err
