# SPDX-License-Identifier: Apache-2.0
"""Results in the order of their dates: each overhead as a series, and whether the newest is worse than the earlier."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tare.analyze.across_results import comparable, not_comparable, points_of, side_of
from tare.analyze.differences import signed_range
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
    Withheld,
)
from tare.statistics.boundary import ERROR
from tare.statistics.days import LEAST_DAYS, newest_difference
from tare.statistics.estimate import as_fraction
from tare.statistics.student import mean_estimate
from tare.statistics.unpaired import unpaired_difference

_Place = tuple[Cell, str, str]
_Dated = tuple[Analysis, Verdict]
DAY_S = 12 * 3600.0
"""Results that begin closer together share a day, whatever the time zone."""
_VERB = {Ruling.EXCEEDED: "is", Ruling.KEPT: "is not", Ruling.UNDECIDED: "may or may not be"}


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
        (condition, earlier, newest)
        for condition in conditions
        for earlier, newest in _newest_and_earlier(ordered)
        if _concerns(condition, newest[1])
    ]
    for condition, earlier, newest in asked:
        yield _regression(condition, earlier, newest, ERROR / len(asked))


def _newest_and_earlier(ordered: Sequence[Analysis]) -> Iterator[tuple[list[_Dated], _Dated]]:
    """Each overhead of the newest result, with the earlier ones by their dates."""
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
        yield dated, (newest, latest[key])


def on_different_days(dated: Sequence[_Dated]) -> list[_Dated]:
    """The results that show how days differ, by their dates: of several within ``DAY_S`` the last.

    Without results of a busy host, and without those that have no interval: both are known without a look at whether
    the newest is worse.
    """
    kept: list[_Dated] = []
    for result, verdict in reversed(dated):
        began_s = result.sessions[0].started_s
        if began_s is None or verdict.set_aside is Withheld.BUSY or verdict.overhead.typical.low is None:
            continue
        next_s = kept[-1][0].sessions[0].started_s if kept else None
        if next_s is None or next_s - began_s >= DAY_S:
            kept.append((result, verdict))
    return kept[::-1]


def _concerns(condition: FailIf, verdict: Verdict) -> bool:
    summary = verdict.overhead.summary
    if condition.environment not in {None, summary.environment}:
        return False
    return summary.primary if condition.metric is None else summary.metric == condition.metric


def _regression(condition: FailIf, earlier: Sequence[_Dated], newest: _Dated, error: float) -> Regression:
    days = on_different_days(earlier)
    missing = max(0, LEAST_DAYS - len(days))
    reference = _median(days or earlier)
    increase = (
        _between_two(reference[1], newest[1], error) if missing else _beyond_days(days, newest[1], error)
    )
    withheld = newest[1].set_aside or (reference[1].set_aside if not days else None)
    ruling = Ruling.UNDECIDED if withheld or missing else _ruling(increase, condition.threshold)
    summary = newest[1].overhead.summary
    made = Regression(
        condition=condition,
        cell=summary.cell,
        environment=summary.environment,
        metric=summary.metric,
        reference=reference[0].result,
        newest=newest[0].result,
        ruling=ruling,
        increase=increase,
        sentence="",
        days=tuple(result.result for result, _ in days),
        missing_days=missing,
    )
    counts = (reference[1].overhead.typical.n, newest[1].overhead.typical.n)
    return replace(made, sentence=_sentence(made, counts, busy=withheld is not None))


def _median(dated: Sequence[_Dated]) -> _Dated:
    """The result with the median overhead, the higher of two in the middle."""
    return sorted(dated, key=lambda row: row[1].overhead.typical.point)[len(dated) // 2]


def _between_two(before: Verdict, after: Verdict, error: float) -> Estimate:
    """The increase between two results; a difference between their days is part of it."""
    change = unpaired_difference(side_of(before.overhead), side_of(after.overhead), error)
    return points_of(as_fraction(change), before.overhead.typical)


def _beyond_days(days: Sequence[_Dated], after: Verdict, error: float) -> Estimate:
    """The increase against the mean of the earlier results, with room for the differences between days."""
    sides = [side_of(verdict.overhead) for _, verdict in days]
    change = newest_difference(sides, side_of(after.overhead), error)
    centre = as_fraction(mean_estimate([side(error).point for side in sides]))
    return points_of(as_fraction(change), centre)


def _ruling(increase: Estimate, threshold: float) -> Ruling:
    if increase.low is not None and increase.low > threshold:
        return Ruling.EXCEEDED
    if increase.high is not None and increase.high <= threshold:
        return Ruling.KEPT
    return Ruling.UNDECIDED


def _sentence(made: Regression, counts: tuple[int, int], *, busy: bool) -> str:
    """Such as "box's overhead on time_s (work on 1c1p1i) is more than 2 points worse than ...: +12 to +17 points"."""
    limit = f"more than {100 * made.condition.threshold:g} points worse than the earlier results"
    subject = f"{made.environment}'s overhead on {made.metric} ({made.cell.workload} on {made.cell.layout})"
    return f"{subject} {_VERB[made.ruling]} {limit}: {_said(made, counts, busy=busy)}"


def _said(made: Regression, counts: tuple[int, int], *, busy: bool) -> str:
    low, high = made.increase.low, made.increase.high
    own = f"n = {counts[0]}, {counts[1]}"
    if busy:
        return f"undecided, as the host was too busy to tell ({own})"
    if low is None or high is None:
        return f"undecided, without an interval ({own})"
    change = signed_range(low, high, "points")
    if made.missing_days:
        missing = "1 is" if made.missing_days == 1 else f"{made.missing_days} are"
        return (
            f"undecided, as days differ too: {change} between two measurements, the newest and the median of the "
            f"earlier ({own}); {LEAST_DAYS} earlier results on different days would show how much days differ, and "
            f"{missing} missing"
        )
    return f"{change}, with room for days that differ as those of {len(made.days)} earlier results (n = {counts[1]})"
