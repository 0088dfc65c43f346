# SPDX-License-Identifier: Apache-2.0
"""Answers the questions of one connection; the nodes started over it go when it ends.

Each node has a process of its own here, and so has the host (``tare.far.keepers``): each answers one question after the
other, by an ``Agent``.
"""

import os
import signal
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tare import network
from tare.environments import PROVIDERS
from tare.errors import NodeError, TareError
from tare.far import files
from tare.far.conversation import Conversation, EndOfConnectionError
from tare.far.images import FarImage, SeenImage
from tare.far.keepers import Keepers
from tare.far.locks import share_host
from tare.far.nodes import HeldNode, remove_leftovers, stop_named
from tare.far.passing import Offer, Patience, take
from tare.far.signals import SignalsHere
from tare.host.devices import driver_of
from tare.host.facts import host_facts, memory_byte, online_processors
from tare.host.privileges import ordinary_user
from tare.host.process import tool_environment
from tare.host.standing import lock_any_memory
from tare.host.work import work_time_s
from tare.nodes.codec import decode
from tare.nodes.devices import are_fabric, devices_shown
from tare.nodes.given import given, look
from tare.nodes.provider import NodeGroup, NodeSpec
from tare.nodes.unprivileged.group import UserGroup
from tare.records import User

_END_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_CONTENT = "content"
"""The field that travels as bytes after the line."""


def serve(state: str) -> int:
    """Serve until the connection ends; return the exit code."""
    os.environ["TARE_STATE"] = state
    for number in _END_SIGNALS:
        signal.signal(number, _interrupt)
    conversation = Conversation()
    keepers = Keepers(conversation, lambda: _keep(Path(state)))
    try:
        conversation.say({"host": os.uname().nodename, "kernel": os.uname().release})
        keepers.serve()
    except (EndOfConnectionError, KeyboardInterrupt):
        return 0
    finally:
        keepers.end()


def _keep(state: Path) -> None:
    """Answer on standard input and output until they end; the node goes then."""
    agent, conversation = Agent(state), Conversation()
    try:
        while True:
            fields, content = conversation.question()
            number = fields.pop("number")
            said = agent.answer({**fields, **({_CONTENT: content} if content else {})})
            attached = said.pop(_CONTENT, b"")
            conversation.say({**said, "number": number}, attached)
    except (EndOfConnectionError, KeyboardInterrupt):
        return
    finally:
        agent.end()


def _interrupt(*_: object) -> None:
    """The first one ends the work; later ones are ignored during the clean-up."""
    for number in _END_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


