# SPDX-License-Identifier: Apache-2.0
"""The campaign file of jobs: its hosts are the job's, and its faults are said before anything waits."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tare.errors import InputError
from tare.host.facts import memory_byte, online_processors
from tare.plan.campaign import Campaign, campaign_of
from tare.plan.schema import Host
from tare.plan.source import CampaignSource, is_preset, preset_path, preset_source, read_source
from tare.records import NamedHost
from tare.submission.psij import HOSTS_OF
from tare.submission.slurm import node_size
from tare.units import GIBIBYTE

_ON = re.compile(r"\bon\s+(\d+)")
_HOSTS = "hosts"
_SLURM = "slurm"
_NODES = "nodes"
_ANY_SIZE = (4096, 65536 * GIBIBYTE)
"""Larger than any node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmittedSource:
    """A campaign file, and the text that the jobs read."""

    source: CampaignSource
    text: str
    on: str
    """The scheduler's name."""

    @property
    def hosts(self) -> str | None:
        """Whose job has its hosts; ``None``: they are no list."""
        return _hosts_of(self.on)


def _hosts_of(on: str) -> str | None:
    return _SLURM if on == _SLURM else HOSTS_OF[on]


def submitted_source(campaign: str, on: str = _SLURM) -> SubmittedSource:
    """A preset or a file; without a word on its hosts they are the job's. ``CampaignError``, ``InputError``."""
    path = preset_path(campaign) if is_preset(campaign) else Path(campaign)
    source = preset_source(campaign) if is_preset(campaign) else read_source(path, campaign)
    if "host" in source.data:
        raise InputError(
            f"{source.label}: names its hosts, which ssh reaches and no scheduler gives; leave out --on, or the "
            "[[host]] tables"
        )
    text, hosts = path.read_text(encoding="utf-8"), _hosts_of(on)
    if _HOSTS in source.data and (named := _named(source.data[_HOSTS])) != hosts:
        raise InputError(f"{source.label}: hosts names a job of {named}, and --on says {on}; change one")
    says = hosts is None or _HOSTS in source.data
    return SubmittedSource(source=source, text=text if says else f'{_HOSTS} = "{hosts}"\n{text}', on=on)


def _named(hosts: object) -> object:
    return hosts.get("of") if isinstance(hosts, Mapping) else hosts


def nodes_of_each_job(submitted: SubmittedSource) -> int:
    """As many as the file says, or as its layouts need; ``InputError`` where these fit any number."""
    hosts = submitted.source.data.get(_HOSTS)
    asked = hosts.get(_NODES) if isinstance(hosts, Mapping) else None
    if isinstance(asked, int):
        return asked
    if any("{" in text for text in _layouts(submitted)):
        raise InputError(
            f"{submitted.source.label}: its layouts depend on how many hosts there are; say with --nodes how many "
            "nodes each job is to have"
        )
    return _most_hosts(submitted)


def _most_hosts(submitted: SubmittedSource) -> int:
    """The largest number of hosts that a layout names."""
    return max((int(count) for text in _layouts(submitted) for count in _ON.findall(text)), default=1)


def _layouts(submitted: SubmittedSource) -> list[str]:
    layouts = submitted.source.data.get("layouts")
    return [text for text in layouts if isinstance(text, str)] if isinstance(layouts, list) else []


def checked(submitted: SubmittedSource, nodes: int, partition: str | None) -> Campaign:
    """The campaign as it fits ``nodes`` of the smallest size in the partition; ``CampaignError``, ``HostError``.

    Other schedulers than Slurm are not asked for sizes: their jobs themselves find what does not fit.
    """
    fits = submitted.source.data.get("fit") is True
    if nodes < (needed := _most_hosts(submitted)) and not fits:
        raise InputError(
            f"--nodes {nodes}: a layout of {submitted.source.label} is on {needed} hosts; leave it out"
        )
    processors, memory = _size(submitted, nodes, partition)

    def sizes(listed: Sequence[NamedHost]) -> Mapping[str, Host]:
        return {host.name: Host(processors, memory) for host in listed}

    return campaign_of(
        replace(submitted.source, data={**submitted.source.data, **_hosts_in_jobs(submitted, nodes)}),
        host_processors=processors,
        host_memory_byte=memory,
        sizes=sizes,
    )


def _hosts_in_jobs(submitted: SubmittedSource, nodes: int) -> dict[str, object]:
    """What the file says of its hosts as soon as it is in a job."""
    hosts = submitted.source.data.get(_HOSTS, submitted.hosts)
    if hosts is None:
        return {}
    table = {"of": hosts} if isinstance(hosts, str) else hosts
    return {_HOSTS: {**table, _NODES: nodes} if isinstance(table, Mapping) else table}


def _size(submitted: SubmittedSource, nodes: int, partition: str | None) -> tuple[int, int]:
    """Processors and memory in bytes of each node."""
    if submitted.on == _SLURM:
        return node_size(partition, nodes)
    if submitted.hosts is None:
        return len(online_processors()), memory_byte()
    if any(re.search(r"{[^}]*processors", text) for text in _layouts(submitted)):
        raise InputError(
            f"{submitted.source.label}: its layouts depend on the processors of a node, which PSI/J does not tell; "
            "write numbers"
        )
    return _ANY_SIZE
