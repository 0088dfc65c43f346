# SPDX-License-Identifier: Apache-2.0
"""Both ends of the conversation over ssh: what another host answers, and what arrives there."""

import json
import shutil
import socket
import tempfile
from collections.abc import Iterator
from functools import partial
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pydantic import TypeAdapter

from tare.environments.ssh import _Probed, _Running, carrying, connection, files
from tare.environments.ssh.channel import Channel, FarAnswer
from tare.environments.ssh.connection import Far
from tare.environments.ssh.group import FarGroup
from tare.environments.ssh.readings import FarReadings
from tare.environments.ssh.spreading import Holder
from tare.errors import NodeError
from tare.far import passing
from tare.far.agent import Agent
from tare.far.conversation import Conversation, EndOfConnectionError
from tare.far.passing import Patience
from tare.measure.far_signals import host_signals, together
from tare.measure.host_devices import FarDevices, devices_of
from tare.nodes.codec import encode
from tare.nodes.devices import said
from tare.nodes.record import parse_record, record_text
from tare.records.signals import HostSignals
from tare.untrusted import from_json, object_from_json
from tests.environments.environment_example import described
from tests.hostile.target import IN_MEMORY, Target

_GREETING = {"host": "far", "kernel": "6.1.0", "size": 0}
_PROBED = {"usable": True, "reason": "", "remedy": "", "version": "1.2", "number": 1, "size": 0}
_STARTED = {
    "prefix": ["env", "-i"],
    "work_directory": "/work",
    "tools_directory": "/opt/tare/bin",
    "own_kernel": False,
    "made_as_user": False,
    "keeps_user": False,
    "variables": {"A": "b"},
    "facts": {"kernel": "6.1"},
    "address": None,
    "number": 2,
    "size": 0,
}
_SETTINGS = {"processors": [0, 1], "memory_byte": 1 << 28, "cpu_quota": 0.5, "processes": 64}
_GROUP = {"settings": _SETTINGS, "cpu_s": 1.5, "memory_kills": 0, "refused_processes": 0, "size": 0}
_LACKS = {"lacks": [], "number": 6, "size": 0}
_FILES = {"files": [{"name": "i0/stdout", "whole": 5, "pieces": [[0, 5]]}], "number": 7, "size": 5}
_READINGS = {
    "signals": [
        {"name": "throttled_s", "unit": "s", "scope": "node", "value": 0.5, "lost_time": True},
        {"name": "host_switches", "unit": "1", "scope": "host", "value": 33.0, "lost_time": False},
    ],
    "missing": {"kvm_exits": "no debugfs"},
    "span_s": 1.5,
    "used_s": 1.4,
    "own_s": 0.1,
    "node_s": 1.2,
}
_DEVICES = {
    "devices": [
        {"path": "/dev/infiniband/uverbs0", "major": 231, "minor": 192, "driver": "infiniband_verbs"},
        {"path": "/dev/fuse", "major": 10, "minor": 229, "driver": None},
    ]
}
_TOKEN = bytes(range(32))
_QUESTIONS = (
    {"do": "probe", "number": 1, "size": 0, "technology": "fake", "options": {}},
    {"do": "put", "number": 2, "size": 3, "entries": [{"name": "a", "mode": 420, "size": 3}]},
    {"do": "get", "number": 3, "size": 0, "names": ["a"]},
    {"do": "lacks", "number": 4, "size": 0, "inner_pid": 3},
    {"do": "devices", "number": 5, "size": 0, "asked": ["/dev/tare"], "user": [7, 7], "in_place": False},
)


def targets() -> Iterator[Target]:
    groups = [{**_GROUP, "number": number} for number in (3, 4, 5)]
    lines = [_GREETING, _PROBED, _STARTED, *groups, _LACKS, _FILES]
    answers = b"".join(json.dumps(line).encode() + b"\n" for line in lines) + b"hello"
    yield Target(name="another host's answers", seeds=[answers, b"\n\n" + answers], parse=_answers)
    for name, kind in (("probe", _PROBED), ("start", _STARTED), ("group", _GROUP), ("files", _FILES)):
        yield Target(
            name=f"another host's {name}", seeds=[json.dumps(kind).encode()], parse=_one_answer(name)
        )
    yield Target(name="another host's signals", seeds=[json.dumps(_READINGS).encode()], parse=_readings)
    yield Target(name="another host's devices", seeds=[json.dumps(_DEVICES).encode()], parse=_devices)
    asked = [json.dumps(entry).encode() + b"\n" + b"x" * entry["size"] for entry in _QUESTIONS]  # type: ignore[operator]
    yield Target(
        name="questions to another host",
        seeds=[b"".join(asked), *asked],
        parse=_questions,
        refusals=(EndOfConnectionError,),
    )
    yield from _passing_targets()
    spec = described()
    yield Target(
        name="record of a node",
        seeds=[record_text(spec).encode()],
        parse=lambda text: parse_record(text, spec.directory, {spec.technology}),
    )
    values = [b"NAME=5", b'["a"]', b"true"]
    yield Target(
        name="options below ssh",
        seeds=values,
        parse=lambda text: connection._value(text.decode(errors="replace")),
        refusals=(),
    )


