# SPDX-License-Identifier: Apache-2.0
"""Which of a campaign's environments run here now, after import of the image, and what their processors lack."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from tare.errors import HostError, NodeError
from tare.host.facts import cpu_flags
from tare.host.privileges import ordinary_user
from tare.image.store import Image
from tare.journal.reader import Journal
from tare.measure.unforeseen import in_words
from tare.nodes.provider import Probe, Provider
from tare.nodes.unprivileged import NETWORKS, AlsoUnprivileged
from tare.nodes.unprivileged.limits import quota_obstacle
from tare.plan.entries import FAR
from tare.records import NATIVE, Environment, NetworkKind, Skipped
from tare.workloads import hpcc, npb

FLAGS = hpcc.KERNELS.flags | npb.VARIANTS.flags


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
    """Probe and prepare all in parallel; ``HostError`` if native itself cannot run.

    An environment may come in several forms: it is skipped if one of them cannot run. Native need not be listed unless
    it runs on other hosts.
    """
    listed = list(environments)
    if not any(environment.name == NATIVE for environment in listed):
        listed.insert(0, Environment(name=NATIVE, technology=NATIVE))
    on_hosts = all(providers[environment.technology].starts_at_once for environment in listed)
    with ThreadPoolExecutor(len(listed) if on_hosts else None) as pool:
        futures = [
            (
                environment.name,
                pool.submit(_ready, providers[environment.technology], image, environment, wants),
            )
            for environment in listed
        ]
    unusable = {name: future for name, future in reversed(futures) if not future.result().usable}
    names = dict.fromkeys(name for name, _ in futures)
    skipped = [_skipped(name, unusable[name]) for name in names if name in unusable]
    for skip in skipped:
        if skip.environment == NATIVE:
            raise HostError(
                f"native cannot run here, and all is compared with it: {skip.reason}; {skip.remedy}"
            )
    return tuple(skipped)


def missing_now(
    environments: Iterable[Environment], providers: Mapping[str, Provider]
) -> tuple[Skipped, ...]:
    """Those whose probe says that they do not run here now; nothing is prepared."""
    listed = list(environments)
    with ThreadPoolExecutor(max(1, len(listed))) as pool:
        probes = list(pool.map(lambda each: _probed(providers[each.technology], each), listed))
    return tuple(
        Skipped(environment=each.name, reason=probe.reason, remedy=probe.remedy)
        for each, probe in zip(listed, probes, strict=True)
        if not probe.usable
    )


def _probed(provider: Provider, environment: Environment) -> Probe:
    try:
        return provider.configured(environment.options).probe()
    except Exception as error:  # noqa: BLE001 - one broken environment must not end the others
        return Probe(usable=False, reason=in_words(error), remedy="see `tare doctor`")


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
    elsewhere = environment.technology == FAR
    if not ordinary_user() or not (elsewhere or isinstance(provider, AlsoUnprivileged)):
        return None
    if wants.quota and (why := quota_obstacle()):
        return Probe(usable=False, reason=why[0], remedy=why[1])
    kind = environment.network or (NetworkKind.VETH if wants.several_nodes else NetworkKind.NONE)
    if elsewhere or environment.technology == NATIVE or kind in NETWORKS:
        return None
    return Probe(
        usable=False,
        reason=f"its nodes need the network {kind}, which only root can make",
        remedy="run as root, or with layouts of one node and the network none or host",
    )


def _skipped(name: str, future: Future[Probe]) -> Skipped:
    probe = future.result()
    return Skipped(environment=name, reason=probe.reason, remedy=probe.remedy)


def lacking_flags(
    environments: Iterable[Environment], providers: Mapping[str, Provider]
) -> dict[str, tuple[str, ...]]:
    """Environment → the CPU flags of the host that its nodes lack and a code path needs; omitted if there are none.

    An environment that cannot be asked is omitted too: if it lacks any, its trials fail and say so.
    """
    wanted = FLAGS & cpu_flags()
    lacking_by_environment: dict[str, tuple[str, ...]] = {}
    for environment in environments:
        provider = providers[environment.technology].configured(environment.options)
        with suppress(NodeError, OSError):
            if lacking := provider.lacking_flags(wanted):
                known = lacking_by_environment.get(environment.name, ())
                lacking_by_environment[environment.name] = tuple(sorted({*known, *lacking}))
    return lacking_by_environment


def cannot_join(
    environments: Iterable[Environment],
    providers: Mapping[str, Provider],
    journal: Journal,
    absent: AbstractSet[str],
) -> tuple[Skipped, ...]:
    """Environments that were missing when the code paths were chosen, and cannot run them."""
    if not journal.outcomes:
        return ()
    avoided = {
        flag
        for session in journal.sessions[-1:]
        for flags in session.lacking_flags.values()
        for flag in flags
    }
    missed = {skipped.environment for session in journal.sessions for skipped in session.skipped}
    late = [environment for environment in environments if environment.name in missed - absent]
    lacking = lacking_flags(late, providers)
    return tuple(
        Skipped(
            environment=name,
            reason=f"its processors lack {', '.join(flags)}, and it was missing when the code paths were chosen",
            remedy="begin a new result",
        )
        for name, flags in lacking.items()
        if not avoided.issuperset(flags)
    )
