# SPDX-License-Identifier: Apache-2.0
"""The interface of every environment: probe, start, the argv prefix that enters, stop (docs/add-an-environment.md)."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from ipaddress import IPv4Address
from pathlib import Path
from typing import Protocol

from tare.errors import NodeError
from tare.host.cgroups import Settings, group_of
from tare.nodes.devices import Device
from tare.nodes.group import LocalGroup, SandboxGroup
from tare.records import Bounds, NetworkKind, OptionValue, Storage, User

WORK_DIRECTORY = "/mnt/tare"
"""Where a node sees its work directory; instance k runs in its own folder below it."""
TOOLS_DIRECTORY = "/opt/tare/bin"
"""Where every image holds Tare's own programs."""


BETWEEN_HOSTS = frozenset({NetworkKind.VXLAN, NetworkKind.SRIOV})
"""Networks that need a list of hosts."""
LINKED_NETWORKS = frozenset({NetworkKind.VETH, NetworkKind.MACVLAN, NetworkKind.IPVLAN}) | BETWEEN_HOSTS
"""Networks in which a node has a link, and a route, of its own."""
MADE_NETWORKS = LINKED_NETWORKS | {NetworkKind.NONE}
"""Networks that Tare makes in a namespace: a technology that joins an existing namespace supports all of these."""


DEVICES_OF_A_GUEST = "a guest takes a device for itself (VFIO), so that native could not have it too"
"""Why a virtual machine's nodes get no device of the host."""


class Shared(StrEnum):
    """What a technology's nodes share with the host, where other technologies give each node its own."""

    HOST_NAME = "host name"
    PROCESS_IDS = "process ids"
    SHM = "/dev/shm"
    DEVICES = "devices"


class Victim(StrEnum):
    """Which processes die when a node's processes touch more memory than its limit."""

    PROCESS = "the process that touches it"
    NODE = "the whole node"


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """Whether an environment works here; ``remedy`` is a command or a sentence."""

    usable: bool
    reason: str = ""
    remedy: str = ""
    version: str = ""
    emulated: bool = False
    """Whether it would run by software emulation, which nobody wants to weigh unasked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bind:
    """A directory of the host, visible in the node at the same path."""

    path: Path
    writable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """How the links of a node leave its host, for a trial over several hosts (docs/networks.md)."""

    subnet: str
    """The address range, in CIDR notation, in which the hosts reach each other: its interface carries the frames."""
    peers: tuple[str, ...]
    """Addresses there of all the hosts that the trial uses, also of this one where ``mpirun`` runs."""
    number: int
    """Of the trial's own network among all on the same wire (RFC 7348's VXLAN network identifier)."""
    router: str
    """An address for the host's own end where it passes frames on between its nodes and the wire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeNetwork:
    """How to connect a node. ``tare.network`` makes what the paths name; a provider joins ``namespace``."""

    kind: NetworkKind = NetworkKind.NONE
    namespace: Path | None = None
    """A file that holds the node's network namespace (as ``nsenter --net=FILE`` takes it), made before ``start`` with
    its loopback up, unless the provider ``makes_namespace``; ``None`` for ``HOST`` and ``DEFAULT``."""
    switch: Path | None = None
    """The file that holds the namespace in which the links of the trial's nodes meet, of those on one host where there
    are several; for ``LINKED_NETWORKS``. With a ``wire`` it is made only if something has to be in it."""
    address: str | None = None
    """The node's own address, within ``tare.network.SUBNET``, or ``WIRE_SUBNET`` with a ``wire``."""
    rto_min_s: float | None = None
    wire: Wire | None = None
    """``None``: the links end on this host."""

    @property
    def tap(self) -> str:
        """The name of the tap device, in the switch's namespace, of a machine that has a link (``takes_tap``)."""
        return f"tap{int(IPv4Address(self.address or 0)) & 0xFFFF}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSpec:
    """A node to start. Written to disk before anything is made, so that any later process can stop it."""

    name: str
    """Unique on the host; starts with ``tare-``; also the node's host name."""
    technology: str
    options: Mapping[str, OptionValue]
    directory: Path
    """The node's own folder on the host; the work directory is ``directory / "layer" / "work"``."""
    image_root: Path
    image_digest: str
    processors: tuple[int, ...]
    memory_byte: int
    shm_byte: int
    cpu_quota: float | None
    binds: tuple[Bind, ...] = ()
    network: NodeNetwork = NodeNetwork()
    storage: Storage = Storage.TMPFS
    """The medium of the layer."""
    index: int = 0
    """The node's number within the trial, from 0."""
    shared_work: Path | None = None
    """Another node's work directory, used instead of a separate one."""
    user: User | None = None
    """The user that its commands run as; ``None``: root, or with an ordinary user's Tare the user in root's place."""
    bounds: Bounds = field(default_factory=Bounds)
    devices: tuple[Device, ...] = ()
    """Of the host, at the same paths."""
    weight: int = 1
    """CPU weight of its group, in usual weights: native's one node gets as much as all the layout's nodes together."""

    @property
    def work(self) -> Path:
        return self.shared_work or _work_of(self.directory)


