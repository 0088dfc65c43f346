# SPDX-License-Identifier: Apache-2.0
"""P3: thousands of campaigns of ten blocks, and with several looks, drawn from the blocks of P1 and from normal noise.

Drawn with replacement, blocks are independent values whose true centre is known: 0 for native against native, where
each value's sign is drawn too, as the two slots are interchangeable; the pooled estimate for the plant. Normal noise
is no host's own: a host's may have so many spikes that they hide an interval that is too narrow.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from tare.analyze.looks import courses, looks_at
from tare.analyze.signed_rank import hodges_lehmann
from tare.calibrate.bench import MARGIN, WORK
from tare.calibrate.estimators import DEFAULT, Array
from tare.calibrate.evidence import CONTROL_NAME, Evidence, pooled
from tare.calibrate.gates import LEVEL, Named
from tare.calibrate.limits import most_misses
from tare.calibrate.phases.p1_truth import RUN
from tare.calibrate.phases.phase import Phase
from tare.calibrate.sizes import EXPERIMENT_BLOCKS
from tare.records import BlockValue, Cell, Design, Direction, Gate, Summary

MOST_FALSE = 0.06
LEAST_HALVED = 0.20
"""Intervals of half the width miss in 27 to 29 % when they were honest; where they miss in less, they were too wide."""
LOOKS = (10, 16, 24, 32)
_FEWEST_BLOCKS = 30
_SHORT_PER_LONG = 4
"""Campaigns of one look cost little, and the more there are, the smaller the fault that is found."""
_FALSE_ALARM = 0.001
"""The chance of a sound interval to fail: the number of draws leaves room for less than elsewhere."""
_PLANT = "plus-5"
_CELL = Cell(workload=WORK, layout="1c1p1i")
_BLOCKS = tuple(BlockValue(block=block, native=(1.0, 1.0), environment=1.0) for block in range(LOOKS[-1]))
"""Only their numbers matter here."""
Truths = NDArray[np.bool_]


def judge(evidence: Evidence) -> tuple[Gate, ...]:
    """False positives and coverage of single looks and at the stop of several; and that intervals are not too wide."""
    control = np.asarray(pooled(evidence.series(RUN, CONTROL_NAME, evidence.headline)))
    plant = np.asarray(pooled(evidence.series(RUN, _PLANT, evidence.headline)))
    if min(len(control), len(plant)) < _FEWEST_BLOCKS:
        return (_named("redrawn", "redrawn campaigns").not_run(f"fewer than {_FEWEST_BLOCKS} blocks"),)
    source = np.random.default_rng(20250101)
    number = evidence.size.redrawn_campaigns
    short, long = (_SHORT_PER_LONG * number, EXPERIMENT_BLOCKS), (number, LOOKS[-1])
    single = _single(evidence, _null(source, control, short), source.choice(plant, short), _centre(plant))
    normal = _normal(evidence, source.standard_normal(short))
    several = _sequential(evidence, _null(source, control, long), source.choice(plant, long), _centre(plant))
    return (*single, normal, *several)


def _null(source: np.random.Generator, control: Array, shape: tuple[int, int]) -> Array:
    """Values that are symmetric around 0, exactly."""
    signs: Array = source.choice((-1.0, 1.0), shape)
    return source.choice(control, shape) * signs


def _named(name: str, claim: str) -> Named:
    return Named("P3", name, claim)


def _single(evidence: Evidence, null: Array, drawn: Array, truth: float) -> Iterator[Gate]:
    """One look at ten blocks."""
    low, high = evidence.estimator.bounds(null, LEVEL)
    wrong = (low > 0) | (high < 0)
    claim = f"{EXPERIMENT_BLOCKS} blocks of native against native differ"
    allowed = most_misses(len(null), false_alarm=_FALSE_ALARM)
    yield _share(_named("false positives, one look", claim), wrong, allowed)
    under, over = evidence.estimator.bounds(drawn, LEVEL)
    claim = f"the interval of {EXPERIMENT_BLOCKS} blocks misses the truth, in at most {MOST_FALSE:.0%}"
    yield _share(_named("coverage, one look", claim), (under > truth) | (over < truth))
    middle, quarter = (low + high) / 2, (high - low) / 4
    claim = f"intervals of half the width miss, in at least {LEAST_HALVED:.0%}: else they are too wide"
    halved = np.abs(middle) > quarter
    yield _named("width", claim).passed(
        bool(halved.mean() >= LEAST_HALVED), f"{halved.sum()} of {len(halved)} ({halved.mean():.1%})"
    )


def _normal(evidence: Evidence, null: Array) -> Gate:
    """Whatever the host's noise is like."""
    low, high = evidence.estimator.bounds(null, LEVEL)
    claim = f"{EXPERIMENT_BLOCKS} blocks of normal noise, made by the computer, differ from none"
    allowed = most_misses(len(null), false_alarm=_FALSE_ALARM)
    return _share(_named("false positives, normal noise", claim), (low > 0) | (high < 0), allowed)


def _share(named: Named, happened: Truths, allowed: int | None = None) -> Gate:
    most = int(MOST_FALSE * len(happened)) if allowed is None else allowed
    return named.counted(int(happened.sum()), len(happened), most, f" ({happened.mean():.1%})")


def _sequential(evidence: Evidence, null: Array, drawn: Array, truth: float) -> Iterator[Gate]:
    """Through the very functions that decide in a campaign."""
    looks = ", ".join(map(str, LOOKS))
    stop = _named(
        "false positives, several looks",
        f"native against native differs where it stops, looks at {looks}, in at most {MOST_FALSE:.0%}",
    )
    cover = _named(
        "coverage, several looks", f"the interval at the stop misses the truth, in at most {MOST_FALSE:.0%}"
    )
    if evidence.estimator.name != DEFAULT:
        yield from (named.not_run("only the shipped estimator has a boundary") for named in (stop, cover))
        return
    yield _share(stop, _missed(null, 0.0))
    yield _share(cover, _missed(drawn, truth))


def _centre(values: Array) -> float:
    """What drawn values have as their centre, exactly."""
    return hodges_lehmann(values.tolist()).point


def _missed(campaigns: Array, truth: float) -> Truths:
    """Whether each campaign's interval, where it stopped, misses the truth, a log-ratio."""
    design = Design(looks=LOOKS, margin=MARGIN)
    return np.array([_misses(values, design, truth) for values in campaigns.tolist()], dtype=np.bool_)


def _misses(values: Sequence[float], design: Design, truth: float) -> bool:
    summary = _summary(values)
    arm = (summary.cell, summary.environment)
    course = courses([summary], {arm: len(values)}, design, ended=False)[arm]
    last = looks_at(summary, course)[-1].estimate
    if last.low is None or last.high is None:
        return True
    return not last.low <= math.expm1(truth) <= last.high


def _summary(values: Sequence[float]) -> Summary:
    return Summary(
        cell=_CELL,
        environment=_PLANT,
        metric="wall_s",
        unit="s",
        direction=Direction.LESS,
        primary=True,
        blocks=_BLOCKS[: len(values)],
        log_ratios=tuple(values),
        control_log_ratios=tuple(values),
        dropped_blocks=0,
    )


REDRAWN = Phase(name="P3", title="redrawn campaigns, of the same blocks", judge=judge)
