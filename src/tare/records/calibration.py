# SPDX-License-Identifier: Apache-2.0
"""What `tare calibrate` found on a host: docs/calibration.md."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Passing(StrEnum):
    """The outcome of a gate."""

    PASSED = "passed"
    FAILED = "failed"
    NOTED = "noted"
    """Recorded without a requirement."""
    NOT_RUN = "not run"
    """This host or the available data does not allow it; the gate says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One claim about Tare, and the observation."""

    phase: str
    """``P0`` to ``P8``."""
    name: str
    """Unique in its phase."""
    claim: str
    """The requirement, in words."""
    passing: Passing
    seen: str
    """The figures, with their units and counts, or why there are none."""
    count: int | None = None
    """How often something happened; ``None``: the gate is not about a count."""
    of: int | None = None
    """Out of how many."""
    allowed: int | None = None
    """The largest ``count`` that passes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """All gates of one calibration, with its host and versions."""

    started_utc: str
    ended_utc: str
    tare_version: str
    image_digest: str
    host_identity: str
    """A digest that identifies the host without revealing anything about it."""
    host: Mapping[str, str]
    """The host's facts as they were, as in ``Session``."""
    size: str
    """``full``, or ``quick`` with fewer blocks and a coarser sieve."""
    estimator: str
    """The shipped one, or the name of a broken one that must fail."""
    gates: tuple[Gate, ...]
    repeated: tuple[str, ...] = ()
    """Phases that ran twice because a gate failed at first; their gates cover both runs."""
    complete: bool = True
    """Whether all phases were judged; false after an interruption."""
    folder: str = ""
    """Name of the folder that holds the journals."""
    measured: Mapping[str, float] = field(default_factory=dict)
    """Figures of the host that the phases rely on, such as ``noise_wall``; units in their names."""

    @property
    def passed(self) -> bool:
        """Whether everything was judged and nothing failed."""
        return self.complete and not any(gate.passing is Passing.FAILED for gate in self.gates)

    def gate(self, phase: str, name: str) -> Gate | None:
        """The gate with this name, if present."""
        return next((gate for gate in self.gates if (gate.phase, gate.name) == (phase, name)), None)
