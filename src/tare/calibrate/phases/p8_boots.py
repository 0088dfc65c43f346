# SPDX-License-Identifier: Apache-2.0
"""P8: work that varies by 2 % between starts, run five times per start: a start counts once."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace

from tare.analyze import variance_splits
from tare.calibrate.bench import WORK, PhaseSetting, Run, campaign
from tare.calibrate.evidence import Evidence, found
from tare.calibrate.gates import Named
from tare.calibrate.phases.phase import Phase
from tare.environments.planted import BOOT_SD, PLANTED
from tare.records import NATIVE, Environment, Gate, Levels, Outcome, Status, VarianceSplit
from tare.treat import levels

RUN = "boots"
PLANTED_SD = 0.02
TOLERANCE = 0.006
MOST_OWN_SD = 0.01
"""Where starts differ by more than this without a plant, the planted part cannot be estimated to the tolerance."""
_ARM, _NO_OP = "boots", "no-op"
_METRIC = "cpu_s"
_FEWEST_STARTS = 10
_COUNTED = Named("P8", "count", "iterations do not count: an interval's n is the number of blocks")
_SPLIT = Named(
    "P8",
    "split",
    f"the planted deviation between starts is found to {TOLERANCE * 100:g} points, {_METRIC}",
)


def runs(setting: PhaseSetting) -> tuple[Run, ...]:
    """The command several times within each start; one environment's starts differ, a no-op's do not."""
    workload = replace(setting.bench.work(setting.iterations), iterations=setting.size.iterations)
    arms = (
        Environment(name=_ARM, technology=NATIVE, options={BOOT_SD: PLANTED_SD}),
        Environment(name=_NO_OP, technology=NATIVE),
    )
    return (Run(name=RUN, campaign=campaign(RUN, workload, setting.size.boot_blocks, arms)),)


def judge(evidence: Evidence) -> tuple[Gate, ...]:
    """Check what counts as a value, and whether the levels are distinguished."""
    if not evidence.outcomes(RUN):
        return (_COUNTED.not_run("no run was made"), _SPLIT.not_run("no run was made"))
    return (_counted(evidence), _split(evidence))


def _counted(evidence: Evidence) -> Gate:
    blocks = [len({outcome.trial.block for outcome in outcomes}) for outcomes in evidence.rounds[RUN]]
    most = [
        max((len(summary.log_ratios) for summary in found(outcomes)), default=0)
        for outcomes in evidence.rounds[RUN]
    ]
    runs_made = max(outcome.trial.workload.iterations for outcome in evidence.outcomes(RUN))
    good = all(0 < n <= begun for n, begun in zip(most, blocks, strict=True))
    words = f"n = {' and '.join(map(str, most))} of {' and '.join(map(str, blocks))} blocks of {runs_made} runs each"
    return _COUNTED.passed(good, words)


def _split(evidence: Evidence) -> Gate:
    """Compare the planted variance with the difference of the two environments' variances between starts."""
    splits = {
        variance_split.environment: variance_split
        for variance_split in variance_splits(_joined(evidence.rounds[RUN]))
    }
    own, no_op = splits.get(_ARM), splits.get(_NO_OP)
    planted = [
        math.log1p(float(outcome.facts[PLANTED]))
        for outcome in evidence.outcomes(RUN)
        if _is_planted(outcome)
    ]
    if own is None or no_op is None or len(planted) < _FEWEST_STARTS:
        return _SPLIT.not_run(f"fewer than {_FEWEST_STARTS} complete blocks with CPU time")
    natural = math.sqrt(max(0.0, no_op.between_starts.point))
    if natural > MOST_OWN_SD:
        return _SPLIT.not_run(
            f"not attributable: starts differ by {natural:.2%} by themselves on this host now, "
            f"over {MOST_OWN_SD:.0%} (n = {len(planted)} starts)"
        )
    seen = math.sqrt(max(0.0, own.between_starts.point - no_op.between_starts.point))
    truth = statistics.stdev(planted)
    words = f"{seen:.2%}, planted {truth:.2%}; by themselves {natural:.2%}{_within(own)} (n = {len(planted)} starts)"
    return _SPLIT.passed(abs(seen - truth) <= TOLERANCE, words)


def _within(split: VarianceSplit) -> str:
    if split.between_iterations is None:
        return ""
    return f", within a start {math.sqrt(split.between_iterations.point):.2%}"


def _is_planted(outcome: Outcome) -> bool:
    own = outcome.trial.environment.name == _ARM and outcome.status is Status.OK
    return own and PLANTED in outcome.facts


def _joined(rounds: Sequence[Sequence[Outcome]]) -> tuple[Levels, ...]:
    """The levels of all rounds; blocks of different rounds are different blocks."""
    joined: dict[str, Levels] = {}
    for outcomes in rounds:
        for level in levels(outcomes, {WORK: _METRIC}):
            before = joined.get(level.environment)
            blocks = level.blocks if before is None else (*before.blocks, *level.blocks)
            joined[level.environment] = replace(level, blocks=blocks)
    return tuple(joined.values())


BOOTS = Phase(name="P8", title="starts that differ", runs=runs, judge=judge)
