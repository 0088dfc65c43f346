# SPDX-License-Identifier: Apache-2.0
"""An image passed on between two ends on the loopback: whole, or refused with the reason, and nothing stays open."""

import os
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.hostile.mutation import Mutator

from tare.errors import NodeError
from tare.far import passing
from tare.far.passing import Offer, Patience, take, unpack
from tare.host.packed import most_byte
from tare.image.digest import list_tree

LOOPBACK = "127.0.0.0/8"
HERE = "127.0.0.1"
TOKEN = bytes(range(32))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "deep" / "er").mkdir(parents=True)
    (root / "deep" / "er" / "large").write_bytes(os.urandom(3 << 20))
    (root / "set").write_text("user")
    (root / "set").chmod(0o4751)
    (root / "same").hardlink_to(root / "set")
    (root / "link").symlink_to("/etc/passwd")
    return root


@pytest.fixture
def into(tmp_path: Path) -> Path:
    (tmp_path / "into").mkdir()
    return tmp_path / "into"


@pytest.fixture
def patience() -> Iterator[Patience]:
    """A short one; whoever asked stays."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Patience(theirs.fileno(), stall_s=5.0)


@contextmanager
def offered(root: Path, patience: Patience, to: str = HERE) -> Iterator[tuple[tuple[str, int], Future[None]]]:
    """Where the image is, and the end of passing it on."""
    offer = Offer(root, LOOPBACK)
    with ThreadPoolExecutor(1) as pool:
        yield (offer.address, offer.port), pool.submit(offer.pass_on, TOKEN, to, patience)


def is_open(source: tuple[str, int]) -> bool:
    with socket.socket() as asked:
        return asked.connect_ex(source) == 0


def test_an_image_arrives_as_it_is_and_the_port_is_closed(root: Path, into: Path, patience: Patience) -> None:
    with offered(root, patience) as (source, sent):
        take(into, source, TOKEN, LOOPBACK, most_byte(root), patience)
        sent.result(20)
    assert list_tree(into) == list_tree(root)
    assert not is_open(source)


@pytest.mark.parametrize("wrong", [bytes(32), TOKEN[:31] + b"x", TOKEN[:5]])
def test_without_the_token_nothing_is_sent_and_nobody_is_asked_again(
    root: Path, patience: Patience, wrong: bytes
) -> None:
    with offered(root, patience) as (source, sent):
        with socket.create_connection(source, timeout=20) as stranger:
            stranger.sendall(wrong)
            stranger.shutdown(socket.SHUT_WR)
            assert stranger.recv(1) == b""
        with pytest.raises(NodeError, match="does not have the token"):
            sent.result(20)
    assert not is_open(source)


def test_a_short_token_lets_nobody_in(root: Path, patience: Patience) -> None:
    offer = Offer(root, LOOPBACK)
    with socket.create_connection((offer.address, offer.port), timeout=20) as stranger:
        stranger.shutdown(socket.SHUT_WR)
        with pytest.raises(NodeError, match="does not have the token"):
            offer.pass_on(b"", HERE, patience)


def test_whoever_connects_from_another_address_is_turned_away_and_the_right_one_is_served(
    root: Path, into: Path, patience: Patience
) -> None:
    with offered(root, patience) as (source, sent):
        with socket.create_connection(source, 20, source_address=("127.0.0.9", 0)) as stranger:
            stranger.sendall(TOKEN)
            with suppress(ConnectionError):
                assert stranger.recv(1) == b""
        take(into, source, TOKEN, LOOPBACK, most_byte(root), patience)
        sent.result(20)
    assert list_tree(into) == list_tree(root)


def test_a_source_outside_of_the_subnet_is_not_connected_to(into: Path, patience: Patience) -> None:
    with pytest.raises(NodeError, match=r"192\.0\.2\.1 is not in 127"):
        take(into, ("192.0.2.1", 5000), TOKEN, LOOPBACK, 1, patience)


@contextmanager
def sender(*parts: bytes, stays: bool = False) -> Iterator[tuple[str, int]]:
    """Somebody who sends this instead of an image, and closes the connection or keeps it open."""

    def send(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(len(TOKEN))
            for part in parts:
                connection.sendall(part)
            if stays:
                connection.recv(1)

    with socket.create_server((HERE, 0)) as listener, ThreadPoolExecutor(1) as pool:
        listener.settimeout(20)
        sent = pool.submit(send, listener)
        yield listener.getsockname()
        if (error := sent.exception(20)) is not None:
            assert isinstance(error, ConnectionError)


def archive(root: Path) -> bytes:
    return subprocess.run(
        ["tar", "-C", str(root), "-c", "."], check=True, capture_output=True, timeout=20
    ).stdout


def test_a_sender_that_dies_on_the_way_is_an_error(root: Path, into: Path, patience: Patience) -> None:
    with sender(archive(root)[: 1 << 20]) as source, pytest.raises(NodeError, match=r"tar ended \(2\)"):
        take(into, source, TOKEN, LOOPBACK, most_byte(root), patience)


def test_a_sender_that_stands_still_is_given_up(root: Path, into: Path, patience: Patience) -> None:
    short = Patience(patience.asking, stall_s=0.2)
    with (
        sender(archive(root)[: 1 << 20], stays=True) as source,
        pytest.raises(NodeError, match="nothing came or went for"),
    ):
        take(into, source, TOKEN, LOOPBACK, most_byte(root), short)


def test_more_than_the_image_has_is_not_taken(root: Path, into: Path, patience: Patience) -> None:
    with sender(archive(root)) as source, pytest.raises(NodeError, match="more comes than the image has"):
        take(into, source, TOKEN, LOOPBACK, 1 << 20, patience)


def test_a_file_with_holes_is_not_taken_for_an_image(tmp_path: Path, into: Path, patience: Patience) -> None:
    """To read it would take days."""
    (tmp_path / "sparse").mkdir()
    with (tmp_path / "sparse" / "file").open("wb") as opened:
        opened.truncate(1 << 40)
    packed = ["tar", "--sparse", "-C", str(tmp_path / "sparse"), "-c", "."]
    whole = subprocess.run(packed, check=True, capture_output=True, timeout=20).stdout
    with sender(whole) as source, pytest.raises(NodeError, match="larger than the image"):
        take(into, source, TOKEN, LOOPBACK, 1 << 20, patience)


def test_what_leads_out_of_the_folder_does_not_leave_it(
    tmp_path: Path, into: Path, patience: Patience
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "packed" / "link").mkdir(parents=True)
    (tmp_path / "packed" / "link" / "file").write_text("written")
    words = ["tar", "-C", str(tmp_path / "packed"), "-P", "-c"]
    renamed = f"s,^link/,{tmp_path}/outside/,"
    whole = subprocess.run([*words, "--transform", renamed, "link/file"], check=True, capture_output=True)
    with sender(whole.stdout) as source:
        take(into, source, TOKEN, LOOPBACK, 1 << 20, patience)
    assert list((tmp_path / "outside").iterdir()) == []


def test_either_side_ends_when_whoever_asked_goes(root: Path, into: Path) -> None:
    ours, theirs = socket.socketpair()
    with theirs, offered(root, Patience(theirs.fileno())) as (source, sent):
        ours.close()
        with pytest.raises(NodeError, match="not wanted any more"):
            sent.result(20)
        with sender(stays=True) as silent, pytest.raises(NodeError, match="not wanted any more"):
            take(into, silent, TOKEN, LOOPBACK, 1 << 20, Patience(theirs.fileno()))
    assert not is_open(source)


def test_nobody_who_comes_is_waited_for_but_a_while(
    root: Path, patience: Patience, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passing, "_BEGIN_LIMIT_S", 0.1)
    offer = Offer(root, LOOPBACK)
    with pytest.raises(NodeError, match="nothing came or went"):
        offer.pass_on(TOKEN, HERE, patience)


def test_whatever_comes_in_place_of_an_image_changes_nothing_outside_of_its_folder(
    root: Path, tmp_path: Path, patience: Patience
) -> None:
    (root / "deep" / "er" / "large").unlink()
    (root / "up").symlink_to("../outside")
    mutator = Mutator("image", [archive(root)], seed=1)
    for number in range(20):
        into = tmp_path / f"into-{number}"
        into.mkdir()
        ours, theirs = socket.socketpair()
        with ours, ThreadPoolExecutor(1) as pool:
            sent = pool.submit(send_all, theirs, mutator.input(number))
            with suppress(NodeError):
                unpack(ours, into, 1 << 20, patience)
            ours.close()
            sent.result(20)
    expected = {"root", *(f"into-{number}" for number in range(20))}
    assert {path.name for path in tmp_path.iterdir()} == expected


def send_all(connection: socket.socket, content: bytes) -> None:
    with connection, suppress(ConnectionError):
        connection.sendall(content)