def _passing_targets() -> Iterator[Target]:
    """An image from one host to another, of which each may be hostile."""
    place = {"into": "/var/lib/tare/images/.part-carried-1/rootfs", "address": "10.0.0.2"}
    yield Target(name="another host's place", seeds=[json.dumps(place).encode()], parse=_place)
    offer = {"address": "10.0.0.2", "port": 40000}
    yield Target(name="another host's offer", seeds=[json.dumps(offer).encode()], parse=_offer)
    yield Target(name="a token", seeds=[_TOKEN, _TOKEN[:9], 3 * _TOKEN], parse=_token)


def _fields(text: bytes) -> FarAnswer:
    try:
        return FarAnswer("far", object_from_json(text))
    except ValueError:
        raise NodeError("no JSON object") from None


def _place(text: bytes) -> None:
    _fields(text).told(carrying._Place)


def _offer(text: bytes) -> None:
    offered = _fields(text).told(carrying._Offered)
    carrying._refuse_odd(offered, "10.0.0.0/24", Holder(Far(host="far"), "far", 1))
    assert IPv4Address(offered["address"]) in IPv4Network("10.0.0.0/24")


def _token(text: bytes) -> None:
    """Somebody says this and no more, while whoever asked is still there."""
    (far, near), (asker, asked) = socket.socketpair(), socket.socketpair()
    with far, near, asker, asked:
        far.sendall(text[: 2 * len(_TOKEN)])
        far.shutdown(socket.SHUT_WR)
        passing.require_token(near, _TOKEN, Patience(asked.fileno()))
    assert text.startswith(_TOKEN)


class _Told(Channel):
    """A channel of which everything has arrived already."""

    def __init__(self, said: bytes) -> None:
        self._begin(Far(host="far"))
        self._received = bytearray(said)

    def _receive(self, _deadline: float) -> None:
        raise NodeError("nothing more arrives")

    def _send(self, _content: bytes) -> None:
        """To nobody."""


def _answers(text: bytes) -> None:
    channel = _Told(text)
    channel.greeting = channel._greeted()
    channel.ask("probe").told(_Probed)
    running = _running(channel)
    running.start(described())
    group = FarGroup(partial(channel.ask, node="tare-1"))
    group.settings()
    group.cpu_s()
    group.memory_kills()
    group.lacks(5)
    _fetched(channel)


def _running(channel: Channel) -> _Running:
    return _Running(channel._far, SimpleNamespace(channel=channel, lanes=None), "tare-1")  # type: ignore[arg-type]


def _fetched(channel: Channel) -> None:
    folder = Path(tempfile.mkdtemp(prefix="tare-hostile-", dir=IN_MEMORY))
    try:
        files.fetch(partial(channel.ask, node="tare-1"), folder, ["i0/stdout"])
    finally:
        shutil.rmtree(folder)


def _readings(text: bytes) -> None:
    """They become a record, which the journal writes."""
    try:
        said = FarAnswer("far", object_from_json(text)).told(FarReadings)
    except ValueError:
        raise NodeError("no JSON object") from None
    TypeAdapter(HostSignals).dump_json(host_signals([said, said], 2))
    together({"far": host_signals([said], 1)})


def _devices(text: bytes) -> None:
    """They become part of what a node there is to have, and of the journal."""
    try:
        answer = FarAnswer("far", object_from_json(text)).told(FarDevices)
    except ValueError:
        raise NodeError("no JSON object") from None
    encode(described(devices=devices_of(answer)))
    said(devices_of(answer))


def _one_answer(name: str) -> Any:
    """One kind of answer, whose JSON alone is changed."""

    def parse(text: bytes) -> None:
        try:
            said = from_json(text)
        except ValueError:
            raise NodeError("no JSON") from None
        if not isinstance(said, dict):
            raise NodeError("no object")
        answer = FarAnswer("far", said, b"hello")
        channel = _Told(b"")
        channel.answer = lambda _: answer  # type: ignore[method-assign,assignment]
        channel.greeting = {"host": "far", "kernel": "6.1"}
        if name == "probe":
            answer.told(_Probed)
        elif name == "start":
            _running(channel).start(described())
        elif name == "group":
            FarGroup(partial(channel.ask, node="tare-1")).settings()
            FarGroup(partial(channel.ask, node="tare-1")).cpu_s()
        else:
            _fetched(channel)

    return parse


class _Arrived(Conversation):
    """A conversation in which nothing more arrives."""

    def __init__(self, said: bytes) -> None:
        self._received = bytearray(said)

    def _receive(self) -> None:
        raise EndOfConnectionError


def _questions(text: bytes) -> None:
    """As ``tare.far.agent.serve`` takes them; none of these starts or stops anything."""
    conversation = _Arrived(text)
    while True:
        fields, content = conversation.question()
        fields.pop("number")
        if fields.get("do") in {"probe", "put", "get", "lacks", "devices"}:
            agent = Agent(Path("/nowhere"))
            json.dumps(agent.answer({**fields, **({"content": content} if content else {})}), default=str)
