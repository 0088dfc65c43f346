# SPDX-License-Identifier: Apache-2.0
"""P0: the variation of this host's runs, the time of a run without any work, and the agreement of clocks."""

import itertools
import math
import statistics
from collections.abc import Mapping, Sequence

from tare.calibrate.bench import WORK, PhaseSetting, Run, campaign
from tare.calibrate.evidence import Evidence
from tare.calibrate.gates import Named
from tare.calibrate.phases.phase import Phase
from tare.environments.planted import MORE_WORK
from tare.records import NATIVE, Environment, Gate, Outcome, Status
from tare.statistics.contrasts import joined

RUN = "noise"
EMPTY = "empty"
_CLOCKS = Named("P0", "clocks", "the node's clock and the host's agree in every run, and none is inverted")
_NOISE = Named("P0", "noise", "how much runs of native vary, and how much each is like the one before")


def runs(setting: PhaseSetting) -> tuple[Run, ...]:
    """Native twice in each block and, where work takes time, a run with empty work."""
    empty = Environment(name=EMPTY, technology=NATIVE, options={MORE_WORK: -1.0})
    environments = (empty,) if setting.bench.real else ()
    workload = setting.bench.work(setting.iterations)
    return (Run(name=RUN, campaign=campaign(RUN, workload, setting.size.noise_blocks, environments)),)


def judge(evidence: Evidence) -> tuple[Gate, ...]:
    """Whether all clocks agreed; the noise is noted."""
    outcomes = evidence.outcomes(RUN)
    if not outcomes:
        return (_CLOCKS.not_run("no run was made"),)
    wrong = sum(outcome.status is Status.INVALID or bool(outcome.timer_inversions) for outcome in outcomes)
    figures = [_noise(outcomes, metric) for metric in evidence.metrics(RUN)]
    share = evidence.measured.get(f"fixed_share_{evidence.headline}")
    if share is not None:
        figures.append(f"{share * 100:.2f} % of a run are no work")
    return (_CLOCKS.counted(wrong, len(outcomes), 0, " runs"), _NOISE.noted("; ".join(figures)))


def measured(evidence: Evidence) -> Mapping[str, float]:
    """Figures on which later phases rely."""
    figures: dict[str, float] = {}
    for metric in evidence.metrics(RUN):
        empty = joined(evidence.series(RUN, EMPTY, metric))
        if empty.log_ratios:
            figures[f"fixed_share_{metric}"] = math.exp(empty.point())
        figures[f"noise_{metric}"] = statistics.stdev(_logarithms(evidence.outcomes(RUN), metric))
    return figures


def _noise(outcomes: Sequence[Outcome], metric: str) -> str:
    values = _logarithms(outcomes, metric)
    variation = math.expm1(statistics.stdev(values))
    return (
        f"{metric}: coefficient of variation {variation * 100:.2g} %, "
        f"lag-1 autocorrelation {lag_one(values):+.2f} (n = {len(values)})"
    )


def _logarithms(outcomes: Sequence[Outcome], metric: str) -> list[float]:
    natives = sorted(
        (
            outcome
            for outcome in outcomes
            if outcome.trial.environment.name == NATIVE and outcome.status is Status.OK
        ),
        key=lambda outcome: (outcome.trial.block, outcome.trial.slot),
    )
    values = [sample.value for outcome in natives for sample in outcome.samples if sample.name == metric]
    return [math.log(value) for value in values if value > 0]


def lag_one(values: Sequence[float]) -> float:
    """Autocorrelation of each value with the next; 0 when all are equal."""
    mean = statistics.fmean(values)
    rest = [value - mean for value in values]
    square = sum(value * value for value in rest)
    return sum(value * later for value, later in itertools.pairwise(rest)) / square if square else 0.0


NOISE = Phase(name="P0", title="the noise of this host", runs=runs, judge=judge)
__all__ = ["NOISE", "WORK", "judge", "lag_one", "measured", "runs"]
