# SPDX-License-Identifier: Apache-2.0
"""The far end of ``tare.environments.ssh.channel``: lines of JSON on standard input and output, bytes after them.

A connection can break silently (a cable, a power cut): writing an empty line now and then reveals that here, once TCP
has given up (tcp(7), tcp_retries2), and its absence reveals it at the other end.
"""

import json
import os
import select
from collections.abc import Mapping
from typing import Any, TypedDict

from tare.untrusted import MOST_CHARACTERS, from_json, of_kind

ALIVE_EVERY_S = 15.0
_IN, _OUT = 0, 1
_BLOCK_BYTE = 1 << 16
_LARGEST_CONTENT_BYTE = 1 << 30


class _Question(TypedDict):
    do: str
    number: int
    size: int
    """The number of bytes that follow the line."""


class EndOfConnectionError(Exception):
    """The other side is gone."""


class Conversation:
    """Questions in, answers out; ``EndOfConnectionError`` when it is over."""

    def __init__(self, reading: int = _IN, writing: int = _OUT) -> None:
        """By these descriptors, which stay the caller's."""
        self.reading, self._writing = reading, writing
        self._received = bytearray()

    @property
    def has_more(self) -> bool:
        """Whether a further question has begun to arrive with the one before."""
        return b"\n" in self._received

    def question(self) -> tuple[dict[str, Any], bytes]:
        """The next question, with the bytes after it."""
        while b"\n" not in self._received:
            if len(self._received) > MOST_CHARACTERS:
                raise EndOfConnectionError
            self._receive()
        asked = _question(self._take(self._received.index(b"\n") + 1))
        while len(self._received) < asked["size"]:
            self._receive()
        fields = {name: value for name, value in asked.items() if name != "size"}
        return fields, self._take(asked["size"])

    def say(self, fields: Mapping[str, Any], content: bytes = b"") -> None:
        self.pass_on(message(fields, content))

    def pass_on(self, whole: bytes) -> None:
        """Say what somebody else has worded."""
        left = memoryview(whole)
        try:
            while left:
                left = left[os.write(self._writing, left) :]
        except ConnectionError:
            raise EndOfConnectionError from None

    def show_life(self) -> None:
        """Reveal a connection that has broken silently."""
        self.pass_on(b"\n")

    def _take(self, size: int) -> bytes:
        taken = bytes(self._received[:size])
        del self._received[:size]
        return taken

    def _receive(self) -> None:
        while not select.select([self.reading], [], [], ALIVE_EVERY_S)[0]:
            self.show_life()
        try:
            chunk = os.read(self.reading, _BLOCK_BYTE)
        except ConnectionError:
            raise EndOfConnectionError from None
        if not chunk:
            raise EndOfConnectionError
        self._received.extend(chunk)


def message(fields: Mapping[str, Any], content: bytes = b"") -> bytes:
    """A question or an answer as it travels."""
    return json.dumps({**fields, "size": len(content)}, default=str).encode() + b"\n" + content


def _question(line: bytes) -> _Question:
    """Read it; a question that Tare cannot have asked means that the connection is broken, or another program's."""
    try:
        question = of_kind(_Question, from_json(line))
    except ValueError:
        raise EndOfConnectionError from None
    if not 0 <= question["size"] <= _LARGEST_CONTENT_BYTE:
        raise EndOfConnectionError
    return question
