# SPDX-License-Identifier: Apache-2.0
"""P3: thousands of campaigns of ten blocks, and with several looks, drawn from the blocks of P1 and from normal noise.

Drawn with replacement, blocks are independent and their true centre is known. For the no-op environment it is 0: its
run is native under another name, so the draw also decides which of a block's three runs is called the environment's.
For the plant it is the pooled estimate. Normal noise is used too, because a host's own noise may have so many spikes
that they hide too narrow an interval.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tare.analyze.looks import courses, looks_at
from tare.calibrate.bench import WORK
from tare.calibrate.evidence import Evidence
from tare.calibrate.gates import LEVEL, Named, most_misses
from tare.calibrate.judged import DEFAULT, Array
from tare.calibrate.phases.p1_truth import NO_OP, RUN
from tare.calibrate.phases.phase import Phase
from tare.calibrate.sizes import EXPERIMENT_BLOCKS
from tare.records import USUAL_MARGIN, BlockValue, Cell, Design, Direction, Gate, Summary
from tare.statistics import aligned_ranks
from tare.statistics.contrasts import joined

MOST_FALSE = 0.06
LEAST_HALVED = 0.20
"""Halved intervals miss in 27 to 29 % if the full ones were honest; if they miss less, those were too wide."""
LOOKS = (10, 16, 24, 32)
_FEWEST_BLOCKS = 30
_SHORT_PER_LONG = 16
"""Campaigns of one look are cheap, and more of them detect smaller faults."""
_MOST_WIDTHS = 5000
"""Campaigns whose intervals are computed, which takes longer than checking whether they contain the truth."""
_FALSE_ALARM = 0.001
"""Chance that a sound interval fails: with so many draws it can be smaller than elsewhere."""
_PLANT = "plus-5"
_CELL = Cell(workload=WORK, layout="1c1p1i")
_BLOCKS = tuple(BlockValue(block=block, native=(1.0, 1.0), environment=1.0) for block in range(LOOKS[-1]))
"""Only the block numbers matter here."""
Truths = NDArray[np.bool_]


def judge(evidence: Evidence) -> tuple[Gate, ...]:
    """Check false positives and coverage, of single looks and at the stop of several, and too wide intervals."""
    no_op, plant = (_runs(evidence, name) for name in (NO_OP, _PLANT))
    if min(len(no_op), len(plant)) < _FEWEST_BLOCKS:
        return (_named("redrawn", "redrawn campaigns").not_run(f"fewer than {_FEWEST_BLOCKS} blocks"),)
    source = np.random.default_rng(20250101)
    number = evidence.size.redrawn_campaigns
    short, long = (_SHORT_PER_LONG * number, EXPERIMENT_BLOCKS), (number, LOOKS[-1])
    truth = _centre(plant)
    single = _single(evidence, _null(source, no_op, short), source.choice(plant, short), truth)
    normal = _normal(evidence, source.standard_normal((*short, 3)))
    several = _sequential(evidence, _null(source, no_op, long), source.choice(plant, long), truth)
    return (*single, normal, *several)


def _runs(evidence: Evidence, environment: str) -> Array:
    """The runs of all blocks, up to a constant per block: shape (blocks, 3), the environment's first."""
    contrast = joined(evidence.series(RUN, environment, evidence.headline))
    if not contrast.controls:
        return np.zeros((0, 3))
    return aligned_ranks.runs_of(np.asarray(contrast.log_ratios), np.asarray(contrast.controls))


def _null(source: np.random.Generator, runs: Array, shape: tuple[int, int]) -> Array:
    """Blocks in which each run is equally likely to be called the environment's."""
    drawn: Array = source.permuted(source.choice(runs, shape), axis=-1)
    return drawn


def _named(name: str, claim: str) -> Named:
    return Named("P3", name, claim)


