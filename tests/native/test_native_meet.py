# SPDX-License-Identifier: Apache-2.0
"""meet: a client runs once its server listens, and neither outlives the other."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PATH = {"PATH": os.environ["PATH"]}
ECHOING = """
import socket, sys, time
time.sleep(float(sys.argv[2]))
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    listener.accept()[0].sendall(b"here")
"""
ASKING = """
import socket, sys
print(socket.create_connection((sys.argv[1], int(sys.argv[2]))).recv(9).decode())
sys.exit(int(sys.argv[3]))
"""


@pytest.fixture
def ports() -> tuple[int, int]:
    """Two ports that are free now: to meet, and of the service."""
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("127.0.0.1", 0)) as second:
        return first.getsockname()[1], second.getsockname()[1]


def server(*words: object) -> list[str]:
    return ["python3", "-c", ECHOING, *map(str, words)]


@contextmanager
def serving(programs: Path, ports: tuple[int, int], *command: str) -> Iterator[subprocess.Popen[str]]:
    argv = [str(programs / "meet"), "serve", *map(str, ports), *command]
    with subprocess.Popen(argv, env=PATH, stderr=subprocess.PIPE, text=True) as started:
        try:
            yield started
        finally:
            started.kill()


def call(programs: Path, port: int, *command: str) -> subprocess.CompletedProcess[str]:
    argv = [str(programs / "meet"), "call", "localhost", str(port), *command]
    return subprocess.run(argv, env=PATH, capture_output=True, text=True, check=False, timeout=20)


@pytest.mark.parametrize("code", [0, 7])
def test_a_client_finds_a_server_that_listens_late_and_ends_it(
    programs: Path, ports: tuple[int, int], code: int
) -> None:
    meeting, service = ports
    with serving(programs, ports, *server(service, 0.2)) as served:
        asked = call(programs, meeting, "python3", "-c", ASKING, "{server}", str(service), str(code))
        assert (asked.returncode, asked.stdout) == (code, "here\n")
        assert served.wait(10) == 0


def test_a_client_ends_with_its_server(programs: Path, ports: tuple[int, int]) -> None:
    meeting, service = ports
    with serving(programs, ports, "timeout", "0.5", *server(service, 0)) as served:
        asked = call(programs, meeting, "sleep", "60")
        assert asked.returncode == 1
        assert asked.stderr == "meet: the server ended before its client\n"
        assert served.wait(10) == 1
        assert served.stderr is not None
        assert "ended before its client, with exit code 124" in served.stderr.read()


def test_a_server_that_never_listens_is_named(programs: Path, ports: tuple[int, int]) -> None:
    with serving(programs, ports, "false") as served:
        assert served.wait(10) == 1
        assert served.stderr is not None
        assert served.stderr.read() == f"meet: the server does not listen on port {ports[1]}\n"


def test_a_server_ends_with_its_supervisor(programs: Path, ports: tuple[int, int]) -> None:
    """Killed without a chance to say anything, as mpirun does to the others when one process has failed."""
    with serving(programs, ports, *server(ports[1], 0)) as served:
        children = Path(f"/proc/{served.pid}/task/{served.pid}/children")
        while not children.read_text():
            time.sleep(0.01)
        child = int(children.read_text().split()[0])
        served.kill()
    deadline = time.monotonic() + 10
    while Path(f"/proc/{child}").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not Path(f"/proc/{child}").exists()


@pytest.mark.parametrize(
    "words", [[], ["call"], ["call", "here", "1"], ["serve", "x", "1", "true"], ["serve", "1", "0", "true"]]
)
def test_wrong_use_is_refused(programs: Path, words: list[str]) -> None:
    argv = [str(programs / "meet"), *words]
    done = subprocess.run(argv, env=PATH, capture_output=True, text=True, check=False, timeout=20)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("meet: ")
