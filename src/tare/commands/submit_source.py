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


def most_hosts(submitted: SubmittedSource) -> int:
    """The largest number of hosts among its layouts."""
    layouts = submitted.source.data.get("layouts")
    texts = [text for text in layouts if isinstance(text, str)] if isinstance(layouts, list) else []
    return max((int(count) for text in texts for count in _ON.findall(text)), default=1)


def checked(submitted: SubmittedSource, nodes: int, partition: str | None) -> Campaign:
    """The campaign as it fits ``nodes`` of the smallest size in the partition; ``CampaignError``, ``HostError``."""
    if nodes < (needed := most_hosts(submitted)):
        raise InputError(
            f"--nodes {nodes}: a layout of {submitted.source.label} is on {needed} hosts; leave it out"
        )
    processors, memory_byte = node_size(partition, nodes)

    def sizes(listed: Sequence[NamedHost]) -> Mapping[str, Host]:
        return {host.name: Host(processors, memory_byte) for host in listed}

    return campaign_of(
        replace(submitted.source, data={_HOSTS: _SLURM, **submitted.source.data}),
        host_processors=processors,
        host_memory_byte=memory_byte,
        sizes=sizes,
    )
