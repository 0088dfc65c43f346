# SPDX-License-Identifier: Apache-2.0
"""The image on its way to another host: from this one, or from another that has it (``spreading``)."""

import ipaddress
import secrets
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import IO, TypedDict

from tare.environments.ssh.channel import Channel, Question
from tare.environments.ssh.connection import Far, failed, variables
from tare.environments.ssh.shared import opened
from tare.environments.ssh.spreading import Holder, ImageSpread, current
from tare.errors import NodeError
from tare.host.packed import TOKEN_BYTE, most_byte, pack_argv, unpack_argv
from tare.host.privileges import ordinary_user
from tare.host.process import tool_environment

_CHECK_LIMIT_S = 900.0
_CARRY_LIMIT_S = 4 * 3600.0
_END_LIMIT_S = 10.0
_sending = threading.BoundedSemaphore(8)
"""Images on their way from here at the same time: more would only share this host's line to the network."""
_PASSER = "image"
"""The name, as a node's, of the process on a host that sends or takes the image; no node has it."""
_FIRST_PORT, _LAST_PORT = 1024, 65535


class _Place(TypedDict):
    into: str | None
    """``None``: it is already there."""
    address: str | None


class _Offered(TypedDict):
    address: str
    port: int


def carry(far: Far, channel: Channel, image_root: Path, image_digest: str) -> None:
    """Have the image there; ``NodeError`` if it cannot be sent, or arrives changed."""
    spread = current(far, image_digest)
    with spread.looking(far):
        way = _Way(far, channel, image_root, image_digest, spread)
        if way.into is None:
            spread.is_there(far, way.address)
    if way.into is not None:
        spread.bring(far, way.address, way.from_here, way.from_host)


class _Way:
    """The image's way to a host."""

    def __init__(self, far: Far, channel: Channel, root: Path, digest: str, spread: ImageSpread) -> None:
        self._far, self._channel, self._root, self._digest, self._spread = far, channel, root, digest, spread
        self.into: str | None = None
        """The empty folder there; ``None``: the image is there."""
        self.address: str | None = None
        """Of the host in the common subnet."""
        self._look()

    def from_here(self) -> None:
        if self.into is not None:
            with _sending:
                _send(self._far, self._root, self.into, self._spread)
            self._finish()

    def from_host(self, source: Holder) -> None:
        """Every fault is a ``NodeError``, and leaves the host ready for the image from elsewhere."""
        try:
            with opened(source.far) as other:
                self._pass_on(other, source)
            self._finish()
        except NodeError:
            self._look()
            raise

    def _look(self) -> None:
        said = self._channel.ask(
            "find image",
            digest=self._digest,
            seen=self._far.seen(self._root),
            subnet=self._spread.subnet,
            limit_s=_CHECK_LIMIT_S,
        ).told(_Place)
        self.into, self.address = said["into"], said["address"]

    def _finish(self) -> None:
        self._channel.ask("finish image", limit_s=_CHECK_LIMIT_S)

    def _pass_on(self, other: Channel, source: Holder) -> None:
        """One host waits for the other, which has the token as well."""
        token, subnet = secrets.token_hex(TOKEN_BYTE), self._spread.subnet
        with self._passers(other, self._channel):
            seen = source.far.seen(self._root)
            offered = other.ask(
                "offer image", node=_PASSER, digest=self._digest, subnet=subnet, seen=seen
            ).told(_Offered)
            _refuse_odd(offered, str(subnet), source)
            sending = other.say(
                "pass image on", node=_PASSER, token=token, to=self.address, limit_s=_CARRY_LIMIT_S
            )
            try:
                self._take(offered, token)
            except NodeError as error:
                raise NodeError(f"{error}{_last_word(other, sending)}") from error
            _last_word(other, sending)  # what counts is what came

    def _take(self, offered: _Offered, token: str) -> None:
        self._channel.ask(
            "take image",
            node=_PASSER,
            into=self.into,
            address=offered["address"],
            port=offered["port"],
            token=token,
            subnet=self._spread.subnet,
            most_byte=_most_byte(self._root),
            limit_s=_CARRY_LIMIT_S,
        )

    @contextmanager
    def _passers(self, *channels: Channel) -> Iterator[None]:
        """The processes on the hosts, which end, and whatever they do, when nobody needs them any more."""

        def end() -> None:
            for channel in channels:
                channel.say("stop", node=_PASSER, name=_PASSER)

        try:
            with self._spread.ended_by(end):
                yield
        finally:
            for channel in channels:
                _stop(channel)


def _stop(channel: Channel) -> None:
    with suppress(NodeError):  # then its connection is lost, and it ends with that
        channel.ask("stop", node=_PASSER, name=_PASSER)


def _last_word(other: Channel, sending: Question) -> str:
    """Why the sending host gave up; empty if it did not."""
    _stop(other)
    try:
        other.answer(replace(sending, deadline=time.monotonic() + _END_LIMIT_S))
    except NodeError as error:
        return f"; {error}"
    return ""


def _refuse_odd(offered: _Offered, subnet: str, source: Holder) -> None:
    """A host has no reason to send others anywhere else."""
    try:
        is_inside = ipaddress.IPv4Address(offered["address"]) in ipaddress.IPv4Network(subnet)
    except ValueError:
        is_inside = False
    if not is_inside or not _FIRST_PORT <= offered["port"] <= _LAST_PORT:
        raise NodeError(f"{source.name} offers the image at {offered['address'][:40]!r}, outside of {subnet}")


@cache
def _most_byte(root: Path) -> int:
    return most_byte(root)


def _send(far: Far, image_root: Path, into: str, spread: ImageSpread) -> None:
    """From tar here to tar there."""
    pack, unpack = pack_argv(image_root), far.command(*unpack_argv(into))
    environment = {**tool_environment(), **variables()}
    with tempfile.TemporaryFile() as said:
        # Leaving the inner block closes our end of the pipe, so that a tar without a reader ends too.
        with (
            subprocess.Popen(pack, stdout=subprocess.PIPE, stderr=said, env=environment) as packer,
            spread.ended_by(packer.kill),
        ):
            code = _unpack([*far.ssh(), unpack], packer, said, environment)
        if code != 0 or packer.returncode != 0:
            said.seek(0)
            words = said.read().decode(errors="replace")
            raise failed(far, code, words) or NodeError(
                f"the image cannot be sent to {far.host}: {_first_error(words)}{_remedy(far)}", words
            )


def _first_error(words: str) -> str:
    """What went wrong first: the last line only says that something did."""
    return next(iter(words.strip().splitlines()), "it said nothing")


def _remedy(far: Far) -> str:
    if not ordinary_user():
        return ""
    return (
        "; an ordinary user can carry only an image of their own (tare image build), or use one that "
        f"{far.host} has at the same place, such as on a shared file system"
    )


def _unpack(
    argv: list[str], packer: "subprocess.Popen[bytes]", said: IO[bytes], environment: Mapping[str, str]
) -> int:
    try:
        done = subprocess.run(
            argv,
            stdin=packer.stdout,
            stdout=subprocess.DEVNULL,
            stderr=said,
            timeout=_CARRY_LIMIT_S,
            check=False,
            env=environment,
        )
    except subprocess.TimeoutExpired as error:
        raise NodeError(f"the image did not arrive within {_CARRY_LIMIT_S / 3600:.0f} h") from error
    return done.returncode
