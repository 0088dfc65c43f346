# SPDX-License-Identifier: Apache-2.0
"""Results of a calibration's campaigns, in the form in which the phases judge them."""

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
"""Complete blocks in order, one contrast per run of the campaign."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All outcomes so far, and the figures derived from them."""

    size: Size
    estimator: Estimator
    headline: str
    rounds: Mapping[str, tuple[tuple[Outcome, ...], ...]]
    """Run → its outcomes, round by round."""
    measured: Mapping[str, float] = field(default_factory=dict)
    """Figures of this host from P0: ``fixed_share_wall_s`` is the share of a run's time without any work."""
    obstacles: Mapping[str, str] = field(default_factory=dict)
    """Phase → why it cannot be run here."""
    _made: dict[str, tuple[tuple[Summary, ...], ...]] = field(default_factory=dict, init=False)
    """Summaries of each requested run, round by round: cached, as many gates need them."""

    def outcomes(self, run: str) -> tuple[Outcome, ...]:
        """The outcomes of all rounds of a run."""
        return tuple(outcome for outcomes in self.rounds.get(run, ()) for outcome in outcomes)

    def series(self, run: str, environment: str, metric: str) -> Series:
        """The series of an environment; ``CONTROL_NAME`` for native against native."""
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
        """The true overhead when more work is planted: the rest of a run does not grow with it."""
        return planted * (1 - self.measured.get(f"fixed_share_{metric}", 0.0))


def found(outcomes: Sequence[Outcome]) -> tuple[Summary, ...]:
    """Tare's summaries of the outcomes, including native against native."""
    made = summaries(outcomes, {WORK: ("wall_s",)})
    return (*made, *(control.summary for control in controls(made)))


def experiments(series: Series, blocks: int = EXPERIMENT_BLOCKS) -> list[Contrast]:
    """Disjoint experiments of ``blocks`` consecutive blocks; the rest at the end of a round is left out."""
    return [
        part(contrast, slice(begin, begin + blocks))
        for contrast in series
        for begin in range(0, len(contrast.log_ratios) - blocks + 1, blocks)
    ]


def pooled(series: Series) -> tuple[float, ...]:
    """The log-ratios of all rounds together."""
    return tuple(value for contrast in series for value in contrast.log_ratios)


__all__ = ["CONTROL_NAME", "Evidence", "Series", "experiments", "found", "pooled"]
