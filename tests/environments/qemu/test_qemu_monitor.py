# SPDX-License-Identifier: Apache-2.0
"""The conversation with QEMU's monitor, with answers of QEMU 7.2 and with what is none."""

import json
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tare.environments.qemu.monitor import connected, virtual_processors
from tare.errors import NodeError

GREETING = (
    '{"QMP": {"version": {"qemu": {"micro": 22, "minor": 2, "major": 7}, "package": "Debian 1:7.2"}, '
    '"capabilities": ["oob"]}}'
)
DONE = '{"return": {}}'
EVENT = '{"timestamp": {"seconds": 1, "microseconds": 2}, "event": "NIC_RX_FILTER_CHANGED", "data": {}}'
REFUSED = '{"error": {"class": "CommandNotFound", "desc": "The command no-such has not been found"}}'
PROCESSORS = (
    '{"return": [{"thread-id": 502, "cpu-index": 1, "target": "x86_64"}, '
    '{"thread-id": 501, "cpu-index": 0, "target": "x86_64"}]}'
)


@contextmanager
def answering(folder: Path, lines: Sequence[str]) -> Iterator[list[str]]:
    """A monitor in this folder that greets, and then says the next line to each request."""
    asked: list[str] = []
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "qmp"))
        listening.listen()

        def serve() -> None:
            connection, _ = listening.accept()
            with connection, connection.makefile("rwb") as stream:
                stream.write(GREETING.encode() + b"\n")
                stream.flush()
                for line in lines:
                    asked.append(json.loads(stream.readline())["execute"])
                    stream.write(line.encode() + b"\n")
                    stream.flush()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield asked
        thread.join(10)


def test_an_event_in_between_is_no_answer(tmp_path: Path) -> None:
    with answering(tmp_path, [DONE, f"{EVENT}\n{DONE}"]) as asked, connected(tmp_path) as monitor:
        assert monitor.ask("stop") == {}
    assert asked == ["qmp_capabilities", "stop"]


def test_a_refusal_is_told_in_qemus_words(tmp_path: Path) -> None:
    with (
        answering(tmp_path, [DONE, REFUSED]),
        connected(tmp_path) as monitor,
        pytest.raises(NodeError, match=r"refuses no-such: The command no-such has not been found"),
    ):
        monitor.ask("no-such")


@pytest.mark.parametrize("said", ["", "{torn", "[]"])
def test_what_is_no_answer_is_an_error(tmp_path: Path, said: str) -> None:
    with (
        answering(tmp_path, [DONE, said]),
        connected(tmp_path) as monitor,
        pytest.raises(NodeError, match=r"QEMU's monitor (said|prints is not understood)"),
    ):
        monitor.ask("stop")


def test_a_machine_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NodeError, match=r"does not answer: No such file"), connected(tmp_path):
        pass


def test_the_guests_processors_are_threads_in_their_order(tmp_path: Path) -> None:
    with answering(tmp_path, [DONE, PROCESSORS]), connected(tmp_path) as monitor:
        assert virtual_processors(monitor) == (501, 502)
