# SPDX-License-Identifier: Apache-2.0
"""Before the first trial: every environment probed in every form, and the image where it runs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tare.environments.ssh.spreading import ImageSpread, spreading
from tare.image.store import Image
from tare.measure.hosts import far_of, on_host, subnet_of
from tare.measure.usable import Wants, skipped_environments
from tare.nodes.provider import Provider
from tare.plan.campaign import Campaign
from tare.records import NATIVE, Carried, Environment, NamedHost, Skipped
from tare.units import format_duration


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """What a session found and did."""

    skipped: tuple[Skipped, ...]
    """The environments that do not run here now; the others have the image."""
    carried: Mapping[str, Carried]
    """Host that lacked the image → how it came there."""


def made_ready(
    campaign: Campaign, providers: Mapping[str, Provider], image: Image, say: Callable[[str], None]
) -> Ready:
    """Probe and prepare all, and say how the image came to the hosts. Raises ``HostError``."""
    wants = Wants(
        quota=campaign.has_quota,
        several_nodes=any(layout.nodes > 1 for layout in campaign.layouts),
    )
    with carrying(campaign.hosts, campaign.subnet, image.digest) as spread:
        skipped = skipped_environments(_forms(campaign), providers, image, wants)
    for words in carried_said(spread):
        say(words)
    return Ready(skipped=skipped, carried=spread.carried)


def _forms(campaign: Campaign) -> list[Environment]:
    """The environments in every form in which they run, with native on each host of the campaign's list."""
    own = list(campaign.environments_at_levels)
    native = Environment(name=NATIVE, technology=NATIVE)
    return [on_host(each, host) for host in campaign.hosts for each in (native, *own)] or own


@contextmanager
def carrying(hosts: Sequence[NamedHost], subnet: str | None, digest: str) -> Iterator[ImageSpread]:
    """Have the hosts pass the image on to each other within this context, in the subnet or the one they have in common.

    ``HostError`` when one cannot be reached.
    """
    spread = ImageSpread(
        digest,
        subnet_of(hosts, subnet),
        {far_of(host).way: host.name for host in hosts},
        [host.name for host in hosts if not host.passes_image_on],
    )
    with spreading(spread):
        yield spread


def carried_said(spread: ImageSpread) -> Iterator[str]:
    """How many hosts got it from whom and how long it took, and what failed; nothing where all had it."""
    ways = spread.carried.values()
    passed = [way for way in ways if way.source is not None]
    parts = [f"from here to {_counted(len(ways) - len(passed), 'host')}"] if len(passed) < len(ways) else []
    if passed:
        most = max(way.transfers for way in passed)
        parts.append(
            f"from host to host to {_counted(len(passed), 'host')}, {_counted(most, 'transfer')} in a row,"
        )
    if parts:
        last = format_duration(max(way.wall_s for way in ways))
        yield f"the image went {' and '.join(parts)} in {last}"
    yield from spread.remarks


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
