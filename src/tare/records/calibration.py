# SPDX-License-Identifier: Apache-2.0
"""What `tare calibrate` found on a host: docs/calibration.md."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Passing(StrEnum):
    """What became of a gate."""

    PASSED = "passed"
    FAILED = "failed"
    NOTED = "noted"
    """Recorded; nothing was asked of it."""
    NOT_RUN = "not run"
    """This host, or what there is to judge, does not allow it; the gate says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One claim about Tare, and what was seen of it."""

    phase: str
    """``P0`` to ``P8``."""
    name: str
    """Unique in its phase."""
    claim: str
    """What has to hold, in words."""
    passing: Passing
    seen: str
    """The figures, with their units and counts, or why there are none."""
    count: int | None = None
    """How often something happened; ``None``: the gate is not about a count."""
    of: int | None = None
    """Of how many."""
    allowed: int | None = None
    """The largest ``count`` with which it is passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """All gates of one calibration, with the host and the versions that it is about."""

    started_utc: str
    ended_utc: str
    tare_version: str
    image_digest: str
    host_identity: str
    """A digest of what makes it this host; nothing can be read from it."""
    host: Mapping[str, str]
    """The host's facts as they were, as in ``Session``."""
    size: str
    """``full``, or ``quick`` with fewer blocks and a coarser sieve."""
    estimator: str
    """The shipped one, or the name of a broken one that must fail."""
    gates: tuple[Gate, ...]
    repeated: tuple[str, ...] = ()
    """Phases that were run twice, because a gate failed at first; their gates are about both runs together."""
    complete: bool = True
    """Whether all phases were judged; not so when it was interrupted."""
    folder: str = ""
    """Name of the folder that holds the journals."""
    measured: Mapping[str, float] = field(default_factory=dict)
    """Figures of the host that the phases rely on, such as ``noise_wall``; units in their names."""

    @property
    def passed(self) -> bool:
        """Whether all was judged and nothing failed."""
        return self.complete and not any(gate.passing is Passing.FAILED for gate in self.gates)

    def gate(self, phase: str, name: str) -> Gate | None:
        """The gate of this name, if it is there."""
        return next((gate for gate in self.gates if (gate.phase, gate.name) == (phase, name)), None)
