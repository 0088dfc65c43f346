# SPDX-License-Identifier: Apache-2.0
"""Any technology on any hosts that ssh reaches: the image and Tare's own code are copied there (docs/hosts.md)."""

import hashlib
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, TypedDict

from tare.environments.ssh import files
from tare.environments.ssh.channel import Channel, FarAnswer, opened
from tare.environments.ssh.connection import OPTION_NAMES, Far, complaints
from tare.environments.ssh.files import carry
from tare.environments.ssh.group import FarGroup
from tare.errors import NodeError
from tare.host.removal import remove_what_goes
from tare.nodes.codec import encode
from tare.nodes.provider import Chosen, Elsewhere, Node, NodeGroup, NodeSpec, Probe, Provider
from tare.records import NetworkKind, OptionValue

_START_LIMIT_S = 240.0
_STOP_LIMIT_S = 120.0
_WORK_LIMIT_S = 90.0
_PREPARE_LIMIT_S = 900.0
_LONGEST_SOCKET = 80
"""A socket's path has 108 bytes (unix(7)); ssh needs some for a temporary name."""
_KEEP_EXIT_CODE = 'exec 3>&2 2>/dev/null; (exec "$@" 2>&3 3>&-); exit $?'
"""For sh there: ssh(1) reports 255 for any death by a signal, where a shell reports which; this one silently."""


class _Probed(TypedDict):
    usable: bool
    reason: str
    remedy: str
    version: str


class _Worked(TypedDict):
    time_s: float


class _Started(TypedDict):
    prefix: list[str]
    work_directory: str
    tools_directory: str
    variables: dict[str, str]
    own_kernel: bool
    made_as_user: bool
    keeps_user: bool
    facts: dict[str, str]
    address: str | None


