# SPDX-License-Identifier: Apache-2.0
"""What the whole campaign can get wrong about its sharing experiments."""

from collections import Counter
from collections.abc import Iterator

from tare.plan.definition import Campaign
from tare.plan.problems import Problem
from tare.plan.schema import LEAST_MEMORY_BYTE
from tare.plan.sharing import Sharing
from tare.plan.trials import plan_block
from tare.units import format_byte


def sharing_problems(campaign: Campaign) -> Iterator[Problem]:
    """Find instances that would get too little or unequal parts, and trials that could not be told apart."""
    for position, sharing in enumerate(campaign.sharings):
        path = ("sharing", position)
        share_byte = sharing.instance_memory_byte(campaign.limits.memory_byte) // sharing.alone.nodes
        if share_byte < LEAST_MEMORY_BYTE:
            text = (
                f"leaves each node {format_byte(share_byte)} of the memory of "
                f"{format_byte(campaign.limits.memory_byte)}; raise limits.memory"
            )
            yield Problem(path, text)
        if campaign.limits.cpu_quota is not None and (uneven := _uneven_nodes(sharing)):
            text = (
                f"limits.cpu_quota is of a node, so an instance would get less of it in {uneven} than in "
                f"{sharing.alone}; leave it out or give the instances nodes of their own"
            )
            yield Problem(path, text)
    if name := _repeated_name(campaign):
        yield Problem(("sharing",), f"two trials would be called {name}; rename an environment or a workload")


def _uneven_nodes(sharing: Sharing) -> str | None:
    """The first layout with several instances in one node."""
    return next((str(layout) for layout in sharing.together if layout.instances > layout.nodes), None)


def _repeated_name(campaign: Campaign) -> str | None:
    """Names may contain what separates them: a neighbour's ``a`` and ``b-c`` read like ``a-b`` and ``c``."""
    counts = Counter(trial.identity for trial in plan_block(campaign, 0, 0) if trial.neighbour)
    return next((name for name, count in counts.items() if count > 1), None)
