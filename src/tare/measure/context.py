# SPDX-License-Identifier: Apache-2.0
"""Data shared by all trials of one session."""

import itertools
import math
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tare.environments import PROVIDERS
from tare.errors import NodeError
from tare.host.cgroups.group import MOST_WEIGHT
from tare.host.paths import nodes_directory
from tare.host.process_stats import ProcessStats
from tare.measure.hosts import ReachedHost, between, on_host
from tare.measure.idle_ranks import IdleRanks
from tare.measure.placement import NodePlace, Places, places_of, places_over
from tare.measure.turns.allotment import Allotment
from tare.network import Between, plan_networks, plan_wire
from tare.nodes.devices import LABEL, Device, said
from tare.nodes.given import Given
from tare.nodes.provider import (
    BETWEEN_HOSTS,
    LINKED_NETWORKS,
    Bind,
    NodeNetwork,
    NodeSpec,
    Provider,
    missing_network,
)
from tare.plan.entries import FAR
from tare.records import Bounds, Cell, Exclude, MpiLauncher, NetworkKind, Trial, User

MINIMAL_VARIABLES = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
}
"""The environment of a command run by root, apart from its workload's variables."""
_OF_NOBODY = {
    "HOME": "/tmp",  # noqa: S108 - the one folder of every image in which any user may write
    "SHELL": "/bin/sh",
}
"""Defaults for a user unknown to the image's passwd(5); without a shell Open MPI's launch complains."""

Arm = tuple[str, str, str]
"""Names of an environment, a workload and a setting."""


def minimal_variables(user: User | None) -> dict[str, str]:
    """The environment of a command run by this user."""
    return MINIMAL_VARIABLES if user is None else {**MINIMAL_VARIABLES, **_OF_NOBODY}


def _ignore() -> None:
    return


