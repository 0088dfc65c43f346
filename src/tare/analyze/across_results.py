# SPDX-License-Identifier: Apache-2.0
"""Results against the first of them: each overhead, and native's own time, as independent figures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from tare.analyze.apart import Apart, change_word, own_value, side_of_values
from tare.analyze.looks import reach_of, seen
from tare.analyze.result_facts import fact_differences
from tare.analyze.result_sentence import change_said
from tare.records import (
    NATIVE,
    Analysis,
    Cell,
    ChangeWord,
    Estimate,
    Incomparable,
    Overhead,
    ResultChange,
    ResultComparison,
    Verdict,
    Withheld,
    Workload,
)
from tare.statistics.contrasts import Contrast
from tare.statistics.estimate import transformed
from tare.statistics.evidence import interval
from tare.statistics.multiplicity import ERROR, among, joint_error
from tare.statistics.unpaired import Side
from tare.treat.aggregate import log_time_per_work
from tare.treat.pairing import cell_of

Place = tuple[Cell, str, str]
"""Cell, environment and metric."""
_WITHHELD = {
    Withheld.BUSY: "the host was busy in too many blocks of one result",
    Withheld.NOISE: "in one result native differs from itself by more than would be claimed",
}


@dataclass(frozen=True, slots=True)
class _ComparedFigure:
    """One figure in two results, and its two sides."""

    change: ResultChange
    """As if it were the only claim."""
    sides: Apart


def compare_results(results: Sequence[Analysis]) -> ResultComparison:
    """Compare every result with the first: never pooled, never paired.

    The primary claims of all environments, cells and later results are one family, whose intervals hold jointly; the
    other metrics and native's own times are another, as for verdicts.
    """
    first = results[0]
    pairs: list[_ComparedFigure] = []
    incomparable: list[Incomparable] = []
    for later in results[1:]:
        incomparable += not_comparable(first, later)
        pairs += [_environment_pair(first, later, *both) for both in comparable(first, later)]
        pairs += _native_pairs(first, later)
    return ResultComparison(
        results=tuple(result.result for result in results),
        changes=tuple(_in_families(pairs)),
        differences=fact_differences(results),
        incomparable=tuple(incomparable),
    )


def comparable(first: Analysis, later: Analysis) -> Iterator[tuple[Verdict, Verdict]]:
    """The verdicts of both results on the same thing, measured in the same way."""
    known, lacking = _by_place(later), _reasons(first, later)
    for place, before in _by_place(first).items():
        if place in known and place not in lacking:
            yield before, known[place]


def not_comparable(first: Analysis, later: Analysis) -> Iterator[Incomparable]:
    """What only one result has, or what both have but measured differently; one entry for each arm and reason."""
    named: set[tuple[Cell, str, str]] = set()
    for (cell, environment, metric), reason in _reasons(first, later).items():
        if (cell, environment, reason) not in named:
            named.add((cell, environment, reason))
            what = f"{environment} on {metric} ({cell.workload} on {cell.layout})"
            yield Incomparable(first=first.result, later=later.result, what=what, reason=reason)


def side_of(overhead: Overhead) -> Side:
    """The overhead as a log-ratio, by the interval of its own result; none where that interval does not hold."""
    contrast = seen(overhead.summary, overhead.looks)
    if overhead.typical.low is None:
        return partial(_without_interval, contrast)
    return partial(interval, contrast, reach_of(overhead))


def points_of(change: Estimate, before: Estimate) -> Estimate:
    """The change of an overhead in points, from that of its ratio to native's time."""
    return transformed(change, lambda fraction: (1 + before.point) * fraction)


def _by_place(result: Analysis) -> dict[Place, Verdict]:
    return {
        (
            verdict.overhead.summary.cell,
            verdict.overhead.summary.environment,
            verdict.overhead.summary.metric,
        ): verdict
        for verdict in result.verdicts
    }


def _reasons(first: Analysis, later: Analysis) -> dict[Place, str]:
    """Why a figure of one result cannot be compared with the other; of missing figures only the primary ones."""
    before, after = _by_place(first), _by_place(later)
    works, technologies = (_works(first), _works(later)), (_technologies(first), _technologies(later))
    reasons: dict[Place, str] = {}
    for place in dict.fromkeys((*before, *after)):
        earlier, newer = before.get(place), after.get(place)
        if earlier is None or newer is None:
            present = earlier or newer
            if present is not None and present.overhead.summary.primary:
                reasons[place] = f"only in {(later if earlier is None else first).result}"
        elif reason := _unlike(earlier, newer, works, technologies):
            reasons[place] = reason
    return reasons


def _unlike(
    earlier: Verdict,
    newer: Verdict,
    works: tuple[Mapping[Cell, Workload], Mapping[Cell, Workload]],
    technologies: tuple[Mapping[str, str], Mapping[str, str]],
) -> str | None:
    first, later = earlier.overhead.summary, newer.overhead.summary
    names = [known.get(first.environment) for known in technologies]
    if names[0] != names[1]:
        return f"the name is of two technologies, {names[0]} and {names[1]}"
    if (first.unit, first.direction) != (later.unit, later.direction):
        return f"the units differ: {first.unit} and {later.unit}"
    jobs = [_job(known.get(first.cell)) for known in works]
    if jobs[0] != jobs[1]:
        return "the workload has other options"
    turned = [any(block.rounds is not None for block in summary.blocks) for summary in (first, later)]
    if turned[0] != turned[1]:
        return "one result's runs took turns, the other's ran whole"
    return None


