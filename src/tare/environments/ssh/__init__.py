# SPDX-License-Identifier: Apache-2.0
"""Any technology on any hosts that ssh reaches: the image and Tare's own code are copied there (docs/hosts.md)."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Self, TypedDict

from tare.environments.ssh import files, shared
from tare.environments.ssh.carrying import carry
from tare.environments.ssh.channel import Ask, Question
from tare.environments.ssh.code import rank_file
from tare.environments.ssh.connection import OPTION_NAMES, Far, complaints
from tare.environments.ssh.group import far_group
from tare.environments.ssh.lanes import Lane
from tare.environments.ssh.shared import Connection, opened
from tare.errors import NodeError
from tare.host import slurm
from tare.host.removal import remove_what_goes
from tare.nodes.codec import encode
from tare.nodes.provider import (
    LINKED_NETWORKS,
    Chosen,
    Elsewhere,
    Node,
    NodeGroup,
    NodeSpec,
    Probe,
    Provider,
)
from tare.records import NetworkKind, OptionValue

_START_LIMIT_S = 240.0
_STOP_LIMIT_S = 120.0
_WORK_LIMIT_S = 90.0
_PREPARE_LIMIT_S = 900.0
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
    """Without a list of hosts; with one its nodes have those of the technology there."""
    own_kernel = True
    device_refusal = None
    """They are each host's own (``tare.measure.host_devices``), and the technology there takes them or not."""
    starts_at_once = True
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
            by_slurm = "job" in self._options
            remedy = f"try it by hand: {'srun --jobid JOB --nodelist' if by_slurm else 'ssh'} HOST true"
            return Probe(usable=False, reason=str(error), remedy=remedy)
        versions = dict.fromkeys(probe.version for probe in probes if probe.version)
        bad = next((probe for probe in probes if not probe.usable), None)
        return bad or replace(probes[0], version="; ".join(versions))

    def prepare(self, image_root: Path, image_digest: str) -> None:
        for far in Far.all(self._options or {}):
            with _preparing_on(far), opened(far) as channel:
                carry(far, channel, image_root, image_digest)
                options = dict(far.options_below)
                channel.ask("prepare", technology=far.below, options=options, limit_s=_PREPARE_LIMIT_S)

    def begin_start(self, spec: NodeSpec) -> None:
        far = Far.of(spec.options, spec.index)
        if spec.network.kind in LINKED_NETWORKS and spec.network.wire is None:
            allowed = ", ".join(sorted(self.networks))
            raise NodeError(
                f"this node's link would end on its host, and is to reach others; write {allowed}"
            )
        spec.work.mkdir(parents=True, exist_ok=True)
        _running[spec.name] = running = _Running(far, shared.take(far), spec.name)
        _reached(spec).touch()
        running.begin_start(spec)

    def start(self, spec: NodeSpec) -> Node:
        if spec.name not in _running:
            self.begin_start(spec)
        return _running[spec.name].start(spec)

    def prefix(self, node: Node) -> list[str]:
        return _of(node).prefix

    def group(self, node: Node) -> NodeGroup | None:
        return far_group(_of(node).ask)

    def send(self, node: Node, names: Sequence[str]) -> None:
        files.send(_of(node).ask, node.spec.work, names)

    def fetch(self, node: Node, names: Sequence[str]) -> None:
        files.fetch(_of(node).ask, node.spec.work, names)

    def begin_stop(self, spec: NodeSpec) -> None:
        if (running := _running.get(spec.name)) is not None:
            running.begin_stop()

    def stop(self, spec: NodeSpec) -> None:
        """Stop it over its connection, if this process has it and it is sound; else over a new one."""
        running = _running.pop(spec.name, None)
        stopped = running is not None and running.stop()
        if not stopped and _reached(spec).exists():
            _stop_over_new_connection(spec)
        self.forget(spec)

    def forget(self, spec: NodeSpec) -> None:
        """Remove the node's files on this host; the other host has no node any more, or is gone itself."""
        running = _running.pop(spec.name, None)
        if running is not None:
            running.leave()
        remove_what_goes(spec.directory / "layer")
        _reached(spec).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class WayIn:
    """How a command gets to a node's host, and from there into the node."""

    host: str
    """As ssh or srun names it."""
    job: str | None
    """The Slurm job that has the host."""
    reach: tuple[str, ...]
    """The argv before a command that runs on the host, outside of the node."""
    enter: tuple[str, ...]
    """The argv, on the host, before a command that runs in the node."""
    rank: tuple[str, ...]
    """The argv, on the host, of ``tare.far.rank``."""
    folder: str
    """The node's own folder there, which goes with it."""


def beside(node: Node) -> WayIn:
    """For a launcher that is neither Tare's nor in the node."""
    return _of(node).beside()


def work_time_s(node: Node) -> float:
    """How long a node's host takes for the work that is the same on every host (``tare.host.work``)."""
    return _of(node).connection.channel.ask("work", limit_s=_WORK_LIMIT_S).told(_Worked)["time_s"]


