# SPDX-License-Identifier: Apache-2.0
"""The hosts of a campaign's list: reached and described beforehand, and the form of an environment on each."""

import ipaddress
import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypedDict

from tare.environments.ssh import work_time_s
from tare.environments.ssh.channel import opened
from tare.environments.ssh.connection import HERE, Far
from tare.errors import HostError, NodeError
from tare.host.paths import state_directory
from tare.network import own_interfaces
from tare.nodes.provider import Node
from tare.plan.entries import FAR
from tare.plan.schema import Host
from tare.records import NATIVE, Environment, NamedHost, OptionValue, Trial

_STATE = "/var/lib/tare"
_REACHED_AT_ONCE = 32


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


class _Described(TypedDict):
    processors: list[int]
    memory_byte: int
    facts: dict[str, str]
    networks: list[str]


def reach(hosts: Sequence[NamedHost]) -> dict[str, ReachedHost]:
    """Ask every host for what it has, several at once; ``HostError`` names the ones that cannot be reached."""
    with ThreadPoolExecutor(_REACHED_AT_ONCE) as pool:
        answers = list(pool.map(_reached, hosts))
    if failed := [str(answer) for answer in answers if isinstance(answer, NodeError)]:
        raise HostError("; ".join(dict.fromkeys(failed)))
    reached = [answer for answer in answers if isinstance(answer, ReachedHost)]
    return {each.host.name: each for each in reached}


def sizes(hosts: Sequence[NamedHost]) -> dict[str, Host]:
    """How large each host is, by name; raises as ``reach``."""
    return {name: Host(len(own.processors), own.memory_byte) for name, own in reach(hosts).items()}


def _reached(host: NamedHost) -> ReachedHost | NodeError:
    far = Far.of(_options(host))
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
    )


def work_times_s(trial: Trial, nodes: Sequence[Node]) -> dict[str, float]:
    """Host → seconds for the same work, on all hosts of a native trial at once; empty for any other trial.

    Native's nodes are one on each host, and nothing runs in them yet.
    """
    if trial.environment.technology != NATIVE or not trial.hosts:
        return {}
    with ThreadPoolExecutor(_REACHED_AT_ONCE) as pool:
        return dict(zip(trial.hosts, pool.map(work_time_s, nodes), strict=True))


def common_subnet(reached: Iterable[ReachedHost]) -> str | None:
    """The first IPv4 range in which this host and all others have an address, and no two others the same one."""
    hosts = [[each for each in own.interfaces if not each.ip.is_loopback] for own in reached]
    for wanted in (each.network for each in own_interfaces() if not each.ip.is_loopback):
        addresses = [next((each.ip for each in own if each.network == wanted), None) for own in hosts]
        if None not in addresses and len(set(addresses)) == len(addresses):
            return str(wanted)
    return None


def on_host(environment: Environment, host: NamedHost, subnet: str | None = None) -> Environment:
    """The environment as it runs there: under its name, by the technology that reaches hosts."""
    below = [f"{name}={_written(value)}" for name, value in environment.options.items()]
    options = {**_options(host), "below": environment.technology, "below_options": below}
    return replace(
        environment, technology=FAR, options=options if subnet is None else {**options, "subnet": subnet}
    )


def _options(host: NamedHost) -> dict[str, OptionValue]:
    return {
        "host": host.address or HERE,
        "ssh_options": list(host.ssh_options),
        "state": host.state or (_STATE if host.address else str(state_directory() / "here")),
        "python": host.python,
        "become": list(host.become),
    }


def _written(value: OptionValue) -> str:
    return value if isinstance(value, str) else json.dumps(value)
