# SPDX-License-Identifier: Apache-2.0
"""The campaign file of jobs: its hosts are those of the allocation, and its faults are said before anything waits."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tare.errors import InputError
from tare.plan.campaign import Campaign, campaign_of, preset_names
from tare.plan.schema import Host
from tare.plan.source import CampaignSource, preset_path, read_source
from tare.records import NamedHost
from tare.submission.slurm import node_size

_ON = re.compile(r"\bon\s+(\d+)")
_HOSTS = "hosts"
_SLURM = "slurm"
_NODES = "nodes"


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmittedSource:
    """A campaign file, and the text that the jobs read."""

    source: CampaignSource
    text: str


def submitted_source(campaign: str) -> SubmittedSource:
    """A preset or a file; without a word on its hosts they are the allocation's. ``CampaignError``, ``InputError``."""
    path = preset_path(campaign) if campaign in preset_names() else Path(campaign)
    source = read_source(path, campaign)
    if "host" in source.data:
        raise InputError(
            f"{source.label}: names its hosts, which ssh reaches and no scheduler gives; leave out --on, or the "
            "[[host]] tables"
        )
    text = path.read_text(encoding="utf-8")
    return SubmittedSource(
        source=source, text=text if _HOSTS in source.data else f'{_HOSTS} = "{_SLURM}"\n{text}'
    )


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
    """The campaign as it fits ``nodes`` of the smallest size in the partition; ``CampaignError``, ``HostError``."""
    if nodes < (needed := _most_hosts(submitted)):
        raise InputError(
            f"--nodes {nodes}: a layout of {submitted.source.label} is on {needed} hosts; leave it out"
        )
    processors, memory_byte = node_size(partition, nodes)

    def sizes(listed: Sequence[NamedHost]) -> Mapping[str, Host]:
        return {host.name: Host(processors, memory_byte) for host in listed}

    hosts = submitted.source.data.get(_HOSTS, _SLURM)
    table = {"of": hosts} if isinstance(hosts, str) else hosts
    in_jobs = {**table, _NODES: nodes} if isinstance(table, Mapping) else table
    return campaign_of(
        replace(submitted.source, data={**submitted.source.data, _HOSTS: in_jobs}),
        host_processors=processors,
        host_memory_byte=memory_byte,
        sizes=sizes,
    )