def _keep_quiet(words: str) -> None:  # noqa: ARG001 - nobody listens
    return


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The session's share of the host, and where things are stored."""

    image_root: Path
    image_digest: str
    raw_directory: Path
    available_processors: tuple[int, ...]
    providers: Mapping[str, Provider] = field(default_factory=lambda: PROVIDERS)
    """Technology → provider; tests insert fakes here."""
    hosts: Mapping[str, ReachedHost] = field(default_factory=dict)
    """Name → host of the campaign's list; empty: all nodes are on this host."""
    subnet: str | None = None
    """The address range in which those hosts reach each other; ``None``: they have none in common."""
    mpi_launcher: MpiLauncher = MpiLauncher.TARE
    """What starts the processes of an instance that spans hosts."""
    binds: tuple[Bind, ...] = ()
    devices: tuple[Device, ...] = ()
    """Of this host, for its nodes."""
    given: Mapping[str, Given] = field(default_factory=dict)
    """Name of a host of the list → what its nodes have of it besides the ``binds`` of all."""
    exclude: Exclude = field(default_factory=Exclude)
    """The campaign's rules for excluding a trial."""
    lacking_flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Environment → the host's CPU flags that its nodes lack, as the result's first session found them."""
    expected: Mapping[str, str] = field(default_factory=dict)
    """What the host must give every node equally (``measure.parity``); anything else is not compared."""
    tick: Callable[[], None] = _ignore
    """Called about once a second while a command runs."""
    user: User | None = None
    """User of all commands (``NodeSpec.user``)."""
    seed: int = 0
    """The campaign's seed, which determines the orders of turns."""
    say: Callable[[str], None] = _keep_quiet
    """Takes a sentence for the user."""
    until_s: float = math.inf
    """End of the budget by ``time.monotonic``: no command may last longer."""
    tested_clocks: set[tuple[str, str]] = field(default_factory=set)
    """Environments and settings with clocks already tested in this session."""
    idle_ranks: IdleRanks = field(default_factory=IdleRanks)
    """Whether waiting MPI processes yield their processor, block by block."""
    session: str = field(default_factory=lambda: secrets.token_hex(4))
    counter: Iterator[int] = field(default_factory=itertools.count)
    counts: dict[str, Mapping[str, int]] = field(default_factory=dict)
    """Workload at its levels → piece → units of work in a slice, as determined on native in the first block."""
    allotment: Allotment = field(default_factory=Allotment)
    """Distributes the rounds of slices."""
    whole: dict[Cell, str] = field(default_factory=dict)
    """Cell → why its commands run whole instead of taking turns."""
    turned: set[Cell] = field(default_factory=set)
    """Cells that have taken turns in this result, and continue to."""
    peak_byte: dict[str, int] = field(default_factory=dict)
    """Workload at its levels → observed memory of a command, all its processes together."""
    programs: dict[Arm, Mapping[str, str]] = field(default_factory=dict)
    """Facts about the measured program."""
    evidence: dict[Arm, Mapping[str, str]] = field(default_factory=dict)
    """The job's evidence, for arms with a tested launch (``measure.prepared``)."""

    process_stats: ProcessStats = field(default_factory=ProcessStats)
    """Statistics of all processes of this host, to see who uses the processors beside a trial."""

    def provider_of(self, trial: Trial) -> Provider:
        """Who starts its nodes: its technology, or whoever starts that on other hosts."""
        return self.providers[FAR if trial.hosts else trial.environment.technology]

    def real_hosts(self, trial: Trial) -> tuple[str, ...]:
        """The machines that are the trial's hosts in this session."""
        return tuple(self.hosts[name].real_name for name in trial.hosts)

    def places_of(self, trial: Trial) -> Places:
        """Where everything of the trial goes."""
        if not trial.hosts:
            return places_of(trial, self.available_processors)
        return places_over(trial, {name: self.hosts[name].processors for name in trial.hosts})

    def node_specs(self, trial: Trial, places: Sequence[NodePlace]) -> list[NodeSpec]:
        """Node specifications with the same limits in every environment, and names unique to this session."""
        names = [f"tare-{self.session}-{next(self.counter)}" for _ in places]
        directories = [nodes_directory() / name for name in names]
        environment = trial.environment
        forms = [
            environment
            if place.host is None
            else on_host(environment, self.hosts[place.host].host, self.subnet)
            for place in places
        ]
        networks = self._networks(trial, places, directories)
        own = [self._given(place.host) for place in places]
        return [
            NodeSpec(
                name=directory.name,
                technology=form.technology,
                options=form.options,
                directory=directory,
                image_root=self.image_root,
                image_digest=self.image_digest,
                processors=place.processors,
                memory_byte=place.memory_byte,
                shm_byte=trial.limits.shm_byte,
                cpu_quota=_quota(trial, len(places)),
                binds=(*self.binds, *given.binds),
                devices=given.devices,
                network=network,
                storage=trial.limits.storage,
                bounds=_bounds(trial, len(places)),
                weight=min(MOST_WEIGHT, trial.layout.nodes // len(places)),
                index=index,
                user=self.user,
            )
            for index, (directory, place, form, network, given) in enumerate(
                zip(directories, places, forms, networks, own, strict=True)
            )
        ]

    @property
    def described_hosts(self) -> Mapping[str, Mapping[str, str]]:
        """For the journal: the facts of each host of the list, with the devices that its nodes have."""
        own = {name: given.devices for name, given in self.given.items() if given.devices}
        return {
            name: {**host.described, **({LABEL: said(own[name])} if name in own else {})}
            for name, host in self.hosts.items()
        }

    @property
    def has_devices(self) -> bool:
        """Whether nodes have devices, which work on while a program is frozen."""
        return bool(self.devices) or any(given.devices for given in self.given.values())

    def _given(self, host: str | None) -> Given:
        return Given(devices=self.devices) if host is None else self.given.get(host, Given())

    def between(self) -> Between:
        """The network between the hosts of the campaign's list; ``NodeError`` when they have none in common."""
        return between(self.hosts.values(), self.subnet)

    def _networks(
        self, trial: Trial, places: Sequence[NodePlace], directories: Sequence[Path]
    ) -> tuple[NodeNetwork, ...]:
        kind = network_kind(trial, self.providers[trial.environment.technology])
        rto_min_s, names = (
            trial.environment.rto_min_s,
            [place.host for place in places if place.host is not None],
        )
        if names and kind in LINKED_NETWORKS:
            return plan_wire(kind, directories, names, self.between(), rto_min_s)
        if kind in BETWEEN_HOSTS:
            raise NodeError(f"the network {kind} joins hosts: add [[host]] tables, or choose veth or macvlan")
        return plan_networks(kind, directories, rto_min_s)


def _quota(trial: Trial, nodes: int) -> float | None:
    """Quota per node; native's one node has as much as all nodes of the layout together."""
    quota = trial.limits.cpu_quota
    return None if quota is None else quota * trial.layout.nodes / nodes


def _bounds(trial: Trial, nodes: int) -> Bounds:
    """Bounds per node; native's one node may have as many processes as all nodes of the layout together."""
    bounds = trial.limits.bounds
    if bounds.processes is None:
        return bounds
    return replace(bounds, processes=bounds.processes * trial.layout.nodes // nodes)


def network_kind(trial: Trial, provider: Provider) -> NetworkKind:
    """The campaign's choice; else several nodes are connected and one is not, if the technology supports that.

    Over hosts several nodes have their hosts' network unless the campaign says otherwise, which needs nothing of the
    site. ``NodeError`` for a kind that the technology lacks.
    """
    joining = NetworkKind.HOST if trial.hosts else NetworkKind.VETH
    wanted = joining if trial.layout.nodes > 1 else NetworkKind.NONE
    usual = wanted if wanted in provider.networks else NetworkKind.HOST
    kind = trial.environment.network or usual
    if missing := missing_network(provider, kind):
        raise NodeError(missing)
    return kind