class _Running:
    """A node on another host, with the connection on which its life depends."""

    def __init__(self, far: Far, connection: Connection, name: str) -> None:
        self.connection = connection
        self.ask: Ask = partial(connection.channel.ask, node=name)
        self.prefix: list[str] = []
        self._far = far
        self._name = name
        self._inside: tuple[str, ...] = ()
        self._lane: Lane | None = None
        self._subnet: str | None = None
        self._starting: Question | None = None
        self._stopping: Question | None = None

    def begin_start(self, spec: NodeSpec) -> Question:
        """Ask for it; ``start`` hears whether that worked."""
        self._subnet = self._far.subnet if spec.network.kind is NetworkKind.HOST else None
        lanes = self.connection.lanes
        self._lane = None if lanes is None else lanes.take()
        self._starting = question = self.connection.channel.say(
            "start",
            node=self._name,
            spec=_far_spec(spec, self._far),
            subnet=self._subnet,
            seen=self._far.seen(spec.image_root),
            limit_s=_START_LIMIT_S,
        )
        return question

    def start(self, spec: NodeSpec) -> Node:
        channel = self.connection.channel
        said = channel.answer(self._starting or self.begin_start(spec)).told(_Started)
        self._starting = None
        self._inside = tuple(said["prefix"])
        into = ["sh", "-c", _KEEP_EXIT_CODE, "sh", *said["prefix"]]
        self.prefix = self._far.enter(self._socket, into)
        greeting = channel.greeting
        return Node(
            spec=spec,
            init_pid=None,
            work_directory=said["work_directory"],
            tools_directory=said["tools_directory"],
            variables=said["variables"],
            own_kernel=said["own_kernel"],
            elsewhere=Elsewhere(subnet=self._subnet, address=spec.network.address or said["address"]),
            made_as_user=said["made_as_user"],
            keeps_user=said["keeps_user"],
            facts={
                **said["facts"],
                "host": f"{greeting['host']} (Linux {greeting['kernel']}), by {self._far.by}",
            },
        )

    @property
    def _socket(self) -> Path | None:
        """Of the lane by which commands get to the host."""
        return None if self._lane is None else self._lane.socket

    def beside(self) -> WayIn:
        far = self._far
        return WayIn(
            host=far.host,
            job=far.job,
            reach=tuple(far.enter(self._socket, [])),
            enter=self._inside,
            rank=(far.python, "-I", "-S", rank_file(far)),
            folder=str(Path(far.state) / "nodes" / self._name),
        )

    def begin_stop(self) -> Question:
        """Ask for it; ``stop`` hears whether that worked."""
        self._stopping = question = self.connection.channel.say(
            "stop", node=self._name, name=self._name, limit_s=_STOP_LIMIT_S
        )
        return question

    def stop(self) -> bool:
        """Stop it over this connection; return whether that worked."""
        try:
            self.connection.channel.answer(self._stopping or self.begin_stop())
        except NodeError:
            return False
        finally:
            self.leave()
        return True

    def leave(self) -> None:
        """Use the connection no more."""
        if self._lane is not None and self.connection.lanes is not None:
            self.connection.lanes.leave(self._lane)
        shared.leave(self.connection)


_running: dict[str, _Running] = {}
_preparing: dict[Far, threading.Lock] = {}


def _preparing_on(far: Far) -> threading.Lock:
    """Environments are prepared in parallel; two on one host want the same image."""
    return _preparing.setdefault(far.way, threading.Lock())


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


def asking(node: Node) -> Ask:
    """Asks the part of Tare that looks after a running node on its host."""
    return _of(node).ask


def _stop_over_new_connection(spec: NodeSpec) -> None:
    far = Far.of(spec.options, spec.index)
    try:
        with opened(far) as channel:
            channel.ask("stop", name=spec.name, limit_s=_STOP_LIMIT_S)
    except NodeError as error:
        if far.job is not None and slurm.is_over(far.job):
            return  # whatever ran in it was ended with it
        raise NodeError(
            f"whether {spec.name} has ended on {far.host} cannot be seen: {error}. It ends by itself when it notices "
            f"that nobody is connected. If that host is gone for good, remove {spec.directory}"
        ) from error


def _reached(spec: NodeSpec) -> Path:
    """The mark that exists from the moment when the other host may hold something of the node."""
    return spec.directory / "reached"


def _far_spec(spec: NodeSpec, far: Far) -> dict[str, Any]:
    """The node for the other host to start. Bound directories have the same paths there."""
    nodes = Path(far.state) / "nodes"
    directory, shared, network = nodes / spec.name, spec.shared_work, spec.network
    switch = network.switch
    there = replace(
        spec,
        technology=far.below,
        options=dict(far.options_below),
        directory=directory,
        shared_work=None if shared is None else nodes / shared.parents[1].name / "layer" / "work",
        network=replace(
            network,
            namespace=None if network.namespace is None else directory / "network",
            switch=None if switch is None else nodes / switch.parent.name / switch.name,
        ),
    )
    return encode(there)
