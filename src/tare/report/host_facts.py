# SPDX-License-Identifier: Apache-2.0
"""What the hosts of a campaign's list have, as a table."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tare.records import Analysis

_FACTS = ("usable processors", "memory", "processor", "kernel", "distribution", "addresses")
"""What the page shows of every host; more only where the hosts differ in it."""
_OF_THE_MOMENT = frozenset({"load average", "uptime", "swap"})


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """The facts of all hosts of the list in a table: a row for each host."""

    labels: tuple[str, ...]
    rows: Mapping[str, tuple[str | None, ...]]


def host_facts(analysis: Analysis) -> HostFacts:
    """As the last session found them: the usual facts, and those in which the hosts differ."""
    hosts = analysis.sessions[-1].hosts if analysis.sessions else {}
    labels = tuple(_told_labels(hosts))
    return HostFacts(
        labels=labels,
        rows={host: tuple(facts.get(label) for label in labels) for host, facts in hosts.items()},
    )


def _told_labels(hosts: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    known = dict.fromkeys(label for facts in hosts.values() for label in facts)
    yield from (label for label in _FACTS if label in known)
    for label in known:
        differ = len({facts.get(label) for facts in hosts.values()}) > 1
        if differ and label not in {*_FACTS, *_OF_THE_MOMENT}:
            yield label
