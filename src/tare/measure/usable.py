# SPDX-License-Identifier: Apache-2.0
"""Which of a campaign's environments run here today, and making the image known to those that must import it."""

from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

from tare.environments.provider import Probe, Provider
from tare.errors import HostError, NodeError
from tare.image.store import Image
from tare.records import NATIVE, Environment, Skipped


def skipped_environments(
    environments: Iterable[Environment], providers: Mapping[str, Provider], image: Image
) -> tuple[Skipped, ...]:
    """Probe and prepare all side by side; ``HostError`` if native itself cannot run."""
    native = Environment(name=NATIVE, technology=NATIVE)
    wanted = {environment.name: environment for environment in (native, *environments)}
    with ThreadPoolExecutor() as pool:
        found = {name: pool.submit(_ready, providers[one.technology], image) for name, one in wanted.items()}
    skipped = [_skipped(name, future) for name, future in found.items() if not future.result().usable]
    for one in skipped:
        if one.environment == NATIVE:
            raise HostError(
                f"native cannot run here, and all is compared with it: {one.reason}; {one.remedy}"
            )
    return tuple(skipped)


def _ready(provider: Provider, image: Image) -> Probe:
    try:
        found = provider.probe()
        if found.usable:
            provider.prepare(image.root, image.digest)
    except (NodeError, OSError) as error:
        return Probe(usable=False, reason=str(error), remedy="see `tare doctor`")
    return found


def _skipped(name: str, future: Future[Probe]) -> Skipped:
    found = future.result()
    return Skipped(environment=name, reason=found.reason, remedy=found.remedy)
