# SPDX-License-Identifier: Apache-2.0
"""The hosts of a campaign's list: reached and described beforehand, and the form of an environment on each."""

import ipaddress
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cache
from typing import TypedDict

from tare import network
from tare.environments.ssh import work_time_s
from tare.environments.ssh.connection import HERE, Far
from tare.environments.ssh.shared import kept, opened
from tare.errors import HostError, NodeError
from tare.host import job_nodes, slurm
from tare.host.paths import state_directory
from tare.host.privileges import ordinary_user
from tare.measure.at_once import at_once
from tare.nodes.provider import Node
from tare.plan.entries import FAR
from tare.plan.schema import Host
from tare.records import NATIVE, Environment, NamedHost, OptionValue, Trial

_STATE_ON_NODES = "/var/lib/tare/slurm"
"""Where root's part of Tare on a node of a Slurm job keeps its things, apart from a runner's on the same host."""
_STATE_IN_JOBS = "/var/lib/tare/job"
"""The same, in a job of another scheduler."""
_NODES_OWN = "/tmp"  # noqa: S108 - any user may keep files there; Tare checks whose the folder in it is
"""The folder of a node for a user's part: homes are often the same on all nodes, and cannot hold overlays or locks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedHost:
    """A host that answered, and what it has."""

    host: NamedHost
    processors: tuple[int, ...]
    """Their numbers there, ascending."""
    memory_byte: int
    facts: Mapping[str, str]
    """As ``host.facts.host_facts`` gives them there."""
    interfaces: tuple[ipaddress.IPv4Interface, ...]
    node: str | None = None
    """The node of the scheduler's job that it is now; ``None``: the campaign names it itself."""

    @property
    def real_name(self) -> str:
        """The host's name wherever it is about the machine itself: another job's first node may be another one."""
        return self.node or self.host.name

    @property
    def _kind_of_node(self) -> str:
        return "Slurm node" if self.host.slurm is not None else "node of the job"

    @property
    def described(self) -> Mapping[str, str]:
        """The facts for the journal, with which machine it is, what nodes there may use, and where they are reached."""
        return {
            **({} if self.node is None else {self._kind_of_node: self.node}),
            **self.facts,
            "usable processors": f"{len(self.processors)} ({', '.join(map(str, self.processors))})",
            "addresses": ", ".join(map(str, self.interfaces)) or "none",
        }


class _Described(TypedDict):
    processors: list[int]
    memory_byte: int
    facts: dict[str, str]
    networks: list[str]


def reach(hosts: Sequence[NamedHost]) -> dict[str, ReachedHost]:
    """Ask every host for what it has, several at once; ``HostError`` names the ones that cannot be reached."""
    answers = at_once(_reached, hosts)
    if failed := [str(answer) for answer in answers if isinstance(answer, NodeError)]:
        raise HostError("; ".join(dict.fromkeys(failed)))
    reached = [answer for answer in answers if isinstance(answer, ReachedHost)]
    return {each.host.name: each for each in reached}


def connected(hosts: Iterable[NamedHost]) -> AbstractContextManager[None]:
    """Keep one connection to each from its first use on: all nodes, trials and questions share it."""
    return kept(map(far_of, hosts))


def far_of(host: NamedHost) -> Far:
    """How it is reached; raises ``HostError`` for a node of an allocation in which this process does not run."""
    return Far.of(_options(host))


def sizes(hosts: Sequence[NamedHost]) -> dict[str, Host]:
    """How large each host is, by name; raises as ``reach``."""
    return {name: Host(len(own.processors), own.memory_byte) for name, own in reach(hosts).items()}


@cache
def _reached(host: NamedHost) -> ReachedHost | NodeError:
    far = far_of(host)
    try:
        with opened(far) as channel:
            said = channel.ask("describe").told(_Described)
        interfaces = tuple(map(ipaddress.IPv4Interface, said["networks"]))
    except NodeError as error:
        return NodeError(f"host {host.name}: {error}")
    except ValueError as error:
        return NodeError(f"host {host.name} names an address that is none: {error}")
    return ReachedHost(
        host=host,
        processors=tuple(said["processors"]),
        memory_byte=said["memory_byte"],
        facts=said["facts"],
        interfaces=interfaces,
        node=_node_of(host),
    )


def work_times_s(
    trial: Trial, real_hosts: Sequence[str], nodes: Sequence[Node], listed: int
) -> dict[str, float]:
    """Machine → seconds for the same work, on all hosts of a native trial at once; empty for any other trial.

    Native's nodes are one on each host, and nothing runs in them yet. Also empty where one host is ``listed``, which
    has nothing to be compared with.
    """
    if trial.environment.technology != NATIVE or listed < 2:  # noqa: PLR2004 - one host and another
        return {}
    return dict(zip(real_hosts, at_once(work_time_s, nodes), strict=True))


