# SPDX-License-Identifier: Apache-2.0
"""What every phase owes."""

from collections.abc import Callable
from dataclasses import dataclass

from tare.calibrate.bench import PhaseSetting, Run
from tare.calibrate.evidence import Evidence
from tare.records import Gate


def no_runs(_: PhaseSetting) -> tuple[Run, ...]:
    """A phase that judges what another one ran."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One of P0 to P8."""

    name: str
    title: str
    judge: Callable[[Evidence], tuple[Gate, ...]]
    """Purely: every gate of the phase, those too that cannot be judged."""
    runs: Callable[[PhaseSetting], tuple[Run, ...]] = no_runs
    obstacle: Callable[[], str | None] = lambda: None
    """Why it cannot be run on this host now; asked just before it would be."""
