# SPDX-License-Identifier: Apache-2.0
"""Which of a campaign's environments run here now, with import of the image where needed."""

from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from tare.errors import HostError
from tare.host.privileges import ordinary_user
from tare.image.store import Image
from tare.measure.unforeseen import in_words
from tare.nodes.provider import Probe, Provider
from tare.nodes.unprivileged import NETWORKS
from tare.nodes.unprivileged.limits import quota_obstacle
from tare.nodes.unprivileged.provider import AlsoUnprivileged
from tare.records import NATIVE, Environment, NetworkKind, Skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class Wants:
    """A campaign's requirements that an ordinary user's nodes cannot always meet."""

    quota: bool = False
    several_nodes: bool = False


def skipped_environments(
    environments: Iterable[Environment],
    providers: Mapping[str, Provider],
    image: Image,
    wants: Wants = Wants(),
) -> tuple[Skipped, ...]:
    """Probe and prepare all in parallel; ``HostError`` if native itself cannot run."""
    native = Environment(name=NATIVE, technology=NATIVE)
    wanted = {environment.name: environment for environment in (native, *environments)}
    with ThreadPoolExecutor() as pool:
        futures = {
            name: pool.submit(_ready, providers[environment.technology], image, environment, wants)
            for name, environment in wanted.items()
        }
    skipped = [_skipped(name, future) for name, future in futures.items() if not future.result().usable]
    for skip in skipped:
        if skip.environment == NATIVE:
            raise HostError(
                f"native cannot run here, and all is compared with it: {skip.reason}; {skip.remedy}"
            )
    return tuple(skipped)


def _ready(provider: Provider, image: Image, environment: Environment, wants: Wants) -> Probe:
    try:
        provider = provider.configured(environment.options)
        probe = provider.probe()
        if probe.usable:
            probe = _refused(provider, environment, wants) or probe
        if probe.usable:
            provider.prepare(image.root, image.digest)
    except Exception as error:  # noqa: BLE001 - one broken environment must not end the others
        return Probe(usable=False, reason=in_words(error), remedy="see `tare doctor`")
    return probe


def _refused(provider: Provider, environment: Environment, wants: Wants) -> Probe | None:
    """The refusal of a requirement that works only for root; ``None`` if there is none."""
    if not ordinary_user() or not isinstance(provider, AlsoUnprivileged):
        return None
    if wants.quota and (why := quota_obstacle()):
        return Probe(usable=False, reason=why[0], remedy=why[1])
    kind = environment.network or (NetworkKind.VETH if wants.several_nodes else NetworkKind.NONE)
    if environment.technology == NATIVE or kind in NETWORKS:
        return None
    return Probe(
        usable=False,
        reason=f"its nodes need the network {kind}, which only root can make",
        remedy="run as root, or with layouts of one node and the network none or host",
    )


def _skipped(name: str, future: Future[Probe]) -> Skipped:
    probe = future.result()
    return Skipped(environment=name, reason=probe.reason, remedy=probe.remedy)
