# SPDX-License-Identifier: Apache-2.0
"""P1: native against itself, through the driver under another name, and with 1, 5 and 20 % more work."""

from collections.abc import Iterator

from tare.calibrate.bench import PhaseSetting, Run, campaign
from tare.calibrate.evidence import Evidence, pooled
from tare.calibrate.gates import (
    LEVEL,
    Named,
    count,
    lies_within,
    meets,
    misses,
    percent,
    pooled_estimate,
    told,
)
from tare.calibrate.phases.phase import Phase
from tare.environments.planted import MORE_WORK
from tare.records import CONTROL_NAME, NATIVE, Environment, Gate
from tare.statistics.contrasts import Contrast
from tare.statistics.estimate import as_fraction

RUN = "truth"
NO_OP = "no-op"
PLANTS = {"plus-1": 0.01, "plus-5": 0.05, "plus-20": 0.20}
"""Environment → share of additional work; the last is large enough for any noise."""
CPU = "cpu_s"
_LEAST_COMPLETE = 0.9
_LARGEST = "plus-20"
_POOLED_SLACK = 0.0005
"""Uncertainty of the truth itself: the time of a run besides its work is estimated."""


def runs(setting: PhaseSetting) -> tuple[Run, ...]:
    """Six runs in each block: native twice, the no-op environment, and the three plants."""
    plants = tuple(
        Environment(name=name, technology=NATIVE, options={MORE_WORK: more}) for name, more in PLANTS.items()
    )
    no_op = Environment(name=NO_OP, technology=NATIVE)
    workload = setting.bench.work(setting.iterations)
    asked = campaign(RUN, workload, setting.size.truth_blocks, (no_op, *plants))
    return (Run(name=RUN, campaign=asked),)


def judge(evidence: Evidence) -> tuple[Gate, ...]:
    """Count false positives and misses on the headline; pool all blocks for bias."""
    gates = [_complete(evidence), *_counts(evidence), *_headline_pooled(evidence)]
    if CPU in evidence.metrics(RUN):
        gates += _cpu(evidence)
    else:
        gates.append(_named("cpu", "the driver adds no CPU time").not_run("CPU time is not counted here"))
    return tuple(gates)


def _named(name: str, claim: str) -> Named:
    return Named("P1", name, claim)


def _complete(evidence: Evidence) -> Gate:
    rounds = evidence.rounds.get(RUN, ())
    begun = sum(len({outcome.trial.block for outcome in outcomes}) for outcomes in rounds)
    complete = len(pooled(evidence.series(RUN, _LARGEST, evidence.headline)))
    claim = f"at least {_LEAST_COMPLETE:.0%} of the blocks are complete"
    return _named("complete", claim).passed(
        0 < begun * _LEAST_COMPLETE <= complete, f"{complete} of {begun} blocks"
    )


def _counts(evidence: Evidence) -> Iterator[Gate]:
    metric = evidence.headline
    for name, who in ((CONTROL_NAME, "native again"), (NO_OP, "the no-op environment")):
        named = _named(f"false positives, {name}", f"{who} differs from native: false positives, {metric}")
        yield misses(named, evidence, evidence.series(RUN, name, metric), 0.0)
    for name, more in PLANTS.items():
        named = _named(
            f"coverage, {name}", f"the interval misses {percent(evidence.truth(more, metric))}, {metric}"
        )
        yield misses(named, evidence, evidence.series(RUN, name, metric), evidence.truth(more, metric))


def _headline_pooled(evidence: Evidence) -> Iterator[Gate]:
    metric = evidence.headline
    for name, more in {NO_OP: 0.0, **PLANTS}.items():
        truth = evidence.truth(more, metric)
        named = _named(
            f"pooled, {name}", f"all blocks of {name} together agree with {percent(truth)}, {metric}"
        )
        estimate = pooled_estimate(evidence, evidence.series(RUN, name, metric))
        if estimate is None:
            yield named.not_run("too few complete blocks")
        else:
            slack = _POOLED_SLACK if more else 0.0
            yield named.passed(meets(estimate, truth - slack, truth + slack), told(estimate))


def _cpu(evidence: Evidence) -> Iterator[Gate]:
    """Judge CPU time, whose noise is small: a bias of the driver itself would show, as would a lack of power."""
    bias = evidence.size.cpu_bias
    for name, more in {NO_OP: 0.0, **PLANTS}.items():
        truth = evidence.truth(more, CPU)
        claim = f"all blocks of {name} together within {bias * 100:g} points of {percent(truth)}, {CPU}"
        estimate = pooled_estimate(evidence, evidence.series(RUN, name, CPU))
        if estimate is None:
            yield _named(f"bias, {name}", claim).not_run("too few complete blocks")
        else:
            inside = lies_within(estimate, truth - bias, truth + bias)
            yield _named(f"bias, {name}", claim).passed(inside, told(estimate))
    named = _named("power", f"+{PLANTS[_LARGEST]:.0%} of work is not called slower, {CPU}")

    def unnoticed(contrast: Contrast) -> bool:
        low = as_fraction(evidence.estimator.interval(contrast, 1 - LEVEL)).low
        return low is None or low <= 0

    yield count(named, evidence.series(RUN, _LARGEST, CPU), unnoticed)


TRUTH = Phase(name="P1", title="planted truths", runs=runs, judge=judge)
