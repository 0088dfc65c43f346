# SPDX-License-Identifier: Apache-2.0
"""What all trials of one session share."""

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
from tare.measure.idle_ranks import IdleRanks
from tare.measure.placement import NodePlace
from tare.measure.turns.allotment import Allotment
from tare.network import plan_networks
from tare.nodes.provider import Bind, NodeSpec, Provider, missing_network
from tare.records import Bounds, Cell, Exclude, NetworkKind, Trial, User

MINIMAL_VARIABLES = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
}
"""All that a command of root's finds in its environment, beside what its workload states."""
_OF_NOBODY = {
    "HOME": "/tmp",  # noqa: S108 - the one folder of every image in which any user may write
    "SHELL": "/bin/sh",
}
"""What a user lacks whom no image's passwd(5) knows; without a shell Open MPI's launch complains."""

Arm = tuple[str, str, str]
"""Names of an environment, a workload and a setting."""


def minimal_variables(user: User | None) -> dict[str, str]:
    """The same for this user's."""
    return MINIMAL_VARIABLES if user is None else {**MINIMAL_VARIABLES, **_OF_NOBODY}


def _ignore() -> None:
    return


def _keep_quiet(words: str) -> None:  # noqa: ARG001 - nobody listens
    return


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The host's share for this session, and where things go."""

    image_root: Path
    image_digest: str
    raw_directory: Path
    available_processors: tuple[int, ...]
    providers: Mapping[str, Provider] = field(default_factory=lambda: PROVIDERS)
    """Technology → provider; a test puts fakes here."""
    binds: tuple[Bind, ...] = ()
    exclude: Exclude = field(default_factory=Exclude)
    """The rules that take a trial out, as the campaign declared them."""
    lacking_flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Environment → the host's CPU flags that its nodes lack, as the result's first session found them."""
    expected: Mapping[str, str] = field(default_factory=dict)
    """What the host is to give every node alike (``measure.parity``); what is not here is not compared."""
    tick: Callable[[], None] = _ignore
    """Called about once a second while a command runs."""
    user: User | None = None
    """Whom all commands run as (``NodeSpec.user``)."""
    seed: int = 0
    """The campaign's: the orders of turns follow from it."""
    say: Callable[[str], None] = _keep_quiet
    """Takes a sentence for the user."""
    until_s: float = math.inf
    """When the budget ends, by ``time.monotonic``: no command may last longer."""
    tested_clocks: set[tuple[str, str]] = field(default_factory=set)
    """Environments and settings whose nodes' clocks were tested in this session."""
    idle_ranks: IdleRanks = field(default_factory=IdleRanks)
    """Whether waiting MPI processes give their processor up, block by block."""
    session: str = field(default_factory=lambda: secrets.token_hex(4))
    counter: Iterator[int] = field(default_factory=itertools.count)
    counts: dict[str, Mapping[str, int]] = field(default_factory=dict)
    """Workload → piece → units of work in a slice, as the result's first block found them natively."""
    allotment: Allotment = field(default_factory=Allotment)
    """Shares the rounds of slices out."""
    whole: dict[Cell, str] = field(default_factory=dict)
    """Cell → why its commands run whole although they were to take turns."""
    turned: set[Cell] = field(default_factory=set)
    """Cells that have taken turns in this result: they go on doing so."""
    peak_byte: dict[str, int] = field(default_factory=dict)
    """Workload → memory that a command was seen to use, all its processes together."""
    programs: dict[Arm, Mapping[str, str]] = field(default_factory=dict)
    """What was learnt of the measured program."""
    evidence: dict[Arm, Mapping[str, str]] = field(default_factory=dict)
    """What the job's evidence said, of arms whose launch was tried (``measure.beforehand``)."""

    process_stats: ProcessStats = field(default_factory=ProcessStats)
    """Of all processes of this host, for who uses the processors beside a trial."""

    def node_specs(self, trial: Trial, places: Sequence[NodePlace]) -> list[NodeSpec]:
        """The same limits in every environment; names that no other session has."""
        names = [f"tare-{self.session}-{next(self.counter)}" for _ in places]
        directories = [nodes_directory() / name for name in names]
        environment = trial.environment
        kind = network_kind(trial, self.providers[environment.technology])
        networks = plan_networks(kind, directories, environment.rto_min_s)
        return [
            NodeSpec(
                name=directory.name,
                technology=environment.technology,
                options=environment.options,
                directory=directory,
                image_root=self.image_root,
                image_digest=self.image_digest,
                processors=place.processors,
                memory_byte=place.memory_byte,
                shm_byte=trial.limits.shm_byte,
                cpu_quota=_quota(trial, len(places)),
                binds=self.binds,
                network=network,
                storage=trial.limits.storage,
                bounds=_bounds(trial, len(places)),
                weight=min(MOST_WEIGHT, trial.layout.nodes // len(places)),
                index=index,
                user=self.user,
            )
            for index, (directory, place, network) in enumerate(
                zip(directories, places, networks, strict=True)
            )
        ]


def _quota(trial: Trial, nodes: int) -> float | None:
    """Of each node; native's one node has as much as all nodes of the layout together."""
    quota = trial.limits.cpu_quota
    return None if quota is None else quota * trial.layout.nodes / nodes


def _bounds(trial: Trial, nodes: int) -> Bounds:
    """Of each node; native's one node has as many processes as all nodes of the layout together."""
    bounds = trial.limits.bounds
    if bounds.processes is None:
        return bounds
    return replace(bounds, processes=bounds.processes * trial.layout.nodes // nodes)


def network_kind(trial: Trial, provider: Provider) -> NetworkKind:
    """What the campaign says; else several nodes are connected, one is not, if the technology can do that at all.

    ``NodeError`` for a kind that the technology does not have.
    """
    wanted = NetworkKind.VETH if trial.layout.nodes > 1 else NetworkKind.NONE
    usual = wanted if wanted in provider.networks else NetworkKind.HOST
    kind = trial.environment.network or usual
    if missing := missing_network(provider, kind):
        raise NodeError(missing)
    return kind
