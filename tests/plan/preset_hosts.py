# SPDX-License-Identifier: Apache-2.0
"""Presets as a command resolves them."""

from tare.plan.campaign import Campaign, resolve
from tare.plan.schema import Host


def resolved_preset(name: str, *, processors: int, memory_byte: int, hosts: int = 1) -> Campaign:
    """On a host of this size, or over several."""
    return resolve(
        name,
        host_processors=processors,
        host_memory_byte=memory_byte,
        sizes=lambda listed: {host.name: Host(processors, memory_byte) for host in listed},
        asked_hosts=",".join(f"h{number}" for number in range(hosts)) if hosts > 1 else None,
    )
