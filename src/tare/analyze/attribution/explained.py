# SPDX-License-Identifier: Apache-2.0
"""The reason for each claim: confirmed by an intervention, suspected, or unexplained; and the cure in user terms."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tare.analyze.answers import primary_names
from tare.analyze.differences import difference_said
from tare.causes import KNOWN_CAUSES, KnownCause
from tare.records import (
    Attributed,
    Cell,
    Explanation,
    InterventionVerdict,
    Role,
    Strength,
    Suspicion,
    Verdict,
    Word,
    is_without_load,
)

_ALIKE = 0.25
"""Part of a difference, on the scale of logarithms: causes whose remainders differ by less count as equally strong."""
_Key = tuple[Cell, str, str]
"""Cell, environment and metric."""


def claims(verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """Verdicts that say slower or faster, by more than native differs from itself.

    Metrics that are part of another metric's time are left out: the whole's explanation covers them.
    """
    return tuple(verdict for verdict in verdicts if _is_claim(verdict))


def _is_claim(verdict: Verdict) -> bool:
    summary = verdict.overhead.summary
    if verdict.word not in {Word.SLOWER, Word.FASTER} or verdict.below_noise_floor or verdict.set_aside:
        return False
    return summary.primary or not is_without_load(summary.metric)


def explanations(
    claimed: Sequence[Verdict],
    suspected: Sequence[Suspicion],
    interventions: Sequence[InterventionVerdict],
    technologies: Mapping[str, str],
) -> tuple[Explanation, ...]:
    """One per claim. ``technologies``: environment → technology, in whose terms a cure is worded."""
    own = [verdict.overhead.summary for verdict in claimed]
    names = {**primary_names(own), **primary_names(summary for summary in own if summary.primary)}
    return tuple(
        _explained(
            _claim(verdict, names),
            [
                intervention_verdict
                for intervention_verdict in interventions
                if _key_of(intervention_verdict) == _key(verdict)
            ],
            [
                suspicion
                for suspicion in suspected
                if (suspicion.cell, suspicion.environment, suspicion.metric) == _key(verdict)
            ],
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
    own = _longest(tried)
    cleared = {
        intervention_verdict.turned.knob
        for intervention_verdict in own
        if intervention_verdict.role in {Role.NONE, Role.SMALL}
    }
    left = [suspicion for suspicion in suspected if cleared.isdisjoint(KNOWN_CAUSES[suspicion.cause].knobs)]
    claim = replace(
        claim,
        tried=_subjects(own, Role.NONE, Role.SMALL),
        undecided=_subjects(own, Role.UNDECIDED),
        is_absent=any(intervention_verdict.role is Role.ABSENT for intervention_verdict in own),
    )
    return _confirmed(claim, own, left, technology) or _suspected(claim, left, technology) or claim


def _longest(tried: Sequence[InterventionVerdict]) -> list[InterventionVerdict]:
    """One intervention per knob: the one with the most blocks."""
    best: dict[str, InterventionVerdict] = {}
    for intervention_verdict in tried:
        known = best.get(intervention_verdict.turned.knob)
        if known is None or intervention_verdict.after.n > known.after.n:
            best[intervention_verdict.turned.knob] = intervention_verdict
    return list(best.values())


def _subjects(tried: Iterable[InterventionVerdict], *roles: Role) -> tuple[str, ...]:
    return tuple(
        intervention_verdict.turned.subject
        for intervention_verdict in tried
        if intervention_verdict.role in roles
    )


def _claim(verdict: Verdict, names: Mapping[tuple[Cell, str], str]) -> Explanation:
    """A claim, unexplained so far."""
    cell, environment, metric = _key(verdict)
    summary = verdict.overhead.summary
    return Explanation(
        cell=cell,
        environment=environment,
        metric=metric,
        primary=summary.primary,
        name=names[(cell, metric)],
        claim=difference_said(verdict.word, verdict.shown, summary.direction),
        is_gain=verdict.word is Word.FASTER,
        standing=Attributed.UNEXPLAINED,
    )


def _key(verdict: Verdict) -> _Key:
    summary = verdict.overhead.summary
    return summary.cell, summary.environment, summary.metric


def _key_of(verdict: InterventionVerdict) -> _Key:
    return verdict.cell, verdict.intervention.environment, verdict.metric


def _confirmed(
    claim: Explanation,
    tried: Sequence[InterventionVerdict],
    suspected: Sequence[Suspicion],
    technology: str,
) -> Explanation | None:
    """Explanation by the intervention that removes most; among equals, by the one with the strongest evidence."""
    causes = [
        intervention_verdict for intervention_verdict in tried if intervention_verdict.role is Role.CAUSE
    ]
    if not causes:
        return None
    least = min(map(_left, causes))
    first = next(
        intervention_verdict
        for intervention_verdict in causes
        if _left(intervention_verdict) <= least + _ALIKE
    )
    others = [intervention_verdict for intervention_verdict in causes if intervention_verdict is not first]
    known = _known(first, claim, suspected)
    return replace(
        claim,
        standing=Attributed.CAUSE,
        cause=known.name if known else first.turned.knob,
        title=known.title if known else first.turned.subject,
        cure=_cure(known, technology, claim, first.turned.knob),
        change=first.turned.change,
        knob=first.turned.knob,
        before=first.before,
        after=first.after,
        further=tuple(intervention_verdict.turned.subject for intervention_verdict in others),
    )


def _left(verdict: InterventionVerdict) -> float:
    """Remaining difference, on the scale of logarithms; above 0 on either side of native."""
    return abs(math.log1p(verdict.after.point) / math.log1p(verdict.before.point))


def _known(
    verdict: InterventionVerdict, claim: Explanation, suspected: Sequence[Suspicion]
) -> KnownCause | None:
    """The cause, among those the knob tests, with evidence on this claim; else the one that it usually tests."""
    knob = verdict.turned.knob
    if not verdict.turned.is_cure:
        return None
    believed = [KNOWN_CAUSES[suspicion.cause] for suspicion in suspected]
    usual = [known_cause for known_cause in KNOWN_CAUSES.values() if known_cause.knobs[:1] == (knob,)]
    fitting = (known_cause for known_cause in (*believed, *usual) if knob in known_cause.knobs)
    return next((known_cause for known_cause in fitting if known_cause.speeds_up or not claim.is_gain), None)


def _suspected(claim: Explanation, suspected: Iterable[Suspicion], technology: str) -> Explanation | None:
    """Explanation by a suspicion that is more than a possibility."""
    left = [suspicion for suspicion in suspected if suspicion.strength >= Strength.SEEN]
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
        cure=_cure(known, technology, claim),
        further=tuple(KNOWN_CAUSES[suspicion.cause].title for suspicion in others),
    )


def _cure(known: KnownCause | None, technology: str, claim: Explanation, knob: str | None = None) -> str:
    if known is None:
        return ""
    return known.gain if claim.is_gain else known.cure(technology, knob)
