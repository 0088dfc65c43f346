# SPDX-License-Identifier: Apache-2.0
"""The image from host to host, by real agents: each host is this one, without ssh, with a state folder of its own."""

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tare.environments.ssh import carrying
from tare.environments.ssh.carrying import carry
from tare.environments.ssh.channel import Channel, FarAnswer, Question
from tare.environments.ssh.connection import HERE, Far
from tare.environments.ssh.shared import kept, opened
from tare.environments.ssh.spreading import Holder, ImageSpread, spreading
from tare.errors import NodeError
from tare.host.privileges import ordinary_user
from tare.image.digest import digest, list_tree

LOOPBACK = "127.0.0.0/8"


@pytest.fixture
def image(tmp_path: Path) -> tuple[Path, str]:
    root = tmp_path / "root"
    root.mkdir()
    (root / "file").write_bytes(bytes(1 << 20))
    (root / "link").symlink_to("file")
    return root, digest(list_tree(root, single_owner=ordinary_user()))


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[list[Far]]:
    """Three, which stay connected."""
    fars = [Far(host=HERE, state=str(tmp_path / f"h{number}")) for number in range(3)]
    with kept(fars):
        yield fars


def spread_over(hosts: list[Far], image: tuple[Path, str]) -> ImageSpread:
    return ImageSpread(image[1], LOOPBACK, {far.way: Path(far.state).name for far in hosts})


def carry_to(hosts: list[Far], image: tuple[Path, str]) -> None:
    for far in hosts:
        with opened(far) as channel:
            carry(far, channel, *image)


def are_whole(hosts: list[Far], image: tuple[Path, str]) -> bool:
    roots = [root for far in hosts for root in Path(far.state).glob("images/carried-*/rootfs")]
    unfinished = [part for far in hosts for part in Path(far.state).glob("images/.part-*")]
    assert unfinished == []
    return [digest(list_tree(root, single_owner=ordinary_user())) for root in roots] == [image[1]] * len(
        hosts
    )


def test_the_first_gets_it_from_here_and_the_others_from_one_that_has_it(
    hosts: list[Far], image: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Far] = []
    real = carrying._send

    def send(far: Far, *rest: Any) -> None:
        sent.append(far)
        real(far, *rest)

    monkeypatch.setattr(carrying, "_send", send)
    spread = spread_over(hosts, image)
    with spreading(spread):
        carry_to(hosts, image)
    assert sent == hosts[:1]
    assert [way.source for way in spread.carried.values()][:2] == [None, "h0"]
    assert spread.carried["h2"].source in {"h0", "h1"}
    assert spread.remarks == []
    assert are_whole(hosts, image)


def test_what_was_changed_on_the_way_is_found_out_comes_from_here_and_the_host_is_named(
    hosts: list[Far], image: tuple[Path, str]
) -> None:
    spread = spread_over(hosts, image)
    with spreading(spread):
        carry_to(hosts[:1], image)
        (root,) = Path(hosts[0].state).glob("images/carried-*/rootfs")
        (root / "file").write_bytes(b"changed")
        carry_to(hosts[1:2], image)
    assert spread.carried["h1"].source is None
    (remark,) = spread.remarks
    assert remark.startswith("h1 could not get the image from h0, and gets it from here: ")
    assert "what arrived has the digest" in remark
    assert are_whole(hosts[1:2], image)


def test_with_a_wrong_token_nothing_comes_from_the_other_host(
    hosts: list[Far], image: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Channel.ask

    def ask(channel: Channel, do: str, **fields: object) -> FarAnswer:
        changed = {**fields, "token": "00" * 32} if do == "take image" else fields
        return real(channel, do, **changed)  # type: ignore[arg-type]

    monkeypatch.setattr(Channel, "ask", ask)
    spread = spread_over(hosts, image)
    with spreading(spread):
        carry_to(hosts[:2], image)
    (remark,) = spread.remarks
    assert "whoever connected does not have the token" in remark
    assert spread.carried["h1"].source is None
    assert are_whole(hosts[:2], image)


def test_a_host_that_is_lost_while_it_sends_costs_the_transfer_only(
    hosts: list[Far], image: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Channel.say

    def say(channel: Channel, do: str, **fields: object) -> Question:
        if do == "pass image on":
            os.killpg(channel._process.pid, signal.SIGKILL)
            channel._process.wait(20)
        return real(channel, do, **fields)  # type: ignore[arg-type]

    monkeypatch.setattr(Channel, "say", say)
    spread = spread_over(hosts, image)
    with spreading(spread):
        carry_to(hosts[:2], image)
    (remark,) = spread.remarks
    assert remark.startswith("h1 could not get the image from h0")
    assert are_whole(hosts[:2], image)


@pytest.mark.parametrize(("address", "port"), [("192.0.2.1", 5000), ("127.0.0.1", 22), ("x", 5000)])
def test_a_host_cannot_send_another_one_anywhere_else(address: str, port: int) -> None:
    holder = Holder(Far(host="h0"), "h0", 1)
    with pytest.raises(NodeError, match="h0 offers the image at"):
        carrying._refuse_odd({"address": address, "port": port}, LOOPBACK, holder)


def test_an_offer_ends_with_the_connection(hosts: list[Far], image: tuple[Path, str]) -> None:
    """As it does when the runner is killed."""
    carry_to(hosts[:1], image)
    with Channel(hosts[0]) as channel:
        answer = channel.ask("offer image", node="image", digest=image[1], subnet=LOOPBACK)
        offered = answer.told(carrying._Offered)
        channel.say("pass image on", node="image", token="00" * 32, to="127.0.0.1")
    with socket.socket() as asked:
        assert asked.connect_ex((offered["address"], offered["port"])) != 0


def test_without_a_subnet_every_host_gets_it_from_here(hosts: list[Far], image: tuple[Path, str]) -> None:
    spread = ImageSpread(image[1], None, {far.way: far.state for far in hosts})
    with spreading(spread):
        carry_to(hosts[:2], image)
    assert [way.source for way in spread.carried.values()] == [None, None]
    assert are_whole(hosts[:2], image)


def test_an_image_that_cannot_be_right_anywhere_is_an_error_of_that_host(
    hosts: list[Far], image: tuple[Path, str]
) -> None:
    spread = ImageSpread("sha256:" + "0" * 64, LOOPBACK, {far.way: far.state for far in hosts})
    with spreading(spread), pytest.raises(NodeError, match="what arrived has the digest"):
        carry_to(hosts, (image[0], spread.digest))
    assert spread.carried == {}
