# SPDX-License-Identifier: Apache-2.0
"""The place of each instance of a trial: the node that starts it, and the nodes where it computes."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Network
from pathlib import Path

from tare import network
from tare.host.scratch import scratch_folder
from tare.measure import site
from tare.measure.agent import AgentServer, explain
from tare.measure.context import Context, minimal_variables
from tare.measure.placement import NodePlace
from tare.measure.running import NodeTimes, running_nodes
from tare.measure.ways import Ways
from tare.nodes.devices import are_fabric
from tare.nodes.provider import WORK_DIRECTORY, Bind, Node, NodeNetwork, NodeSpec, Provider
from tare.nodes.unprivileged.limits import command_limits
from tare.records import Layout, MpiLauncher, NetworkKind, Trial
from tare.units import MEBIBYTE
from tare.workloads.kind import Shape, Span
from tare.workloads.mpi_paths import MpiPlace

_LAUNCHER = "chroot"
"""The technology of the node in which mpirun runs: the image, and the network of the nodes."""
_LAUNCHER_MEMORY_BYTE = 512 * MEBIBYTE
_LAUNCHER_SHM_BYTE = 16 * MEBIBYTE
_FILE_LIMIT_BYTE = 1024 * MEBIBYTE


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """One instance's place."""

    number: int
    node: Node
    """Where its command is started."""
    provider: Provider
    """Provider of that node."""
    members: tuple[Node, ...]
    """Where it computes; the first one's work directory is the command's own."""
    member_provider: Provider
    """Provider of the members."""
    processors: tuple[int, ...]
    """Where the command may run."""
    shape: Shape
    ways: Ways
    """Ways into that node."""
    agent: AgentServer | None = None
    """Starts its processes in the members, if there are several."""
    where: tuple[MpiPlace, ...] = ()
    """The members with their hosts, in order; empty unless the campaign names hosts and it spans nodes."""
    networks: tuple[IPv4Network, ...] = ()
    """Those of the hosts."""

    @property
    def file_limit_byte(self) -> int:
        """Maximum size of a file: half of the memory, as written data may be charged to the writer's memory."""
        if (stated_byte := self.node.spec.bounds.output_byte) is not None:
            return stated_byte
        return min(_FILE_LIMIT_BYTE, self.shape.memory_byte // 2, self.node.spec.memory_byte // 2)

    @property
    def variables(self) -> Mapping[str, str]:
        span = self.shape.span
        own = {} if span is None else span.variables
        return {**minimal_variables(self.node.user), **self.node.variables, **own}

    def refuse_failed_launch(self, complaint: Callable[[], str]) -> None:
        """``NodeError`` once a daemon of the launch has failed: mpirun may wait for it forever."""
        failed = None if self.agent is None else self.agent.failure()
        if failed is not None:
            raise explain(failed, complaint())


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """The running nodes of a trial, with their places, in order."""

    nodes: tuple[Node, ...]
    places: tuple[NodePlace, ...]
    provider: Provider
    layout: Layout
    oversubscribed: bool
    """Whether processes share the processors: with each other, or with other programs of the host."""
    lacking_flags: Mapping[str, Collection[str]]
    ways: Ways
    times: NodeTimes = field(default_factory=NodeTimes)

    def shape(self, number: int, memory_byte: int, node: Node, span: Span | None = None) -> Shape:
        return Shape(
            processors=self.layout.ranks,
            memory_byte=memory_byte,
            instance=number,
            tools_directory=node.tools_directory,
            span=span,
            oversubscribed=self.oversubscribed,
            lacking_flags=self.lacking_flags,
            storage=node.spec.storage,
            verbs=are_fabric(self.nodes[0].spec.devices),
        )


@contextmanager
def seated(context: Context, trial: Trial, placed: Placed) -> Iterator[list[Seat]]:
    """A seat for every instance, in the order of their numbers, with running launchers if an instance spans nodes."""
    if placed.layout.cooperative and placed.provider.cooperates:
        with _across(context, trial, placed) as seats:
            yield seats
    else:
        yield sorted(_inside(placed), key=lambda seat: seat.number)


def _inside(placed: Placed) -> Iterator[Seat]:
    seen: set[int] = set()
    for node, place in zip(placed.nodes, placed.places, strict=True):
        for number in (number for number in place.instances if number not in seen):
            seen.add(number)
            yield Seat(
                number=number,
                node=node,
                provider=placed.provider,
                members=(node,),
                member_provider=placed.provider,
                processors=place.instance_processors(number),
                shape=placed.shape(number, place.memory_byte // len(place.instances), node),
                ways=placed.ways,
            )


@contextmanager
def _across(context: Context, trial: Trial, placed: Placed) -> Iterator[list[Seat]]:
    share = placed.layout.nodes // placed.layout.instances
    spans = [placed.nodes[first : first + share] for first in range(0, placed.layout.nodes, share)]
    placed.ways.close()  # only mpirun's daemons enter the members from now on
    with ExitStack() as stack:
        by_site = _by_site(context, trial)
        folders = [stack.enter_context(scratch_folder("mpi")) if by_site else None for _ in spans]
        launching = [
            _launcher(context, trial, placed, members, folder)
            for members, folder in zip(spans, folders, strict=True)
        ]
        specs = _on_one_network(context, launching)
        launchers = stack.enter_context(running_nodes(specs, context.providers, placed.times))
        ways = stack.enter_context(Ways())
        yield [
            stack.enter_context(
                _seat(context, placed, number, launchers[number], members, ways, folders[number])
            )
            for number, members in enumerate(spans)
        ]


def _by_site(context: Context, trial: Trial) -> bool:
    """Whether the site's own launcher starts the processes."""
    return bool(trial.hosts) and context.mpi_launcher is not MpiLauncher.TARE


def _launcher(
    context: Context, trial: Trial, placed: Placed, members: Sequence[Node], folder: Path | None
) -> NodeSpec:
    """The launcher's node: image and binds, on the members' network, with the first member's work directory.

    It also sees the ``folder`` from which the site's launcher is asked for, and is then of who runs Tare: no other may
    ask.
    """
    (spec,) = context.node_specs(trial, placed.places[:1])
    used = sorted({processor for place in placed.places for processor in place.processors})
    if trial.hosts:  # mpirun is on this host, and the processes are on theirs
        used = list(context.available_processors)
    namespace = network.launcher_namespace(members)
    kind = NetworkKind.HOST if namespace is None else members[0].spec.network.kind
    return replace(
        spec,
        technology=_LAUNCHER,
        options={},
        processors=tuple(used),
        memory_byte=_LAUNCHER_MEMORY_BYTE,
        shm_byte=_LAUNCHER_SHM_BYTE,
        cpu_quota=None,
        weight=1,
        network=members[0].spec.network
        if members[0].spec.network.wire
        else NodeNetwork(kind=kind, namespace=namespace),
        shared_work=members[0].spec.work,
        binds=context.binds if folder is None else (*context.binds, Bind(path=folder, writable=True)),
        devices=(),
        user=spec.user if folder is None else None,
    )


def _on_one_network(context: Context, launchers: list[NodeSpec]) -> list[NodeSpec]:
    """The same; over hosts the first makes a link to the wire, and the others are in its network."""
    first = launchers[0]
    if first.network.wire is None:
        return launchers
    own = network.launcher_network(first.network, first.directory, context.between())
    others = NodeNetwork(kind=own.kind, namespace=own.namespace)
    return [replace(each, network=own if each is first else others) for each in launchers]


def clean(node: Node) -> list[str]:
    """The argv prefix for a command with the limits of measured ones and only the node's variables."""
    variables = {**minimal_variables(node.user), **node.variables}
    return [*_dropped(node), "env", "-i", *(f"{name}={value}" for name, value in variables.items())]


def _dropped(node: Node) -> list[str]:
    user = [] if node.user is None else ["--user", str(node.user)]
    limits = command_limits(node.spec.bounds).items()
    words = [*user, *(word for name, most in limits for word in ("--limit", f"{name}={most}"))]
    return [f"{node.tools_directory}/drop", *words, "--"] if words else []


@contextmanager
def _seat(
    context: Context,
    placed: Placed,
    number: int,
    launcher: Node,
    members: tuple[Node, ...],
    ways: Ways,
    folder: Path | None = None,
) -> Iterator[Seat]:
    if folder is None:
        prefixes = {node.spec.name: [*placed.provider.prefix(node), *clean(node)] for node in members}
        serving, seen = AgentServer(launcher.spec.work, prefixes, launcher.user), WORK_DIRECTORY
    else:
        inside = {node.spec.name: clean(node) for node in members}
        serving, seen = AgentServer(folder, site.ways(folder, inside, members, AgentServer.name)), str(folder)
    with serving as agent:
        span = Span(
            hosts=tuple(node.spec.name for node in members),
            addresses=tuple(map(network.node_address, members)),
            subnet=network.meeting_place(members),
            variables={"TARE_AGENT": f"{seen}/{agent.name}"},
            site=None
            if folder is None
            else site.site_of(context.mpi_launcher, context.image_root, folder, inside, members),
        )
        memory_byte = sum(node.spec.memory_byte for node in members)
        yield Seat(
            number=number,
            node=launcher,
            provider=context.providers[_LAUNCHER],
            members=members,
            member_provider=placed.provider,
            processors=launcher.spec.processors,
            shape=placed.shape(number, memory_byte, launcher, span),
            ways=ways,
            agent=agent,
            where=_where(context, placed, members),
            networks=_networks(context),
        )


def _networks(context: Context) -> tuple[IPv4Network, ...]:
    """Those of the hosts, and the one of the links that nodes have between hosts."""
    of_hosts = {each.network: None for own in context.hosts.values() for each in own.interfaces}
    return (*of_hosts, network.WIRE_SUBNET)


def _where(context: Context, placed: Placed, members: Sequence[Node]) -> tuple[MpiPlace, ...]:
    hosts = {
        node.spec.name: context.hosts[place.host].real_name
        for node, place in zip(placed.nodes, placed.places, strict=True)
        if place.host is not None
    }
    return tuple(MpiPlace(node.spec.name, hosts[node.spec.name]) for node in members) if hosts else ()