def _single(evidence: Evidence, null: Array, drawn: Array, truth: float) -> Iterator[Gate]:
    """Gates for one look at ten blocks."""
    log_ratios, controls = aligned_ranks.log_ratios_of(null)
    claim = f"{EXPERIMENT_BLOCKS} blocks of the no-op environment differ from native"
    wrong = evidence.estimator.misses(log_ratios, controls, 0.0, LEVEL)
    allowed = most_misses(len(null), false_alarm=_FALSE_ALARM)
    yield _share(_named("false positives, one look", claim), wrong, allowed)
    claim = f"the interval of {EXPERIMENT_BLOCKS} blocks misses the truth, in at most {MOST_FALSE:.0%}"
    missed = evidence.estimator.misses(*aligned_ranks.log_ratios_of(drawn), truth, LEVEL)
    yield _share(_named("coverage, one look", claim), missed)
    low, high = evidence.estimator.bounds(log_ratios[:_MOST_WIDTHS], controls[:_MOST_WIDTHS], LEVEL)
    claim = f"intervals of half the width miss, in at least {LEAST_HALVED:.0%}: else they are too wide"
    halved = np.abs((low + high) / 2) > (high - low) / 4
    yield _named("width", claim).passed(
        bool(halved.mean() >= LEAST_HALVED), f"{halved.sum()} of {len(halved)} ({halved.mean():.1%})"
    )


def _normal(evidence: Evidence, null: Array) -> Gate:
    """Gate for normal noise, independent of the host's."""
    wrong = evidence.estimator.misses(*aligned_ranks.log_ratios_of(null), 0.0, LEVEL)
    claim = f"{EXPERIMENT_BLOCKS} blocks of normal noise, made by the computer, differ from none"
    allowed = most_misses(len(null), false_alarm=_FALSE_ALARM)
    return _share(_named("false positives, normal noise", claim), wrong, allowed)


def _share(named: Named, happened: Truths, allowed: int | None = None) -> Gate:
    most = int(MOST_FALSE * len(happened)) if allowed is None else allowed
    return named.counted(int(happened.sum()), len(happened), most, f" ({happened.mean():.1%})")


def _sequential(evidence: Evidence, null: Array, drawn: Array, truth: float) -> Iterator[Gate]:
    """Gates for several looks, through the functions that decide in a campaign."""
    looks = ", ".join(map(str, LOOKS))
    stop = _named(
        "false positives, several looks",
        f"the no-op environment differs where it stops, looks at {looks}, in at most {MOST_FALSE:.0%}",
    )
    cover = _named(
        "coverage, several looks", f"the interval at the stop misses the truth, in at most {MOST_FALSE:.0%}"
    )
    if evidence.estimator.name != DEFAULT:
        yield from (named.not_run("only the shipped estimator has a boundary") for named in (stop, cover))
        return
    yield _share(stop, _missed(null, 0.0))
    yield _share(cover, _missed(drawn, truth))


def _centre(runs: Array) -> float:
    """The exact centre of the drawn blocks."""
    return float(aligned_ranks.points(*aligned_ranks.log_ratios_of(runs)))


def _missed(campaigns: Array, truth: float) -> Truths:
    """Whether each campaign's interval at its stop misses the truth, a log-ratio."""
    design = Design(looks=LOOKS, margin=USUAL_MARGIN)
    return np.array([_misses(runs, design, truth) for runs in campaigns], dtype=np.bool_)


def _misses(runs: Array, design: Design, truth: float) -> bool:
    summary = _summary(runs)
    arm = (summary.cell, summary.environment)
    course = courses([summary], {arm: len(runs)}, design, ended=False)[arm]
    last = looks_at(summary, course)[-1].estimate
    if last.low is None or last.high is None:
        return True
    return not last.low <= math.expm1(truth) <= last.high


def _summary(runs: Array) -> Summary:
    log_ratios, controls = aligned_ranks.log_ratios_of(runs)
    return Summary(
        cell=_CELL,
        environment=_PLANT,
        metric="wall_s",
        unit="s",
        direction=Direction.LESS,
        primary=True,
        blocks=_BLOCKS[: len(runs)],
        log_ratios=tuple(log_ratios.tolist()),
        control_log_ratios=tuple(controls.tolist()),
        dropped_blocks=0,
    )


REDRAWN = Phase(name="P3", title="redrawn campaigns, of the same blocks", judge=judge)