@lru_cache
def _work_of(directory: Path) -> Path:
    """The path of the work directory; cached, since a trial asks a dozen times."""
    return directory / "layer/work"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Settings from an environment's own options that Tare or the host would otherwise choose.

    Such a setting is the technology as people run it: it makes neither unequal arms nor a limit that does not hold.
    """

    labels: frozenset[str] = frozenset()
    """Labels of ``Parity.host``."""
    shm_byte: int | None = None
    """Size of /dev/shm; ``None``: the campaign's."""
    sets_quota: bool = False
    """Whether ``cpu_quota`` replaces the campaign's."""
    cpu_quota: float | None = None
    """In processors; ``None``: no quota."""
    sets_processes: bool = False
    """Whether ``processes`` replaces the campaign's."""
    processes: int | None = None
    """``None``: no limit."""

    def limited(self, spec: NodeSpec) -> NodeSpec:
        """The node with the limits that really hold it."""
        quota = self.cpu_quota if self.sets_quota else spec.cpu_quota
        bounds = replace(spec.bounds, processes=self.processes) if self.sets_processes else spec.bounds
        return replace(spec, shm_byte=self.shm_byte or spec.shm_byte, cpu_quota=quota, bounds=bounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """How this host and the trial's other nodes reach a node on another host."""

    subnet: str | None = None
    """The address range, in CIDR notation, in which the hosts reach each other; ``None``: not given."""
    address: str | None = None
    """The node's own address there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A running node."""

    spec: NodeSpec
    init_pid: int | None
    """Process id, on the host, of the node's first process; its cgroup holds the limits."""
    work_directory: str = WORK_DIRECTORY
    """Where the node sees ``spec.work``."""
    tools_directory: str = TOOLS_DIRECTORY
    """Where the node sees Tare's own programs."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of every command in it: the fake environment's planted ones, MPI's in gVisor."""
    facts: Mapping[str, str] = field(default_factory=dict)
    host_files: bool = False
    """Whether it shows the host's own files instead of the image's, whose variables it then does not have either."""
    own_kernel: bool = False
    """Whether it has a kernel of its own: the host does not see its processes, and it numbers processors from 0."""
    machine: bool = False
    """Whether it is a virtual machine: its root directory, network and processes are visible only from inside."""
    elsewhere: Elsewhere | None = None
    """``None``: on this host."""
    made_as_user: bool = False
    """Whether the technology itself was started as ``spec.user``, so that nothing in the node is root."""
    keeps_user: bool = False
    """Whether no process in it can become ``spec.user``, as after a login without root on another host."""
    own_hosts: bool = False
    """Whether its /etc/hosts is its own although its first process has the host's root, as one that PRoot traces."""

    @property
    def user(self) -> User | None:
        """The user that a command becomes in the node, by the programs that start it there."""
        return None if self.keeps_user else self.spec.user

    @property
    def owner(self) -> User | None:
        """The user who must own a folder for the node's commands to write there, as the host numbers users."""
        return self.spec.user if self.made_as_user else self.user

    def numbered_inside(self, processors: tuple[int, ...]) -> tuple[int, ...]:
        """The node's own numbers for these of its processors."""
        own = self.spec.processors
        return tuple(map(own.index, processors)) if self.own_kernel else processors


class NodeGroup(Protocol):
    """The control group that holds a node, on this host or on the one where the node runs."""

    def settings(self) -> Settings:
        """The limits it enforces on the node."""
        ...

    def cpu_s(self) -> float | None:
        """CPU time used in it so far; ``None`` if it is not counted."""
        ...

    def memory_kills(self) -> int | None:
        """How many processes its memory limit has killed; ``None`` if they are not counted."""
        ...

    def refused_processes(self) -> int | None:
        """How often its limit on processes has refused one; ``None`` if that is not counted."""
        ...

    def lacks(self, inner_pid: int) -> list[str] | None:
        """The controllers that do not hold the process with this number inside; ``None``: it is not in the group."""
        ...


class Provider(Protocol):
    """One technology; the explicit list is in ``environments/__init__.py``."""

    technology: str
    option_names: Mapping[str, str]
    """Option → what it does; a campaign may set no other."""
    networks: frozenset[NetworkKind]
    """The kinds of network that its nodes support, each by its name: a campaign that asks for another is refused."""
    shares: frozenset[Shared] = frozenset()
    memory_victim: Victim = Victim.PROCESS
    makes_namespace: bool = False
    """Whether the technology insists on making the network namespace, which then gets the node's link after
    ``start``; else the node joins the namespace made for it."""
    starts_at_once: bool = False
    """Whether a trial's nodes start and stop at the same time: on other hosts, where a start is a wait here."""
    takes_tap: bool = False
    """Whether a node's link ends in a tap device for a virtual machine's monitor (``NodeNetwork.tap``), not in it."""
    own_limits: bool = False
    """Whether the technology gives its payload resource limits (getrlimit(2)) that Tare does not state: they are then
    part of what is measured. Else a node has the runner's."""
    own_kernel: bool = False
    """Whether its commands run on another kernel than this host's, so that their root is not this host's."""
    keeps_user: bool = False
    """Whether its commands always run as the runner's user (``Node.keeps_user``)."""
    bounds_processes: bool = True
    """Whether Tare ensures that a node has no more processes than the campaign states."""
    device_refusal: str | None = "tare does not know how to pass a device to its nodes"
    """As from ``refuse_devices``, whatever the options."""
    cooperates: bool = True
    """Whether processes of one MPI job can be started in several of its nodes."""

    def check_options(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:  # noqa: ARG002 - for those who need it
        """Option → what is wrong with its value or its absence; shows what the user wrote by ``repr`` only."""
        return {}

    def check_spanning(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:  # noqa: ARG002 - for those who need it
        """Option → what is wrong with it for an instance that spans nodes."""
        return {}

    def refuse_devices(self, options: Mapping[str, OptionValue]) -> str | None:  # noqa: ARG002 - for those who need it
        """Why its nodes cannot get devices of this host (``NodeSpec.devices``); ``None``: they can."""
        return self.device_refusal

    def refuse_uncached(self, options: Mapping[str, OptionValue]) -> str | None:  # noqa: ARG002 - for those who need it
        """Why no file of its nodes can be read or written past every cache of files; ``None``: as far as is known."""
        return None

    def chosen(self, options: Mapping[str, OptionValue]) -> Chosen:  # noqa: ARG002 - for those who need it
        """Settings from a node's options that the campaign would otherwise state or that would have to match native."""
        return Chosen()

    def configured(self, options: Mapping[str, OptionValue]) -> "Provider":  # noqa: ARG002 - for those who need it
        """Who answers ``probe``, ``prepare`` and ``lacking_flags`` for an environment with these options."""
        return self

    def probe(self) -> Probe:
        """Check whether it works on this host, within 1 s and leaving nothing behind."""
        ...

    def prepare(self, image_root: Path, image_digest: str) -> None:  # noqa: ARG002 - for those who need it
        """Prepare once before a campaign: for technologies that must import the image. Most need nothing."""
        return

    def begin_start(self, spec: NodeSpec) -> None:  # noqa: ARG002 - for those who can
        """Begin what ``start`` then waits for, before any of many is waited for; raises as it, ``stop`` undoes it."""
        return

    def begin_stop(self, spec: NodeSpec) -> None:  # noqa: ARG002 - for those who can
        """Begin what ``stop`` then waits for, and leave its failure to it."""
        return

    def lacking_flags(self, flags: AbstractSet[str]) -> AbstractSet[str]:  # noqa: ARG002 - for those who know
        """Which of these CPU flags of the host, spelled as in /proc/cpuinfo, its nodes' processors lack.

        Names only what is known before any node starts; empty otherwise. ``NodeError`` when it cannot be determined.
        """
        return frozenset()

    def start(self, spec: NodeSpec) -> Node:
        """Bring a node up, idle; raise ``NodeError`` and then leave nothing that ``stop`` would not remove."""
        ...

    def complete(self, node: Node) -> Node:
        """Finish a start where ``makes_namespace``, once the link is in place; raise as ``start`` does.

        For technologies that read their network only once, as they start: ``start`` has then made only the namespace.
        """
        return node

    def prefix(self, node: Node) -> list[str]:
        """The argv to put before a command so that it runs in the node, with pipes passed through."""
        ...

    def helpers(self, node: Node) -> list[int]:  # noqa: ARG002 - for those who have some
        """Process ids, on the host, of what serves the node besides its own processes: shim, monitor, sentry, VMM."""
        return []

    def virtual_processors(self, node: Node) -> list[int]:  # noqa: ARG002 - for virtual machines
        """Thread ids, on the host, of the node's virtual processors, among the threads of its ``helpers``.

        Their CPU time counts as the node's, not the helpers'; their wait for a processor is the node's steal.
        """
        return []

    def group(self, node: Node) -> NodeGroup | None:
        """The group that limits the node and counts its CPU time; ``None`` without one, as in the fake's nodes."""
        if node.init_pid is None:
            return None
        group = group_of(node.init_pid)
        return SandboxGroup(group, node.init_pid) if node.own_kernel else LocalGroup(group)

    def send(self, node: Node, names: Sequence[str]) -> None:  # noqa: ARG002 - for nodes on other hosts
        """Copy files and folders below ``spec.work`` to where the node sees them."""
        return

    def fetch(self, node: Node, names: Sequence[str]) -> None:  # noqa: ARG002 - for nodes on other hosts
        """Copy files that the node wrote below its work directory to ``spec.work``; missing ones are left out."""
        return

    def empty_caches(self, node: Node) -> str:
        """Write back and forget the files that the node's own kernel caches; who did it, in words.

        Empty where this host's kernel is the node's. ``NodeError`` where nobody can: a read would not be cold.
        """
        if node.elsewhere is not None:
            raise NodeError("its files are cached on another host, and Tare empties only this one's caches")
        if node.own_kernel:
            raise NodeError(
                "its own kernel caches files, and no command of this technology makes it forget them"
            )
        return ""

    def stop(self, spec: NodeSpec) -> None:
        """Remove the whole node; harmless when part or all of it is already gone."""
        ...


def missing_network(provider: Provider, kind: NetworkKind) -> str | None:
    """Why its nodes cannot have this kind of network; ``None``: they can."""
    if kind in provider.networks:
        return None
    return f"{provider.technology} has no network {kind}; it has {', '.join(sorted(provider.networks))}"