class Agent:
    """The work for one node, or for the host: one method per question."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._host: int | None = None
        self._image: FarImage | SeenImage | None = None
        self._whole_digest: str | None = None
        """Of the image that was seen to be whole, and held since."""
        self._offer: Offer | None = None
        self._held: HeldNode | None = None
        self._signals: SignalsHere | None = None
        self._abilities: Mapping[str, Callable[..., dict[str, Any]]] = {
            "describe": self._describe,
            "work": lambda: {"time_s": work_time_s()},
            "clock": lambda: {"clock_ns": time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)},
            "devices": self._devices,
            "probe": self._probe,
            "find image": self._find_image,
            "finish image": self._finish_image,
            "offer image": self._offer_image,
            "pass image on": self._pass_image_on,
            "take image": self._take_image,
            "prepare": self._prepare,
            "start": self._start,
            "group": self._group,
            "lacks": self._lacks,
            "begin signals": self._begin_signals,
            "glance at signals": self._glance_at_signals,
            "end signals": self._end_signals,
            "process": self._process,
            "put": self._put,
            "get": self._get,
            "stop": self._stop,
        }

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Answer the question, or say in ``error`` why not."""
        try:
            return self._abilities[question.pop("do")](**question)
        except (TareError, OSError) as error:
            return {"error": str(error)}
        except Exception as error:  # noqa: BLE001 - the other side must hear of it
            traceback.print_exc()
            return {"error": f"{type(error).__name__}: {error}"}

    def end(self) -> None:
        """Remove the node, and release everything."""
        held, self._held = self._held, None
        try:
            if held is not None:
                held.stop()
        finally:
            if self._offer is not None:
                self._offer.close()
            if self._image is not None:
                self._image.release()

    def _describe(self) -> dict[str, Any]:
        return {
            "processors": online_processors(),
            "memory_byte": memory_byte(),
            "facts": host_facts(),
            "networks": [str(interface) for interface in network.own_interfaces()],
        }

    def _devices(self, asked: list[str], user: list[int] | None, in_place: bool) -> dict[str, Any]:
        """Those of this host; with the driver's libraries for the nodes if they are to be ``in_place``."""
        who = None if user is None else User(*user)
        here = given(asked, who).devices if in_place else look(asked, who)
        return {"devices": [{**asdict(each), "driver": driver_of(each.major, each.minor)} for each in here]}

    def _probe(self, technology: str, options: Mapping[str, Any]) -> dict[str, Any]:
        return asdict(PROVIDERS[technology].configured(options).probe())

    def _find_image(self, digest: str, seen: str | None = None, subnet: str | None = None) -> dict[str, Any]:
        """Whether it is here, as it was sent or at the same place as the runner's; else where to unpack it.

        ``address``: where other hosts find this one in the subnet; ``None``: nowhere.
        """
        self._share_host()
        remove_leftovers(self._state)
        return {"into": self._empty_folder(digest, seen), "address": _own_address(subnet)}

    def _empty_folder(self, digest: str, seen: str | None) -> str | None:
        if self._whole_digest == digest:
            return None
        if self._image is not None:
            self._image.release()
        self._whole_digest, self._image = None, SeenImage.at(seen, digest)
        if self._image is None or not self._image.is_whole():
            self._image = image = FarImage(self._state, digest)
            if not image.is_whole():
                return str(image.begin())
        self._whole_digest = digest
        return None

    def _finish_image(self) -> dict[str, Any]:
        if not isinstance(self._image, FarImage):
            raise NodeError("no image was begun")
        self._image.finish()
        self._whole_digest = self._image.digest
        return {}

    def _offer_image(self, digest: str, subnet: str, seen: str | None = None) -> dict[str, Any]:
        """Wait for another host, which the next question names."""
        self._image = SeenImage.at(seen, digest) or FarImage(self._state, digest)
        self._image.use()
        self._offer = offer = Offer(self._image.root, subnet)
        return {"address": offer.address, "port": offer.port}

    def _pass_image_on(self, token: str, to: str) -> dict[str, Any]:
        if self._offer is None:
            raise NodeError("no image was offered")
        offer, self._offer = self._offer, None
        offer.pass_on(bytes.fromhex(token), to, Patience())
        return {}

    def _take_image(
        self, into: str, address: str, port: int, token: str, subnet: str, most_byte: int
    ) -> dict[str, Any]:
        take(Path(into), (address, port), bytes.fromhex(token), subnet, most_byte, Patience())
        return {}

    def _prepare(self, technology: str, options: Mapping[str, Any]) -> dict[str, Any]:
        if self._image is None:
            raise NodeError("no image was found")
        PROVIDERS[technology].configured(options).prepare(self._image.root, self._image.digest)
        return {}

    def _start(
        self, spec: Mapping[str, Any], subnet: str | None = None, seen: str | None = None
    ) -> dict[str, Any]:
        self._share_host()
        address = None if subnet is None else network.address_within(subnet)
        described = decode(NodeSpec, spec)
        digest = described.image_digest
        self._image = SeenImage.at(seen, digest) or FarImage(self._state, digest)
        self._image.use()
        locking = _locking(described)
        self._held = HeldNode(self._state, replace(described, image_root=self._image.root))
        node, provider = self._held.node, self._held.provider
        variables = [f"{name}={value}" for name, value in tool_environment().items()]
        return {
            "prefix": ["env", "--ignore-environment", *variables, *locking, *provider.prefix(node)],
            "work_directory": node.work_directory,
            "tools_directory": node.tools_directory,
            "variables": dict(node.variables),
            "own_kernel": node.own_kernel,
            "facts": {
                **node.facts,
                **network.facts_of(described.network, subnet),
                **devices_shown(node.spec.devices, node.init_pid),
            },
            "made_as_user": node.made_as_user,
            "keeps_user": node.keeps_user or ordinary_user(),
            "address": address,
        }

    def _group(self) -> dict[str, Any]:
        group = self._node_group()
        if group is None:
            return {"settings": None}
        return {
            "settings": asdict(group.settings()),
            "cpu_s": group.cpu_s(),
            "memory_kills": group.memory_kills(),
            "refused_processes": group.refused_processes(),
            **_means(group),
        }

    def _lacks(self, inner_pid: int) -> dict[str, Any]:
        group = self._node_group()
        return {"lacks": None if group is None else group.lacks(inner_pid)}

    def _begin_signals(self, processors: list[int]) -> dict[str, Any]:
        held = self._running()
        group = self._node_group()
        self._signals = SignalsHere(held.node, group, tuple(processors))
        return {}

    def _glance_at_signals(self) -> dict[str, Any]:
        if self._signals is not None:
            self._signals.glance()
        return {}

    def _end_signals(self) -> dict[str, Any]:
        if self._signals is None:
            raise NodeError("no signals were begun over this connection")
        signals, self._signals = self._signals, None
        return signals.end()

    def _process(self, inner_pid: int) -> dict[str, Any]:
        group = self._node_group()
        if not isinstance(group, UserGroup):
            raise NodeError("the node is not an ordinary user's")
        return {"affinity": group.affinity(inner_pid), "data_limit_byte": group.data_limit_byte(inner_pid)}

    def _put(self, entries: list[dict[str, Any]], content: bytes = b"") -> dict[str, Any]:
        files.put(self._running().spec.work, entries, content)
        return {}

    def _get(self, names: list[str]) -> dict[str, Any]:
        entries, content = files.get(self._running().spec.work, names)
        return {"files": entries, _CONTENT: content}

    def _stop(self, name: str) -> dict[str, Any]:
        if self._held is not None and self._held.spec.name == name:
            held, self._held = self._held, None
            held.stop()
        else:
            stop_named(self._state, name)
        return {}

    def _running(self) -> HeldNode:
        if self._held is None:
            raise NodeError("no node was started over this connection")
        return self._held

    def _node_group(self) -> NodeGroup | None:
        held = self._running()
        return held.provider.group(held.node)

    def _share_host(self) -> None:
        if self._host is None:
            self._host = share_host(self._state)


def _locking(spec: NodeSpec) -> list[str]:
    """Lift the limit on locked memory for a node with a fabric: for what is started here, and in the argv's prefix.

    Commands that enter it come by ssh, and have the limits of that.
    """
    if not are_fabric(spec.devices):
        return []
    most = lock_any_memory()
    text = "unlimited" if most < 0 else str(most)
    return ["prlimit", f"--memlock={text}:{text}", "--"]


def _own_address(subnet: str | None) -> str | None:
    if subnet is None:
        return None
    with suppress(NodeError):
        return network.address_within(subnet)
    return None


def _means(group: NodeGroup) -> dict[str, Any]:
    """What enforces the limits of an ordinary user's node; nothing to say of root's."""
    if not isinstance(group, UserGroup):
        return {}
    means = group.means
    return {"means": {"group": means.group and str(means.group), "controllers": sorted(means.controllers)}}
