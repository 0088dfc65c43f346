# SPDX-License-Identifier: Apache-2.0
"""``[[host]]`` tables to records: the hosts that have a campaign's nodes (docs/hosts.md)."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

from pydantic import Field

from tare.environments.ssh.allocated import node_count
from tare.errors import InputError
from tare.nodes.provider import Provider
from tare.plan.blocks import StrictTable
from tare.plan.entries import FAR, tables, validated
from tare.plan.problems import Problem, shown
from tare.plan.schema import Host, Slug
from tare.plan.toml_lines import Path
from tare.records import Layout, NamedHost

MOST_HOSTS = 256
_ANY = "0.0.0.0/0"
Sizes = Callable[[Sequence[NamedHost]], Mapping[str, Host]]
"""Reaches hosts and asks for their sizes, by name; ``HostError`` when one cannot be reached."""


class _AnyHostTable(StrictTable):
    ssh_options: list[str] = Field(default_factory=list)
    state: str | None = Field(default=None, pattern="^/")
    python: str = Field(default="python3", min_length=1)
    become: list[str] = Field(default_factory=list)
    passes_image_on: bool = True


class HostTable(_AnyHostTable):
    """``[[host]]``; without an address it is the host on which Tare runs."""

    name: Slug | None = None
    address: str | None = Field(default=None, min_length=1, pattern=r"^[^-\s]\S*$")


class HostsTable(_AnyHostTable):
    """``hosts``: the nodes of a scheduler's job, which are not known when the file is written."""

    of: Literal["slurm", "pbs", "lsf", "flux"]
    nodes: int | None = Field(default=None, ge=1, le=MOST_HOSTS)
    """How many a job will have; within one it is as many as it has."""


def hosts_of(
    data: Mapping[str, Any], providers: Mapping[str, Provider], problems: list[Problem]
) -> list[NamedHost]:
    """Read the ``[[host]]`` tables, in the file's order, or ``hosts``; none of both: all nodes are on this host.

    ``HostError`` if the scheduler does not name the nodes of the job.
    """
    if "hosts" in data:
        return _of_allocation(data, problems)
    listed = tables(data, "host", problems) if "host" in data else []
    if len(listed) > MOST_HOSTS:
        problems.append(Problem(("host",), f"are {len(listed)}; at most {MOST_HOSTS} are possible"))
        return []
    hosts: dict[str, NamedHost] = {}
    for position, data_of_host in listed:
        path: Path = ("host", position)
        table = validated(HostTable, data_of_host, path, None, problems)
        if table is None:
            continue
        host = _host(table)
        if host.name in hosts:
            text = f"{shown(host.name)} is also the name of another host; give each a name of its own"
            problems.append(Problem((*path, "name"), text))
        hosts[host.name] = host
    if hosts and (wrong := providers[FAR].check_options({"host": "x", "subnet": data.get("subnet", _ANY)})):
        problems.append(Problem(("subnet",), wrong["subnet"]))
    if "subnet" in data and not hosts:
        problems.append(Problem(("subnet",), "is of hosts; add [[host]] tables"))
    return list(hosts.values())


def _of_allocation(data: Mapping[str, Any], problems: list[Problem]) -> list[NamedHost]:
    """The nodes of the allocation by their numbers: the next session of the result may have others.

    Outside of one, as many as the file says, or as the largest layout needs.
    """
    asked = data["hosts"]
    table = validated(
        HostsTable, {"of": asked} if isinstance(asked, str) else asked, ("hosts",), None, problems
    )
    if "host" in data:
        problems.append(Problem(("host",), "names hosts, and so does hosts; write one of them"))
    if table is None:
        return []
    if table.of == "slurm" and table.ssh_options:
        text = "are for hosts that ssh reaches, and srun reaches the nodes of a Slurm job; leave them out"
        problems.append(Problem(("hosts", "ssh_options"), text))
    count = node_count(table.of) or table.nodes or _most_hosts(data)
    return [_of_job(table, number) for number in range(count)]


def _of_job(table: HostsTable, number: int) -> NamedHost:
    alike = NamedHost(
        name=f"{table.of}-{number + 1}",
        ssh_options=tuple(table.ssh_options),
        state=table.state,
        python=table.python,
        become=tuple(table.become),
        passes_image_on=table.passes_image_on,
    )
    if table.of == "slurm":
        return replace(alike, slurm=number)
    return replace(alike, scheduler=table.of, number=number)


def _most_hosts(data: Mapping[str, Any]) -> int:
    """The hosts of the layout over most; whatever is no layout is reported elsewhere."""
    counts = [1]
    layouts = data.get("layouts")
    for text in layouts if isinstance(layouts, list) else ():
        with suppress(ValueError, TypeError):
            counts.append(Layout.parse(text).hosts)
    return min(MOST_HOSTS, max(counts))


def _host(table: HostTable) -> NamedHost:
    name = table.name or (table.address or "here").rpartition("@")[2]
    return NamedHost(
        name=name,
        address=table.address,
        ssh_options=tuple(table.ssh_options),
        state=table.state,
        python=table.python,
        become=tuple(table.become),
        passes_image_on=table.passes_image_on,
    )


def smallest(host: Host, hosts: Sequence[NamedHost], sizes: Sizes | None) -> Host:
    """The size that every host of the list has at least; this host's own without a list. Raises ``HostError``."""
    if not hosts:
        return host
    if sizes is None:
        raise InputError(
            "this campaign names hosts, which this command does not reach; use tare plan or tare run"
        )
    known = sizes(hosts).values()
    return replace(
        host,
        processors=min(each.processors for each in known),
        memory_byte=min(each.memory_byte for each in known),
        hosts=len(hosts),
    )
