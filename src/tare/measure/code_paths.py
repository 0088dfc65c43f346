# SPDX-License-Identifier: Apache-2.0
"""Common features of all environments' processors: no workload may take a code path that one of them lacks."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress

from tare.errors import NodeError
from tare.host.facts import cpu_flags
from tare.journal.reader import Journal
from tare.nodes.provider import Provider
from tare.records import Environment, Skipped
from tare.workloads import blas
from tare.workloads.npb import simd

FLAGS = blas.KERNELS.flags | simd.VARIANTS.flags


def lacking_flags(
    environments: Iterable[Environment], providers: Mapping[str, Provider]
) -> dict[str, tuple[str, ...]]:
    """Environment → the CPU flags of the host that its nodes lack and a code path needs; omitted if there are none.

    An environment that cannot be asked is omitted too: if it lacks any, its trials fail and say so.
    """
    wanted, lacking_by_environment = FLAGS & cpu_flags(), {}
    for environment in environments:
        provider = providers[environment.technology].configured(environment.options)
        with suppress(NodeError, OSError):
            if lacking := provider.lacking_flags(wanted):
                lacking_by_environment[environment.name] = tuple(sorted(lacking))
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
