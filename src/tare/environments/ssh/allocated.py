# SPDX-License-Identifier: Apache-2.0
"""The job in which Tare runs, as far as a plan needs it: how many nodes it has."""

from tare.host import job_nodes, slurm


def node_count(scheduler: str) -> int | None:
    """How many nodes this scheduler's job has; ``None``: Tare runs in none. ``HostError`` if it does not say."""
    if scheduler == "slurm":
        return len(slurm.allocation().nodes) if slurm.is_allocated() else None
    return len(job_nodes.nodes(scheduler)) if job_nodes.is_job(scheduler) else None
