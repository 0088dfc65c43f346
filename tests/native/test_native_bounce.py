# SPDX-License-Identifier: Apache-2.0
"""bounce: connections and datagrams are counted, answers are compared, and what is lost is sent again."""

import json
import os
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PATH = {"PATH": os.environ["PATH"]}
Answer = Callable[[int, bytes], list[bytes]]
"""The number of a datagram, from 0, and the datagram → what is sent back."""
HOW_MANY = b"\0"


def bounce(programs: Path, *words: object) -> subprocess.CompletedProcess[str]:
    argv = [str(programs / "bounce"), *map(str, words)]
    return subprocess.run(argv, env=PATH, capture_output=True, text=True, check=False, timeout=30)


def result(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert (done.returncode, done.stderr) == (0, "")
    parsed: dict[str, Any] = json.loads(done.stdout)
    return parsed


@contextmanager
def serving(programs: Path, kind: socket.SocketKind, *words: object) -> Iterator[int]:
    """A server of its own; gives the port on which it has answered."""
    with socket.socket(socket.AF_INET, kind) as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    role = "serve-connections" if kind is socket.SOCK_STREAM else "serve-datagrams"
    with subprocess.Popen([str(programs / "bounce"), role, str(port), *map(str, words)], env=PATH) as started:
        try:
            while not answers(kind, port):
                assert started.poll() is None
                time.sleep(0.01)
            yield port
        finally:
            started.kill()


def answers(kind: socket.SocketKind, port: int) -> bool:
    """Whether the server answers; the connection ends by a reset, so that the kernel does not remember it."""
    with socket.socket(socket.AF_INET, kind) as asking:
        asking.settimeout(1)
        asking.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        try:
            asking.connect(("127.0.0.1", port))
            asking.sendall(HOW_MANY)
            return bool(asking.recv(9))
        except OSError:
            return False


@contextmanager
def answering(answer: Answer) -> Iterator[int]:
    """A server of datagrams that does as ``answer`` says; gives its port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.bind(("127.0.0.1", 0))
        own.settimeout(0.05)
        ended = threading.Event()
        thread = threading.Thread(target=answer_all, args=(own, answer, ended))
        thread.start()
        try:
            yield own.getsockname()[1]
        finally:
            ended.set()
            thread.join()


def answer_all(own: socket.socket, answer: Answer, ended: threading.Event) -> None:
    number = 0
    while not ended.is_set():
        try:
            content, sender = own.recvfrom(1 << 16)
        except TimeoutError:
            continue
        for each in answer(number, content):
            own.sendto(each, sender)
        number += 1


@contextmanager
def counting(says: bytes, answer: bytes | None = None) -> Iterator[int]:
    """A server of connections that answers as it should, or always ``answer``, and ``says`` how many there were."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    byte = connection.recv(1)
                    complement = bytes([byte[0] ^ 0xFF]) if answer is None else answer
                    connection.sendall(says if byte == HOW_MANY else complement)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def in_time_wait(port: int) -> int:
    """Connections to ``port`` that the kernel still remembers."""
    states = [line.split()[1:4] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    ending = f":{port:04X}"
    return sum(state == "06" and ending in (here[-5:], there[-5:]) for here, there, state in states)


@pytest.mark.parametrize("threads", [1, 3])
def test_every_connection_is_answered_and_none_is_left_behind(programs: Path, threads: int) -> None:
    with serving(programs, socket.SOCK_STREAM, threads) as port:
        before = in_time_wait(port)
        said = result(bounce(programs, "connect", "localhost", port, threads, 200))
        assert in_time_wait(port) <= before
    assert (said["connections"], said["answered"], said["threads"]) == (200, 200, threads)
    percentiles = [said[name] for name in ("p50_s", "p90_s", "p99_s", "p99_9_s", "most_s")]
    assert percentiles == sorted(percentiles)
    assert 0 < said["mean_s"] <= said["most_s"] <= said["wall_s"]


@pytest.mark.parametrize(
    ("says", "answer", "words"),
    [
        (b"299", None, "the server answered 199 connections of 200"),
        (b"many", None, "does not say how many"),
        (b"300", b"x", "another byte than the answer"),
        (b"300", b"", "another byte than the answer, or none"),
    ],
)
def test_a_server_that_counts_or_answers_wrongly_fails_the_run(
    programs: Path, says: bytes, answer: bytes | None, words: str
) -> None:
    with counting(says, answer) as port:
        done = bounce(programs, "connect", "127.0.0.1", port, 1, 200)
    assert (done.returncode, done.stdout) == (1, "")
    assert words in done.stderr


def test_a_server_that_is_not_there_is_an_error_of_either(programs: Path) -> None:
    with socket.socket() as tcp, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        tcp.bind(("127.0.0.1", 0))
        udp.bind(("127.0.0.1", 0))
        ports = tcp.getsockname()[1], udp.getsockname()[1]
        udp.close()
        connected = bounce(programs, "connect", "127.0.0.1", ports[0], 1, 1)
        sent = bounce(programs, "send", "127.0.0.1", ports[1], 9999, 1, 1, 8)
    assert (connected.returncode, sent.returncode) == (1, 1)
    assert connected.stderr == "bounce: cannot open a connection: Connection refused\n"
    assert "Connection refused" in sent.stderr


def test_datagrams_of_every_size_come_back(programs: Path) -> None:
    with serving(programs, socket.SOCK_DGRAM) as port:
        said = result(bounce(programs, "send", "localhost", port, 9999, 2, 5, 1, 3, 9, 65507))
    assert [point["size_byte"] for point in said["points"]] == [1, 3, 9, 65507]
    assert all((point["answered"], point["lost"]) == (10, 0) for point in said["points"])
    assert all(point["time_s"] > 0 for point in said["points"])


def test_a_lost_datagram_is_counted_and_sent_again_and_is_in_no_time(programs: Path) -> None:
    with answering(lambda number, content: [] if number == 0 else [content]) as port:
        (point,) = result(bounce(programs, "send", "127.0.0.1", port, 200, 1, 1, 20))["points"]
    assert point["answered"] == 1
    assert point["lost"] >= 1
    assert 0 < point["time_s"] < 0.1


def test_answers_that_are_late_or_twice_are_passed_over(programs: Path) -> None:
    kept: list[bytes] = []

    def answer(number: int, content: bytes) -> list[bytes]:
        kept.append(content)
        return [] if number == 1 else [*kept[:-1], content, content]

    with answering(answer) as port:
        said = result(bounce(programs, "send", "127.0.0.1", port, 200, 1, 4, 1, 2))
    assert [point["answered"] for point in said["points"]] == [4, 4]
    assert said["points"][0]["lost"] >= 1


def test_a_changed_byte_fails_the_run(programs: Path) -> None:
    with answering(lambda _, content: [content[:-1] + bytes([content[-1] ^ 1])]) as port:
        done = bounce(programs, "send", "127.0.0.1", port, 9999, 1, 1, 100)
    assert (done.returncode, done.stderr) == (1, "bounce: an answer of 100 bytes is not what was sent\n")


def test_datagrams_that_never_come_back_end_the_run(programs: Path) -> None:
    with answering(lambda _number, _content: []) as port:
        done = bounce(programs, "send", "127.0.0.1", port, 10, 1, 1, 100)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "bounce: none of 20 datagrams of 100 bytes in a row was answered\n"


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["connect", "localhost", "1", "1"],
        ["connect", "localhost", "0", "1", "1"],
        ["send", "localhost", "1", "1", "1", "1"],
        ["send", "localhost", "1", "1", "1", "1", "65508"],
        ["send", "nowhere.invalid", "1", "1", "1", "1", "1"],
        ["serve-datagrams", "65536"],
    ],
)
def test_wrong_use_is_refused(programs: Path, words: list[str]) -> None:
    done = bounce(programs, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("bounce: ")
