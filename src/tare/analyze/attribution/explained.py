# SPDX-License-Identifier: Apache-2.0
"""Why each claim is true: confirmed by an intervention, suspected, or unexplained; and the cure in the user's words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tare.analyze.answers import difference_said, primary_names
from tare.causes import KNOWN_CAUSES, KnownCause
from tare.records import (
    Attributed,
    Cell,
    Explanation,
    InterventionVerdict,
    Shift,
    Strength,
    Suspicion,
    Verdict,
    Word,
)

_Key = tuple[Cell, str, str]
"""Cell, environment and metric."""


def claims(verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """Those that say slower or faster, and more than native differs from itself."""
    return tuple(
        verdict
        for verdict in verdicts
        if verdict.word in {Word.SLOWER, Word.FASTER}
        and not verdict.below_noise_floor
        and not verdict.withheld
    )


def explanations(
    claimed: Sequence[Verdict],
    suspected: Sequence[Suspicion],
    interventions: Sequence[InterventionVerdict],
    technologies: Mapping[str, str],
) -> tuple[Explanation, ...]:
    """One for each claim. ``technologies``: environment → technology, whose user's words a cure is in."""
    names = primary_names(verdict.overhead.summary for verdict in claimed)
    return tuple(
        _explained(
            _claim(verdict, names),
            [one for one in interventions if _key_of(one) == _key(verdict)],
            [one for one in suspected if (one.cell, one.environment, one.metric) == _key(verdict)],
            technologies.get(verdict.overhead.summary.environment, ""),
        )
        for verdict in claimed
    )


def _explained(
    claim: Explanation,
    tried: Sequence[InterventionVerdict],
    suspected: Sequence[Suspicion],
    technology: str,
) -> Explanation:
    claim = replace(claim, tried=tuple(_tried(tried)))
    return _confirmed(claim, tried, technology) or _suspected(claim, suspected, tried, technology) or claim


def _claim(verdict: Verdict, names: Mapping[tuple[Cell, str], str]) -> Explanation:
    """Unexplained so far."""
    cell, environment, metric = _key(verdict)
    typical = verdict.overhead.typical
    return Explanation(
        cell=cell,
        environment=environment,
        metric=metric,
        primary=verdict.overhead.summary.primary,
        name=names[(cell, metric)],
        claim=difference_said(verdict.word, typical.low or 0.0, typical.high or 0.0),
        is_gain=verdict.word is Word.FASTER,
        standing=Attributed.UNEXPLAINED,
    )


def _key(verdict: Verdict) -> _Key:
    summary = verdict.overhead.summary
    return summary.cell, summary.environment, summary.metric


def _key_of(verdict: InterventionVerdict) -> _Key:
    return verdict.cell, verdict.intervention.environment, verdict.metric


def _confirmed(
    claim: Explanation, tried: Sequence[InterventionVerdict], technology: str
) -> Explanation | None:
    causes = [one for one in tried if one.standing is Attributed.CAUSE]
    if not causes:
        return None
    first, *others = causes
    known = _known(first)
    return replace(
        claim,
        standing=Attributed.CAUSE,
        cause=known.name if known else first.turned.knob,
        title=known.title if known else first.turned.subject,
        cure=_cure(known, technology, is_gain=claim.is_gain),
        change=first.turned.change,
        knob=first.turned.knob,
        before=first.before,
        after=first.after,
        further=tuple(one.turned.subject for one in others),
    )


def _known(verdict: InterventionVerdict) -> KnownCause | None:
    """Of a knob that was turned by hand, the cause that it is usually a test of."""
    name = verdict.turned.cause
    if name is not None:
        return KNOWN_CAUSES.get(name)
    return next((one for one in KNOWN_CAUSES.values() if verdict.turned.knob in one.knobs[:1]), None)


def _suspected(
    claim: Explanation,
    suspected: Iterable[Suspicion],
    tried: Sequence[InterventionVerdict],
    technology: str,
) -> Explanation | None:
    """What more than a possibility speaks for, and no knob has shown to be no cause."""
    cleared = {one.turned.cause for one in tried if one.shift is not Shift.UNDECIDED}
    left = [one for one in suspected if one.strength >= Strength.SEEN and one.cause not in cleared]
    if not left:
        return None
    first, *others = left
    known = KNOWN_CAUSES[first.cause]
    return replace(
        claim,
        standing=Attributed.CANDIDATE,
        cause=known.name,
        title=known.title,
        grounds=first.grounds,
        cure=_cure(known, technology, is_gain=claim.is_gain),
        further=tuple(KNOWN_CAUSES[one.cause].title for one in others),
    )


def _cure(known: KnownCause | None, technology: str, *, is_gain: bool) -> str:
    if known is None:
        return ""
    return known.gain if is_gain else known.cure_for(technology)


def _tried(verdicts: Iterable[InterventionVerdict]) -> Iterator[str]:
    for one in verdicts:
        if one.standing is not Attributed.CAUSE:
            undecided = " (undecided)" if one.shift is Shift.UNDECIDED else ""
            yield f"{one.turned.change}{undecided}"
