# SPDX-License-Identifier: Apache-2.0
"""Results in the order of their dates: each overhead as a series, and whether the newest is worse than the earlier."""

from collections.abc import Iterator, Sequence

from tare.analyze.across_results import comparable, not_comparable, points_of, side_of
from tare.analyze.sentence import signed_range
from tare.records import (
    Analysis,
    Cell,
    Estimate,
    FailIf,
    HistoryPoint,
    HistorySeries,
    Incomparable,
    Regression,
    ResultHistory,
    Ruling,
    Verdict,
)
from tare.statistics.boundary import ERROR
from tare.statistics.estimate import as_fraction
from tare.statistics.unpaired import unpaired_difference

_Place = tuple[Cell, str, str]
_Dated = tuple[Analysis, Verdict]


def history(
    results: Sequence[Analysis], conditions: Sequence[FailIf] = (), unreadable: Sequence[str] = ()
) -> ResultHistory:
    """The series of every overhead, and the answers to ``conditions`` about the newest result."""
    ordered = sorted((result for result in results if result.sessions), key=begun)
    return ResultHistory(
        results=tuple(result.result for result in ordered),
        series=tuple(_series(ordered)),
        regressions=tuple(_regressions(ordered, conditions)),
        incomparable=tuple(_incomparable(ordered)),
        unreadable=tuple(unreadable),
    )


def begun(result: Analysis) -> str:
    """When its first session began, in a form that sorts by time."""
    return result.sessions[0].started_utc


def _series(ordered: Sequence[Analysis]) -> Iterator[HistorySeries]:
    rows: dict[_Place, list[_Dated]] = {}
    for result in ordered:
        for verdict in result.verdicts:
            summary = verdict.overhead.summary
            rows.setdefault((summary.cell, summary.environment, summary.metric), []).append((result, verdict))
    for (cell, environment, metric), dated in rows.items():
        yield HistorySeries(
            cell=cell,
            environment=environment,
            metric=metric,
            primary=any(verdict.overhead.summary.primary for _, verdict in dated),
            points=tuple(
                HistoryPoint(
                    result=result.result, started_utc=begun(result), overhead=verdict.overhead.typical
                )
                for result, verdict in dated
            ),
        )


def _incomparable(ordered: Sequence[Analysis]) -> Iterator[Incomparable]:
    for earlier in ordered[:-1]:
        yield from not_comparable(earlier, ordered[-1])


def _regressions(ordered: Sequence[Analysis], conditions: Sequence[FailIf]) -> Iterator[Regression]:
    """One answer per condition and overhead; all of them together err with a chance of at most ``ERROR``."""
    asked = [
        (condition, reference, newest)
        for condition in conditions
        for reference, newest in _against_median(ordered)
        if _concerns(condition, newest[1])
    ]
    for condition, reference, newest in asked:
        yield _regression(condition, reference, newest, ERROR / len(asked))


def _against_median(ordered: Sequence[Analysis]) -> Iterator[tuple[_Dated, _Dated]]:
    """Each overhead of the newest result with the median of the earlier ones, the higher of two in the middle.

    The median is the overhead of a single result, with its own interval: results are never pooled.
    """
    if not ordered:
        return
    newest = ordered[-1]
    earlier: dict[int, list[_Dated]] = {}
    latest: dict[int, Verdict] = {}
    for result in ordered[:-1]:
        for before, after in comparable(result, newest):
            earlier.setdefault(id(after), []).append((result, before))
            latest[id(after)] = after
    for key, dated in earlier.items():
        dated.sort(key=lambda row: row[1].overhead.typical.point)
        yield dated[len(dated) // 2], (newest, latest[key])


def _concerns(condition: FailIf, verdict: Verdict) -> bool:
    summary = verdict.overhead.summary
    if condition.environment not in {None, summary.environment}:
        return False
    return summary.primary if condition.metric is None else summary.metric == condition.metric


def _regression(condition: FailIf, reference: _Dated, newest: _Dated, error: float) -> Regression:
    before, after = reference[1].overhead, newest[1].overhead
    change = as_fraction(unpaired_difference(side_of(before), side_of(after), error))
    increase = points_of(change, before.typical)
    withheld = reference[1].set_aside or newest[1].set_aside
    ruling = Ruling.UNDECIDED if withheld else _ruling(increase, condition.threshold)
    summary = after.summary
    return Regression(
        condition=condition,
        cell=summary.cell,
        environment=summary.environment,
        metric=summary.metric,
        reference=reference[0].result,
        newest=newest[0].result,
        ruling=ruling,
        increase=increase,
        sentence=(
            f"{summary.environment}'s overhead on {summary.metric} ({summary.cell.workload} on {summary.cell.layout}) "
            f"{_said(ruling, condition, increase, busy=withheld is not None)} "
            f"(n = {before.typical.n}, {after.typical.n})"
        ),
    )


def _ruling(increase: Estimate, threshold: float) -> Ruling:
    if increase.low is not None and increase.low > threshold:
        return Ruling.EXCEEDED
    if increase.high is not None and increase.high <= threshold:
        return Ruling.KEPT
    return Ruling.UNDECIDED


def _said(ruling: Ruling, condition: FailIf, increase: Estimate, *, busy: bool) -> str:
    limit = f"more than {100 * condition.threshold:g} points worse than the median of the earlier results"
    if busy:
        return f"may or may not be {limit}: undecided, as the host was too busy to tell"
    if increase.low is None or increase.high is None:
        return f"may or may not be {limit}: undecided, without an interval"
    change = signed_range(increase.low, increase.high).replace(" %", " points")
    words = {Ruling.EXCEEDED: "is", Ruling.KEPT: "is not", Ruling.UNDECIDED: "may or may not be"}
    return f"{words[ruling]} {limit}: {change}"
