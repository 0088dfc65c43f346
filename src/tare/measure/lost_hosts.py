# SPDX-License-Identifier: Apache-2.0
"""A trial that failed because one of its hosts is gone says nothing of its environment: it counts as not begun."""

from collections.abc import Mapping

from tare.environments.ssh.shared import opened
from tare.errors import HostError, NodeError
from tare.measure.at_once import at_once
from tare.measure.hosts import ReachedHost, far_of
from tare.records import NamedHost, Outcome, Status


def require_hosts(outcome: Outcome, reached: Mapping[str, ReachedHost]) -> None:
    """``HostError`` if the trial failed and a host of it does not answer any more."""
    if outcome.status is not Status.FAILED:
        return
    hosts = [reached[name].host for name in outcome.trial.hosts if name in reached]
    if lost := list(filter(None, at_once(_lost, hosts))):
        raise HostError(
            f"a host was lost, and {outcome.trial.identity} with it, which counts as not begun: "
            f"{'; '.join(dict.fromkeys(lost))}; when it is back, run the same command again to continue"
        )


def _lost(host: NamedHost) -> str | None:
    """Why it does not answer; ``None``: it does."""
    try:
        with opened(far_of(host)) as channel:
            channel.ask("describe")
    except NodeError as error:
        return f"host {host.name}: {error}"
    return None
