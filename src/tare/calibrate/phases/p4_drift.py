# SPDX-License-Identifier: Apache-2.0
"""P4: work that grows by 0.1 % from run to run, in both arms, in Tare's order and one arm after the other."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tare.analyze.contrasts import contrast_of
from tare.calibrate.bench import PhaseSetting, Run, campaign
from tare.calibrate.evidence import Evidence, found
from tare.calibrate.gates import Named, holds, lies_within, percent, pooled_estimate, told
from tare.calibrate.phases.phase import Phase
from tare.records import NATIVE, Environment, Gate, Outcome
from tare.treat import blocks_out_of_order

INTERLEAVED, BEFORE, AFTER = "drift", "drift-before", "drift-after"
DRIFT = 0.001
MOST_CPU = 0.025
"""Largest deviation of the CPU time interval from 0: the other order reads 5 % in a full calibration."""
_ARM = "no-op"


def runs(setting: PhaseSetting) -> tuple[Run, ...]:
    """Blocks with a no-op environment; then native runs alone, whose later half plays the environment."""
    size, workload = setting.size, setting.bench.work(setting.iterations)
    arm = (Environment(name=_ARM, technology=NATIVE),)
    alone = size.sequential_blocks
    return (
        Run(name=INTERLEAVED, campaign=campaign(INTERLEAVED, workload, size.drift_blocks, arm), drift=DRIFT),
        Run(name=BEFORE, campaign=campaign(BEFORE, workload, alone), drift=DRIFT),
        Run(name=AFTER, campaign=campaign(AFTER, workload, alone), drift=DRIFT, starts_before=2 * alone),
    )


def judge(evidence: Evidence) -> tuple[Gate, ...]:
    """Check that Tare's order cancels the drift, and that the other order is detected."""
    return (*_interleaved(evidence), _sequential(evidence))


def _interleaved(evidence: Evidence) -> Iterator[Gate]:
    for metric in evidence.metrics(INTERLEAVED) or (evidence.headline,):
        named = Named(
            "P4", f"interleaved, {metric}", f"under a drift, blocks read {percent(0.0)} for a no-op, {metric}"
        )
        estimate = pooled_estimate(evidence, evidence.series(INTERLEAVED, _ARM, metric))
        if estimate is None:
            yield named.not_run("too few complete blocks")
        else:
            narrow = metric != "cpu_s" or lies_within(estimate, -MOST_CPU, MOST_CPU)
            yield named.passed(narrow and holds(estimate, 0.0), told(estimate))


def _sequential(evidence: Evidence) -> Gate:
    named = Named("P4", "sequential", "one arm after the other is told from blocks in Tare's order")
    rounds = zip(evidence.rounds.get(BEFORE, ()), evidence.rounds.get(AFTER, ()), strict=False)
    joined = [sequential(before, after) for before, after in rounds]
    if not joined:
        return named.not_run("no run was made")
    blocks = [len({outcome.trial.block for outcome in outcomes}) for outcomes in joined]
    flagged = sum(len(blocks_out_of_order(outcomes)) for outcomes in joined)
    series = tuple(
        contrast_of(summary)
        for outcomes in joined
        for summary in found(outcomes)
        if (summary.environment, summary.metric) == (_ARM, evidence.headline)
    )
    estimate = pooled_estimate(evidence, series)
    read = "" if estimate is None else f"; they would have read {told(estimate)}"
    return named.passed(0 < sum(blocks) == flagged, f"{flagged} of {sum(blocks)} blocks flagged{read}")


def sequential(before: Sequence[Outcome], after: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """Outcomes as if all of native had been measured first: the later runs become the environment's."""
    arm = Environment(name=_ARM, technology=NATIVE)
    again = [
        replace(
            outcome,
            trial=replace(
                outcome.trial, environment=arm, identity=f"{outcome.trial.identity}-{_ARM}", slot=2
            ),
        )
        for outcome in after
        if outcome.trial.replicate == 0
    ]
    return (*before, *again)


DRIFTING = Phase(name="P4", title="a drift, in two orders", runs=runs, judge=judge)
