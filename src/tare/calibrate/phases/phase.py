# SPDX-License-Identifier: Apache-2.0
"""The interface of a phase."""

from collections.abc import Callable
from dataclasses import dataclass

from tare.calibrate.bench import PhaseSetting, Run
from tare.calibrate.evidence import Evidence
from tare.records import Gate


def no_runs(_: PhaseSetting) -> tuple[Run, ...]:
    """Runs of a phase that judges another phase's runs: none."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One of P0 to P8."""

    name: str
    title: str
    judge: Callable[[Evidence], tuple[Gate, ...]]
    """Pure function to all gates of the phase, including gates that cannot be judged."""
    runs: Callable[[PhaseSetting], tuple[Run, ...]] = no_runs
    obstacle: Callable[[], str | None] = lambda: None
    """Why it cannot run on this host now; called just before it would."""