def common_subnet(reached: Iterable[ReachedHost]) -> str | None:
    """The first IPv4 range in which this host and all others have an address, and no two others the same one."""
    here = {each.network for each in network.own_interfaces() if not each.ip.is_loopback}
    addresses = {own.host.name: [each for each in own.interfaces if each.network in here] for own in reached}
    try:
        return str(network.common_subnet(addresses))
    except NodeError:
        return None


def subnet_of(hosts: Sequence[NamedHost], named: str | None) -> str | None:
    """The range that the campaign names, or in which all meet; ``None``: there is none. Raises as ``reach``."""
    return named or (common_subnet(reach(hosts).values()) if hosts else None)


def between(reached: Iterable[ReachedHost], subnet: str | None) -> network.Between:
    """The network in that range; ``NodeError`` when there is none, or a host has no address in it."""
    if subnet is None:
        raise NodeError(
            "these hosts have no IPv4 range in common with this one, so no link of a node can reach another host: "
            'write subnet = "10.1.0.0/16" beside name'
        )
    return network.Between(
        subnet=subnet,
        own=network.address_within(subnet),
        addresses={each.host.name: _address_in(each, ipaddress.IPv4Network(subnet)) for each in reached},
    )


def _address_in(reached: ReachedHost, around: ipaddress.IPv4Network) -> str:
    own = next((each.ip for each in reached.interfaces if each.ip in around), None)
    if own is None:
        raise NodeError(f"host {reached.host.name} has no address in {around}")
    return str(own)


def on_host(environment: Environment, host: NamedHost, subnet: str | None = None) -> Environment:
    """The environment as it runs there: under its name, by the technology that reaches hosts."""
    below = [f"{name}={_written(value)}" for name, value in environment.options.items()]
    options = {**_options(host), "below": environment.technology, "below_options": below}
    return replace(
        environment, technology=FAR, options=options if subnet is None else {**options, "subnet": subnet}
    )


def _options(host: NamedHost) -> dict[str, OptionValue]:
    """Those of the technology; a host that may be this one keeps what is carried there beside its own state."""
    if host.slurm is not None:
        return _of_slurm(host, host.slurm)
    if host.scheduler is not None:
        return _of_other(host, host.scheduler)
    state = host.state if host.state or host.address else str(state_directory() / "here")
    return {
        "host": host.address or HERE,
        "ssh_options": list(host.ssh_options),
        "python": host.python,
        "become": list(host.become),
        **({} if state is None else {"state": state}),
    }


def _of_slurm(host: NamedHost, number: int) -> dict[str, OptionValue]:
    """The node that has this number in the present job."""
    job = slurm.allocation()
    if number >= len(job.nodes):
        raise HostError(
            f"this result is over {number + 1} or more nodes, and job {job.job} has {len(job.nodes)}: "
            "ask salloc or sbatch for as many as it began with"
        )
    return {"host": job.nodes[number], "job": job.job, **_alike(host, _STATE_ON_NODES)}


def _of_other(host: NamedHost, scheduler: str) -> dict[str, OptionValue]:
    """The node that has this host's number in the present job of a scheduler whose nodes ssh reaches."""
    listed = job_nodes.nodes(scheduler)
    if host.number >= len(listed):
        raise HostError(
            f"this result is over {host.number + 1} or more nodes, and this job of {scheduler} has {len(listed)}: "
            "ask for as many as it began with"
        )
    node = listed[host.number]
    return {
        "host": HERE if job_nodes.is_here(node) else node,
        "ssh_options": list(host.ssh_options),
        **_alike(host, _STATE_IN_JOBS),
    }


def _alike(host: NamedHost, roots: str) -> dict[str, OptionValue]:
    """What every node of a job has; ``roots``: the state folder of root's part of Tare."""
    usual = f"{_NODES_OWN}/tare-{os.geteuid()}" if ordinary_user() else roots
    return {"python": host.python, "become": list(host.become), "state": host.state or usual}


def _node_of(host: NamedHost) -> str | None:
    """The name of the node that a job's host is now; ``None`` for any other host."""
    if host.slurm is not None:
        return slurm.allocation().nodes[host.slurm]
    return None if host.scheduler is None else job_nodes.nodes(host.scheduler)[host.number]


def _written(value: OptionValue) -> str:
    return value if isinstance(value, str) else json.dumps(value)
