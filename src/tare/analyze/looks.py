# SPDX-License-Identifier: Apache-2.0
"""The looks of a campaign, replayed from its journal: repeated intervals, and why an arm stopped.

A decision at a look depends only on the blocks before it, so an interrupted and continued campaign decides like one
that ran through. docs/method.md gives the rules and the reasons.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tare.analyze import busy
from tare.analyze.contrasts import contrast_of, controls_of
from tare.analyze.decisions import rulings
from tare.records import Cell, Course, Design, Estimate, Look, Overhead, Ruling, Stop, Stopped, Summary
from tare.statistics.boundary import ERROR, boundary, spending, spending_with
from tare.statistics.contrasts import Contrast
from tare.statistics.estimate import as_fraction, leaves_out_0, lies_within
from tare.statistics.evidence import Reach, interval
from tare.statistics.series import widening
from tare.statistics.student import mean_estimate
from tare.treat.pairing import known_after

Arm = tuple[Cell, str]


def courses(
    summaries: Sequence[Summary], finished: Mapping[Arm, int], design: Design, *, ended: bool
) -> dict[Arm, Course]:
    """Replay the looks of every arm (cell and environment).

    ``finished`` is the number of finished leading blocks of each arm (``treat.finished_blocks``); ``ended`` says
    whether the time budget has ended the campaign, so that the present blocks are each unstopped arm's last look.
    """
    arms: dict[Arm, list[Summary]] = {}
    for summary in summaries:
        arms.setdefault((summary.cell, summary.environment), []).append(summary)
    return {arm: _course(arms.get(arm, []), done, design, arm, ended) for arm, done in finished.items()}


def stopped_arms(courses: Mapping[Arm, Course]) -> tuple[Stopped, ...]:
    """Arms that run no further blocks although others may."""
    return tuple(
        Stopped(cell=cell, environment=environment, blocks=course.looks[-1], stop=course.stop)
        for (cell, environment), course in courses.items()
        if course.stop is not None and not course.final
    )


def control_course(courses: Mapping[Arm, Course], cell: Cell) -> Course | None:
    """The course of the arm that went farthest: native continues as long as any arm."""
    own = [course for (where, _), course in courses.items() if where == cell]
    return max(own, key=lambda course: (course.looks[-1:], course.final), default=None)


def looks_at(summary: Summary, course: Course) -> tuple[Look, ...]:
    """Results of this metric at each look that the course passed, as overheads; no look without a complete block."""
    reached = [course.looks[: place + 1] for place in range(len(course.looks))]
    return tuple(
        _look(summary, looks, course, final=course.final and looks == course.looks)
        for looks in reached
        if contrast_of(summary, range(looks[-1])).log_ratios
    )


def interim_look(summary: Summary, course: Course) -> Look:
    """Interim result before the first look: an interval that uses up only its share of the error."""
    return _look(summary, (summary.blocks[-1].block + 1,), course, final=False)


def repeated(looks: Sequence[Look], contrast: Contrast, error: float = ERROR) -> Estimate:
    """The repeated interval at the last of ``looks``, as a fraction.

    ``contrast``: the last look's blocks. The intervals of all looks together miss with a chance of at most ``error``.
    Blocks added later permit more (``spending_with``).
    """
    return as_fraction(interval(contrast, reach_after(looks, 0), error))


def repeated_mean(looks: Sequence[Look], log_ratios: Sequence[float]) -> Estimate:
    """The repeated interval of the mean, with Student's t."""
    nominal = reach_after(looks, 0).nominal(ERROR)
    return as_fraction(mean_estimate(log_ratios, 1 - nominal, widening=widening(log_ratios)))


def seen(summary: Summary, looks: Sequence[Look]) -> Contrast:
    """The blocks of the last look; all blocks without looks."""
    return contrast_of(summary, range(looks[-1].blocks) if looks else None)


def reach_after(looks: Sequence[Look], n: int) -> Reach:
    """Reach of these looks; without looks, of ``n`` values at once."""
    if not looks:
        return Reach.at_once(n)
    return Reach(tuple(look.n for look in looks), tuple(look.spent for look in looks))


def reach_of(overhead: Overhead) -> Reach:
    """Reach of the looks that an overhead passed; without looks, of all its values at once."""
    return reach_after(overhead.looks, overhead.typical.n)


def common_reach(overheads: Sequence[Overhead], n: int) -> Reach:
    """Reach of values from several overheads: the looks of the first to stop, with ``n`` values at the last."""
    shortest = min(map(reach_of, overheads), key=lambda reach: reach.ns[-1])
    return Reach((*(min(n, earlier) for earlier in shortest.ns[:-1]), n), shortest.spent)


