# SPDX-License-Identifier: Apache-2.0
"""Where campaigns stop, what holds there, and what ``--fail-if`` answers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.words.product import MARGIN, judged
from bench.words.records import is_false, summary_of
from bench.words.rows import Row, rows_said, shares
from tare.analyze import courses, decisions
from tare.records import Course, Design, FailIf, Ruling, Stop, Summary, Verdict

_LOOKS = (10, 16, 24, 32)
_ARM = "arm0"
_THRESHOLD = 0.02
_ASKED = FailIf(text="overhead > 2%", threshold=_THRESHOLD)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stopped:
    summary: Summary
    course: Course
    verdict: Verdict


def table_of(campaigns: int, seed: int) -> str:
    times = (0.1, 0.5, 2.0, 10.0)
    noises = (0.1, 0.3)
    return rows_said(
        [
            *(_precise(noise, factor, campaigns // 2, seed) for noise in noises for factor in times),
            *(_looks(effect, campaigns, seed) for effect in (0.0, 0.005, 0.05)),
            *(_fail_if(effect, campaigns, seed) for effect in (0.0, 0.02, 0.05)),
        ]
    )


def _campaigns(effect: float, noise: float, campaigns: int, seed: int) -> list[_Stopped]:
    generator = np.random.default_rng([seed, 5])
    return [_stopped(effect, noise, generator) for _ in range(campaigns)]


def _stopped(effect: float, noise: float, generator: np.random.Generator) -> _Stopped:
    runs = generator.normal(0.0, noise, (3, _LOOKS[-1]))
    runs[2] += math.log1p(effect)
    summary = summary_of(runs)
    design = Design(looks=_LOOKS, margin=MARGIN)
    arm = summary.cell, summary.environment
    known = courses([summary], {arm: _LOOKS[-1]}, design, ended=False)
    return _Stopped(summary=summary, course=known[arm], verdict=judged([summary], known)[0])


def _precise(noise: float, times: float, campaigns: int, seed: int) -> Row:
    """Ten times slower and ten times faster are as precise as each other."""
    own = _campaigns(times - 1, noise, campaigns, seed)
    return Row(
        cell=f"{times:g} times native's time, noise {100 * noise:g} %, looks {' · '.join(map(str, _LOOKS))}",
        promise="stops as early at so many times slower as faster",
        false=shares([_false(own, times - 1)], campaigns),
        missed=shares([_ever_missed(own, times - 1)], campaigns),
        price=f"ends at each look: {_where(own)}; blocks {_mean_blocks(own):.1f}",
    )


def _where(own: Sequence[_Stopped]) -> str:
    ends = [each.course.looks[-1] for each in own]
    return " · ".join(f"{100 * ends.count(look) / len(ends):.0f}" for look in _LOOKS) + " %"


def _mean_blocks(own: Sequence[_Stopped]) -> float:
    return float(np.mean([each.course.looks[-1] for each in own]))


def _false(own: Sequence[_Stopped], effect: float) -> int:
    return sum(is_false(each.verdict, effect) for each in own)


def _ever_missed(own: Sequence[_Stopped], effect: float) -> int:
    """Campaigns in which the interval of any look left out the truth."""
    return sum(
        any(
            look.estimate.low is not None
            and look.estimate.high is not None
            and not look.estimate.low <= effect <= look.estimate.high
            for look in each.verdict.overhead.looks
        )
        for each in own
    )


def _looks(effect: float, campaigns: int, seed: int) -> Row:
    own = _campaigns(effect, 0.01, campaigns, seed)
    stops = [each.course.stop for each in own]
    return Row(
        cell=f"looks, {100 * effect:g} %, noise 1 %",
        promise="at most 5 % at any look",
        false=shares([_false(own, effect)], campaigns),
        missed=shares([_ever_missed(own, effect)], campaigns),
        price=f"blocks {_mean_blocks(own):.1f}, precise {100 * stops.count(Stop.PRECISE) / campaigns:.0f} %",
    )


def _fail_if(effect: float, campaigns: int, seed: int) -> Row:
    generator = np.random.default_rng([seed, 6])
    answers = [_answer(effect, generator) for _ in range(campaigns)]
    exceeded, kept = (answers.count(ruling) for ruling in (Ruling.EXCEEDED, Ruling.KEPT))
    wrong = [exceeded * (effect <= _THRESHOLD), kept * (effect >= _THRESHOLD)]
    return Row(
        cell=f"--fail-if 'overhead > 2%' at {100 * effect:g} %, noise 1 %",
        promise="at most 2.5 % wrongly exceeded · kept",
        false=shares(wrong, campaigns),
        price=f"exceeded {100 * exceeded / campaigns:.0f} %, kept {100 * kept / campaigns:.0f} %",
    )


def _answer(effect: float, generator: np.random.Generator) -> Ruling:
    runs = generator.normal(0.0, 0.01, (3, _LOOKS[-1]))
    runs[2] += math.log1p(effect)
    summary = summary_of(runs)
    design = Design(looks=_LOOKS, margin=MARGIN, fail_if=(_ASKED,))
    known = courses([summary], {(summary.cell, _ARM): _LOOKS[-1]}, design, ended=False)
    return decisions([summary], known, design, [_ARM])[0].ruling
