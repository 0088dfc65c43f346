# SPDX-License-Identifier: Apache-2.0
"""Under what a trial's commands ran, in two kinds: a technology's own confinement, and what must be equal."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Parity:
    """Label → value, as read in the trial; what could not be read is left out."""

    own: Mapping[str, str] = field(default_factory=dict)
    """What the technology gives its payload: filters, capabilities, namespaces. Part of what is weighed."""
    host: Mapping[str, str] = field(default_factory=dict)
    """What the host or Tare gives: priorities, resource limits, the place among the control groups. A difference
    from the runner's own makes the trial void."""