class Ssh(Provider):
    technology = "ssh"
    option_names: Mapping[str, str] = OPTION_NAMES
    networks = frozenset({NetworkKind.NONE, NetworkKind.HOST, NetworkKind.DEFAULT})
    own_kernel = True
    device_refusal = "tare knows the devices of this host only"
    makes_namespace = True
    """On the other host: nothing of it is made here."""

    def __init__(self, options: Mapping[str, OptionValue] | None = None) -> None:
        """Keep the hosts for ``probe`` and ``prepare``; nodes have their own."""
        self._options = options

    def check_options(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        return complaints(options)

    def check_spanning(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        if "subnet" in options:
            return {}
        return {
            "subnet": "is missing; write the address range in which the hosts and this one reach each other"
        }

    def chosen(self, options: Mapping[str, OptionValue]) -> Chosen:
        from tare.environments import PROVIDERS  # noqa: PLC0415 - the list that includes this environment

        far = Far.of(options)
        return PROVIDERS[far.below].chosen(far.options_below)

    def configured(self, options: Mapping[str, OptionValue]) -> Self:
        return type(self)(options)

    def probe(self) -> Probe:
        if self._options is None:
            reason = "its host is named in a campaign file, and tried with it"
            return Probe(usable=False, reason=reason, remedy="write one as docs/hosts.md shows")
        try:
            probes = [_probed(far) for far in Far.all(self._options)]
        except NodeError as error:
            return Probe(usable=False, reason=str(error), remedy="try it by hand: ssh HOST true")
        versions = dict.fromkeys(probe.version for probe in probes if probe.version)
        bad = next((probe for probe in probes if not probe.usable), None)
        return bad or replace(probes[0], version="; ".join(versions))

    def prepare(self, image_root: Path, image_digest: str) -> None:
        for far in Far.all(self._options or {}):
            with _preparing, opened(far) as channel:
                carry(far, channel, image_root, image_digest)
                options = dict(far.options_below)
                channel.ask("prepare", technology=far.below, options=options, limit_s=_PREPARE_LIMIT_S)

    def start(self, spec: NodeSpec) -> Node:
        far = Far.of(spec.options, spec.index)
        if spec.network.kind not in self.networks:
            allowed = ", ".join(sorted(self.networks))
            raise NodeError(
                f"ssh has no network {spec.network.kind}: a link cannot reach another host; write {allowed}"
            )
        spec.work.mkdir(parents=True, exist_ok=True)
        control = _control(spec)
        _make_private(control.parent)
        _running[spec.name] = running = _Running(far, Channel(far, control), control)
        _reached(spec).touch()
        return running.start(spec)

    def prefix(self, node: Node) -> list[str]:
        return _of(node).prefix

    def group(self, node: Node) -> NodeGroup | None:
        return FarGroup.of(_of(node).channel)

    def send(self, node: Node, names: Sequence[str]) -> None:
        files.send(_of(node).channel, node.spec.work, names)

    def fetch(self, node: Node, names: Sequence[str]) -> None:
        files.fetch(_of(node).channel, node.spec.work, names)

    def stop(self, spec: NodeSpec) -> None:
        """Stop it over the node's own connection, if this process has it and it is sound; else over a new one."""
        running = _running.pop(spec.name, None)
        stopped = running is not None and running.stop(spec.name)
        if not stopped and _reached(spec).exists():
            _stop_over_new_connection(spec)
        self.forget(spec)

    def forget(self, spec: NodeSpec) -> None:
        """Remove the node's files on this host; the other host has no node any more, or is gone itself."""
        running = _running.pop(spec.name, None)
        if running is not None:
            running.channel.close()
        control = _control(spec)
        control.unlink(missing_ok=True)
        if control.parent != spec.directory:
            remove_what_goes(control.parent)
        remove_what_goes(spec.directory / "layer")
        _reached(spec).unlink(missing_ok=True)


def work_time_s(node: Node) -> float:
    """How long a node's host takes for the work that is the same on every host (``tare.host.work``)."""
    return _of(node).channel.ask("work", limit_s=_WORK_LIMIT_S).told(_Worked)["time_s"]


class _Running:
    """A node on another host, with the connection on which its life depends."""

    def __init__(self, far: Far, channel: Channel, control: Path) -> None:
        self.channel = channel
        self.prefix: list[str] = []
        self._far = far
        self._control = control

    def start(self, spec: NodeSpec) -> Node:
        subnet = self._far.subnet if spec.network.kind is NetworkKind.HOST else None
        plain = _far_spec(spec, self._far)
        said = self.channel.ask("start", spec=plain, subnet=subnet, limit_s=_START_LIMIT_S).told(_Started)
        self.prefix = self._far.enter(self._control, ["sh", "-c", _KEEP_EXIT_CODE, "sh", *said["prefix"]])
        greeting = self.channel.greeting
        return Node(
            spec=spec,
            init_pid=None,
            work_directory=said["work_directory"],
            tools_directory=said["tools_directory"],
            variables=said["variables"],
            own_kernel=said["own_kernel"],
            elsewhere=Elsewhere(subnet=subnet, address=said["address"]),
            made_as_user=said["made_as_user"],
            keeps_user=said["keeps_user"],
            facts={**said["facts"], "host": f"{greeting['host']} (Linux {greeting['kernel']}), by ssh"},
        )

    def stop(self, name: str) -> bool:
        """Stop it over this connection; return whether that worked."""
        try:
            self.channel.ask("stop", name=name, limit_s=_STOP_LIMIT_S)
        except NodeError:
            return False
        finally:
            self.channel.close()
        return True


_running: dict[str, _Running] = {}
_preparing = threading.Lock()
"""Environments are prepared in parallel; two on one host want the same image."""


def _probed(far: Far) -> Probe:
    with opened(far) as channel:
        said = channel.ask("probe", technology=far.below, options=far.options_below).told(_Probed)
    reason = f"{far.below} on {far.host}: {said['reason']}" if said["reason"] else ""
    remedy = f"on {far.host}: {said['remedy']}" if said["remedy"] else ""
    return Probe(usable=said["usable"], reason=reason, remedy=remedy, version=said["version"])


def _of(node: Node) -> _Running:
    running = _running.get(node.spec.name)
    if running is None:
        raise NodeError(f"{node.spec.name} was not started by this process, and can only be stopped by it")
    return running


def asking(node: Node) -> Callable[..., FarAnswer]:
    """Asks the part of Tare on a running node's host (``Channel.ask``)."""
    return _of(node).channel.ask


def _stop_over_new_connection(spec: NodeSpec) -> None:
    far = Far.of(spec.options, spec.index)
    try:
        with opened(far) as channel:
            channel.ask("stop", name=spec.name, limit_s=_STOP_LIMIT_S)
    except NodeError as error:
        raise NodeError(
            f"whether {spec.name} has ended on {far.host} cannot be seen: {error}. It ends by itself when it notices "
            f"that nobody is connected. If that host is gone for good, remove {spec.directory}"
        ) from error


def _reached(spec: NodeSpec) -> Path:
    """The mark that exists from the moment when the other host may hold something of the node."""
    return spec.directory / "reached"


def _control(spec: NodeSpec) -> Path:
    """The connection's socket, in the node's folder unless that name is too long; nobody else may reach it."""
    wanted = spec.directory / "ssh"
    if len(str(wanted)) <= _LONGEST_SOCKET:
        return wanted
    known = hashlib.sha256(str(spec.directory).encode()).hexdigest()[:16]
    return Path("/tmp") / f"tare-ssh-{known}" / "ssh"


def _make_private(folder: Path) -> None:
    """Make it if it is missing; ``NodeError`` if it is another user's, who could pretend to be the other host."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.lstat().st_uid != os.geteuid():
        raise NodeError(f"{folder} belongs to another user; remove it")


def _far_spec(spec: NodeSpec, far: Far) -> dict[str, Any]:
    """The node for the other host to start. Bound directories have the same paths there."""
    nodes = Path(far.state) / "nodes"
    directory, shared, network = nodes / spec.name, spec.shared_work, spec.network
    there = replace(
        spec,
        technology=far.below,
        options=dict(far.options_below),
        directory=directory,
        shared_work=None if shared is None else nodes / shared.parents[1].name / "layer" / "work",
        network=replace(network, namespace=None if network.namespace is None else directory / "network"),
    )
    return encode(there)