def _works(result: Analysis) -> dict[Cell, Workload]:
    return {cell_of(outcome): outcome.trial.workload for outcome in result.outcomes}


def _technologies(result: Analysis) -> dict[str, str]:
    own = (outcome.trial.environment for outcome in result.outcomes)
    return {environment.name: environment.technology for environment in own}


def _job(workload: Workload | None) -> object:
    return None if workload is None else (workload.kind, dict(workload.options), workload.iterations)


def _environment_pair(first: Analysis, later: Analysis, before: Verdict, after: Verdict) -> _ComparedFigure:
    summary = before.overhead.summary
    sides = Apart(side_of(before.overhead), side_of(after.overhead), max(before.margin, after.margin))
    withheld = next((verdict.set_aside for verdict in (before, after) if verdict.set_aside), None)
    change = sides.change(ERROR)
    return _pair(
        sides,
        ResultChange(
            first=first.result,
            later=later.result,
            cell=summary.cell,
            environment=summary.environment,
            metric=summary.metric,
            unit=summary.unit,
            primary=summary.primary and after.overhead.summary.primary,
            before=before.overhead.typical,
            after=after.overhead.typical,
            change=change,
            points=points_of(change, before.overhead.typical),
            word=ChangeWord.UNDECIDED,
            alone=ChangeWord.UNDECIDED,
            p_value=1.0,
            claims=1,
            withheld=None if withheld is None else _WITHHELD[withheld],
            sentence="",
        ),
    )


def _native_pairs(first: Analysis, later: Analysis) -> Iterator[_ComparedFigure]:
    """Native's own time on the primary metrics, which tells other hosts or software apart from other overheads."""
    done: set[tuple[Cell, str]] = set()
    for before, after in comparable(first, later):
        summary, newer = before.overhead.summary, after.overhead.summary
        if not summary.primary or (summary.cell, summary.metric) in done:
            continue
        done.add((summary.cell, summary.metric))
        sides = Apart(
            _native_side(before.overhead), _native_side(after.overhead), max(before.margin, after.margin)
        )
        yield _pair(
            sides,
            ResultChange(
                first=first.result,
                later=later.result,
                cell=summary.cell,
                environment=NATIVE,
                metric=summary.metric,
                unit=summary.unit,
                primary=False,
                before=own_value(sides.before(ERROR), summary.direction),
                after=own_value(sides.after(ERROR), newer.direction),
                change=sides.change(ERROR),
                points=None,
                word=ChangeWord.UNDECIDED,
                alone=ChangeWord.UNDECIDED,
                p_value=1.0,
                claims=1,
                withheld=None,
                sentence="",
            ),
        )


def _native_side(overhead: Overhead) -> Side:
    """Logarithm of native's time per work: the mean of both slots, one value per block."""
    summary = overhead.summary
    values = [
        sum(log_time_per_work(value, summary.direction) for value in block.native) / len(block.native)
        for block in summary.blocks
    ]
    return side_of_values(values)


def _without_interval(contrast: Contrast, error: float) -> Estimate:
    return Estimate(point=contrast.point(), low=None, high=None, level=1 - error, n=len(contrast.log_ratios))


def _pair(sides: Apart, change: ResultChange) -> _ComparedFigure:
    word = ChangeWord.UNDECIDED if change.withheld else change_word(change.change, sides.margin)
    return _ComparedFigure(replace(change, alone=word), sides)


def _in_families(pairs: Sequence[_ComparedFigure]) -> Iterator[ResultChange]:
    """The changes, in their order, with the intervals and words that hold together with all others of their family."""
    judged: dict[int, ResultChange] = {}
    for primary in (True, False):
        places = [place for place, pair in enumerate(pairs) if pair.change.primary is primary]
        any_word = [
            1.0 if pairs[place].change.withheld else pairs[place].sides.any_word_p() for place in places
        ]
        error = joint_error(any_word, exploratory=not primary)
        for place in places:
            judged[place] = _jointly(pairs[place], error, len(places))
    yield from (judged[place] for place in range(len(pairs)))


def _jointly(pair: _ComparedFigure, error: float, claims: int) -> ResultChange:
    """The change with the interval that misses with a chance of ``error``, and the word that it permits."""
    change = pair.sides.change(error)
    jointly = replace(
        pair.change,
        change=change,
        points=None if pair.change.points is None else points_of(change, pair.change.before),
        claims=claims,
    )
    if jointly.withheld is None:
        jointly = replace(
            jointly,
            word=change_word(change, pair.sides.margin),
            p_value=among(pair.sides.difference_p(), error),
        )
    return replace(jointly, sentence=change_said(jointly))