def by_block(overhead: Overhead) -> dict[int, float]:
    """Number of each block of the last look → its log-ratio."""
    summary = overhead.summary
    rows = zip(summary.blocks, summary.log_ratios, strict=True)
    most = overhead.looks[-1].blocks if overhead.looks else math.inf
    return {block.block: value for block, value in rows if block.block < most}


def controls_by_block(overhead: Overhead) -> dict[int, float]:
    """Number of each complete block → its log-ratio of native against native."""
    summary = overhead.summary
    return dict(zip((block.block for block in summary.blocks), summary.control_log_ratios, strict=True))


def _look(summary: Summary, planned: Sequence[int], course: Course, *, final: bool) -> Look:
    ns = tuple(len(contrast_of(summary, range(blocks)).log_ratios) for blocks in planned)
    spent = tuple(_spent(blocks, n, course) for blocks, n in zip(planned, ns, strict=True))
    if final:
        spent = (*spent[:-1], max(1.0, spent[-1]))
    nominal = boundary(ns, spent)[-1]
    contrast = contrast_of(summary, range(planned[-1]))
    bounds = contrast.bounds(nominal)
    return Look(
        blocks=planned[-1],
        n=ns[-1],
        spent=spent[-1],
        level=bounds[2] if bounds else 1 - ERROR,
        estimate=as_fraction(interval(contrast, Reach(ns, spent), ERROR)),
    )


def _spent(blocks: int, n: int, course: Course) -> float:
    """Share of the error used up by the looks until the one after ``blocks`` blocks, ``n`` of them complete."""
    if additions := sum(begin < blocks for begin in course.added_from):
        return spending_with(additions)
    return 1.0 if blocks in course.added_from else spending(n, course.total)


def _course(metrics: Sequence[Summary], done: int, design: Design, arm: Arm, ended: bool) -> Course:
    """Go from look to look until something stops the arm."""
    planned = design.looks_of(arm[0])
    course = Course(looks=(), total=design.total, added_from=design.added_from)
    reached: list[int] = []
    for blocks in planned:
        if blocks > done:
            break
        reached.append(blocks)
        course = replace(course, looks=tuple(reached))
        if blocks == planned[-1]:
            return replace(course, stop=Stop.OUT_OF_BLOCKS)
        if blocks < design.total and (stop := _stop(metrics, course, design, arm)):
            return replace(course, stop=stop)
    if ended and done > 0:
        reached += [done] * (done not in reached)
        return replace(course, looks=tuple(reached), stop=Stop.OUT_OF_BUDGET)
    return course


def _stop(metrics: Sequence[Summary], course: Course, design: Design, arm: Arm) -> Stop | None:
    """Whether this look is the last, for all primary metrics; an arm with a ``--fail-if`` continues until decided."""
    if asked := rulings(metrics, course, design, arm):
        return Stop.DECIDED if all(ruled.ruling is not Ruling.UNDECIDED for ruled in asked) else None
    known = [known_after(summary, course.looks[-1]) for summary in metrics if summary.primary]
    stops = {_stop_of(summary, course, design) for summary in known}
    if not stops or None in stops:
        return None
    return Stop.PRECISE if Stop.PRECISE in stops else Stop.EQUIVALENT


def _stop_of(primary: Summary, course: Course, design: Design) -> Stop | None:
    """Why this metric is known well enough to stop, if it is."""
    if not contrast_of(primary, range(course.looks[-1])).log_ratios:
        return None
    looks = looks_at(primary, course)
    stop = _precise_or_equivalent(looks[-1].estimate, design)
    return None if stop is None or _is_withheld(primary, looks) else stop


def _is_withheld(primary: Summary, looks: Sequence[Look]) -> bool:
    """Whether the arm's claim must be withheld, or released: it then continues, as the host may become quiet."""
    if busy.blocks_said(primary, looks[-1].blocks):
        return True
    last = looks[-1].estimate
    control = repeated(looks, controls_of(primary, range(looks[-1].blocks)))
    return leaves_out_0(last) and busy.drowns(last, control)


def _precise_or_equivalent(estimate: Estimate, design: Design) -> Stop | None:
    if estimate.low is None or estimate.high is None:
        return None
    if lies_within(estimate, design.margin):
        return Stop.EQUIVALENT
    low, high, point = map(math.log1p, (estimate.low, estimate.high, estimate.point))
    return Stop.PRECISE if (high - low) / 2 <= precise_half_width(point, design) else None


def precise_half_width(log_ratio: ArrayLike, design: Design) -> NDArray[np.float64]:
    """Half-width of an interval, as a logarithm, that is precise enough beside this estimate.

    ``precise_relative`` is a part of what is lost or gained, of the longer of both times: ten times faster must be
    known as well as ten times slower.
    """
    relative = design.precise_relative * -np.expm1(-np.abs(log_ratio))
    return np.maximum(math.log1p(design.precise_absolute), relative)
