# SPDX-License-Identifier: Apache-2.0
"""The server over time: campaigns that go on, and connections that do not."""

import socket
import time
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path

import pytest

from tare.serve import server as under_test
from tests.serve.serve_example import Client, GrowingJournal, event_data, make_result, result_named, serving

POLICY = "Content-Security-Policy"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    make_result(folder / "plain")
    return folder


def test_a_campaign_at_work_is_followed_and_its_new_trials_are_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tare.serve.shelf._REST", 1e9)  # nothing is read again by itself
    journal = GrowingJournal(make_result(tmp_path / "live"))
    journal.begin(22)
    with serving(tmp_path) as client:
        own = result_named(client.enters(), "live")
        page = client.read(own)
        assert "running: 20 of 40 trials" in page.text
        assert "Everything planned ran" not in page.text
        with client.connected() as connection:
            head = f"GET {own}/events HTTP/1.1\r\nHost: localhost\r\nCookie: {client.cookie}\r\n\r\n"
            connection.sendall(head.encode())
            received = _until(connection, "running: 20 of 40")
            assert "text/event-stream" in received
            assert POLICY in received
            journal.grow(5)
            received += _until(connection, '"newer": 5')
            assert "20 trials" in (page := client.get(own)).text
            assert "Show <span" in page.text
            assert "25 trials" in client.read(f"{own}?anew=1").text
            journal.grow()
            received += _until(connection, "ended: 40 of 40")
        assert event_data(received)[-1]["measured"] == 40
        assert "40 trials" in client.read(own).text


def _until(connection: socket.socket, wanted: str) -> str:
    text = ""
    while wanted not in text:
        piece = connection.recv(65536).decode()
        assert piece, text
        text += piece
    return text


def test_streams_are_few_and_end_with_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(under_test, "MOST_STREAMS", 1)
    make_result(tmp_path / "one")
    with serving(tmp_path) as client:
        own = result_named(client.enters(), "one")
        connection = client.connected()
        connection.sendall(
            f"GET {own}/events HTTP/1.1\r\nHost: localhost\r\nCookie: {client.cookie}\r\n\r\n".encode()
        )
        _until(connection, "data: ")
        assert client.get(f"{own}/events").status == 503
    with connection:
        assert b"".join(iter(lambda: connection.recv(65536), b"")) == b""


def test_events_of_a_journal_that_cannot_be_read_end(tmp_path: Path) -> None:
    result = make_result(tmp_path / "one")
    with serving(tmp_path) as client:
        own = result_named(client.enters(), "one")
        (path,) = result.glob("journal/*.jsonl")
        path.unlink()
        path.mkdir()
        answer = client.get(f"{own}/events")
        assert (answer.status, answer.text) == (200, "")
        assert client.get(own).status == 500


def test_a_request_that_drips_is_ended_in_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(under_test, "REQUEST_S", 0.3)
    with serving(folder) as client, client.connected() as connection:
        for letter in "GET / HT":
            connection.sendall(letter.encode())
        assert connection.recv(100) == b""


def test_beyond_its_connections_the_server_hangs_up_and_then_answers_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(under_test, "MOST_AT_ONCE", 1)
    monkeypatch.setattr(under_test, "REQUEST_S", 0.5)
    with serving(folder) as client:
        with client.connected() as idle, client.connected() as further:
            assert further.recv(100) == b""
            assert idle.recv(100) == b""
        assert _answered_at_last(client)


def _answered_at_last(client: Client) -> bool:
    """A connection's slot is free a moment after its end."""
    for _ in range(100):
        with suppress(ConnectionError):
            return client.enters().get("/").status == HTTPStatus.OK
        time.sleep(0.05)
    return False
