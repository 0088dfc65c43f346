# SPDX-License-Identifier: Apache-2.0
"""What the campaigns of a calibration left, as the phases judge it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tare.analyze import controls
from tare.analyze.contrasts import contrast_of
from tare.calibrate.bench import WORK
from tare.calibrate.judged import Estimator
from tare.calibrate.sizes import EXPERIMENT_BLOCKS, Size
from tare.records import CONTROL_NAME, Outcome, Summary
from tare.statistics.contrasts import Contrast, part
from tare.treat import summaries

Series = tuple[Contrast, ...]
"""Complete blocks in order, one contrast for each time that the campaign was run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All outcomes so far, and what was learned from them."""

    size: Size
    estimator: Estimator
    headline: str
    rounds: Mapping[str, tuple[tuple[Outcome, ...], ...]]
    """Run → its outcomes, for each time that it was run."""
    measured: Mapping[str, float] = field(default_factory=dict)
    """Figures of this host, by P0: ``fixed_share_wall_s`` is what a run takes without any work, as a share."""
    obstacles: Mapping[str, str] = field(default_factory=dict)
    """Phase → why it cannot be run here."""
    _made: dict[str, tuple[tuple[Summary, ...], ...]] = field(default_factory=dict, init=False)
    """Summaries of each run that was asked for, round by round: made once, as many gates ask."""

    def outcomes(self, run: str) -> tuple[Outcome, ...]:
        """Of all rounds."""
        return tuple(outcome for outcomes in self.rounds.get(run, ()) for outcome in outcomes)

    def series(self, run: str, environment: str, metric: str) -> Series:
        """Of an environment; ``CONTROL_NAME`` for native against native."""
        return tuple(
            contrast_of(summary)
            for made in self._summaries(run)
            for summary in made
            if (summary.environment, summary.metric) == (environment, metric)
        )

    def _summaries(self, run: str) -> tuple[tuple[Summary, ...], ...]:
        if run not in self._made:
            self._made[run] = tuple(found(outcomes) for outcomes in self.rounds.get(run, ()))
        return self._made[run]

    def metrics(self, run: str) -> tuple[str, ...]:
        """The headline, and CPU time where it is counted."""
        names = {sample.name for outcome in self.outcomes(run) for sample in outcome.samples}
        return tuple(name for name in dict.fromkeys((self.headline, "cpu_s")) if name in names)

    def truth(self, planted: float, metric: str) -> float:
        """The overhead to be found when so much more work was planted: what is no work does not grow with it."""
        return planted * (1 - self.measured.get(f"fixed_share_{metric}", 0.0))


def found(outcomes: Sequence[Outcome]) -> tuple[Summary, ...]:
    """The summaries that Tare makes of the outcomes, native against native among them."""
    made = summaries(outcomes, {WORK: ("wall_s",)})
    return (*made, *(control.summary for control in controls(made)))


def experiments(series: Series, blocks: int = EXPERIMENT_BLOCKS) -> list[Contrast]:
    """Disjoint experiments of so many consecutive blocks; what is left over at a round's end is left out."""
    return [
        part(contrast, slice(begin, begin + blocks))
        for contrast in series
        for begin in range(0, len(contrast.log_ratios) - blocks + 1, blocks)
    ]


def pooled(series: Series) -> tuple[float, ...]:
    """The log-ratios of all rounds together."""
    return tuple(value for contrast in series for value in contrast.log_ratios)


__all__ = ["CONTROL_NAME", "Evidence", "Series", "experiments", "found", "pooled"]
