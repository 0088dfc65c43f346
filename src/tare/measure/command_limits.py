# SPDX-License-Identifier: Apache-2.0
"""The limits of getrlimit(2) that a measured command gets right before it runs, the same in all arms."""

from collections.abc import Mapping

from tare.nodes.unprivileged.limits import process_limit
from tare.records import Bounds


def command_limits(bounds: Bounds) -> Mapping[str, int]:
    """Name, in lower case → maximum for a process."""
    return {**bounds.resource_limits, **process_limit(bounds)}
