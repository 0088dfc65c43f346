# SPDX-License-Identifier: Apache-2.0
"""Whether a result agrees with what a paper printed (docs/papers-views.md).

``agreements(view, analysis)`` gives one ``Agreement`` for each claim of a view of ``tare.papers``. Its ``word`` is

- ``REPRODUCED``: all intervals of ours that the claim speaks of lie inside what it states;
- ``CONTRADICTED``: one of them lies outside;
- ``UNDECIDED``: neither, or some of what the claim speaks of was not measured, as ``reason`` says;
- ``NOT_MEASURED``: nothing of it was, or only what is not the paper's own point: a smaller problem, shared processors,
  an emulated guest. What that would say is ``here``, and how it differs is in the ``deviations`` of its ``parts``.

Each claim is judged by itself at 95 %: a claim next to its bound may be called reproduced or contradicted by chance.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tare.analyze.arms import Arm, Evidence, between, loss_of, order_of, spread_of, timer_of
from tare.analyze.roles import ROLES
from tare.records import (
    Agreement,
    AgreementWord,
    Analysis,
    Claim,
    ClaimKind,
    Estimate,
    Part,
    Place,
    Quantity,
    View,
)

_SAME = "same"
"""As the other arm: the same environment, elsewhere."""
_TOO_FEW = "too few blocks for an interval"
_OPEN = "our interval reaches across the bound"


def agreements(view: View, analysis: Analysis) -> tuple[Agreement, ...]:
    """One for each claim of the view, in its order."""
    evidence = Evidence(analysis)
    return tuple(agreement(claim, evidence) for claim in view.claims)


def agreement(claim: Claim, evidence: Evidence) -> Agreement:
    """What a result shows of one claim; ``evidence`` is made once for many claims."""
    parts = tuple(_parts(claim, evidence))
    word, here = joined(part.word for part in parts), None
    if any(part.deviations for part in parts):
        here = joined(part.here or part.word for part in parts)
    return Agreement(claim=claim, word=word, reason=_reason(word, parts), parts=parts, here=here)


def joined(words: Iterable[AgreementWord]) -> AgreementWord:
    """Of all parts together: each must hold for the claim to hold, and one outside contradicts it."""
    known = set(words)
    if AgreementWord.CONTRADICTED in known:
        return AgreementWord.CONTRADICTED
    if len(known) == 1:
        return known.pop()
    return AgreementWord.UNDECIDED if known else AgreementWord.NOT_MEASURED


def judged(ours: Estimate, low: float | None, high: float | None) -> AgreementWord:
    """Where our interval lies: inside the bounds, outside, or across one; a bound itself belongs to neither side."""
    if ours.low is None or ours.high is None:
        return AgreementWord.UNDECIDED
    above = low is None or ours.low > low
    below = high is None or ours.high < high
    if above and below:
        return AgreementWord.REPRODUCED
    outside = (low is not None and ours.high < low) or (high is not None and ours.low > high)
    return AgreementWord.CONTRADICTED if outside else AgreementWord.UNDECIDED


def in_quantity(slower: Estimate, quantity: Quantity) -> Estimate:
    """A change of time, as a fraction, on the scale of a published figure: more time is a lower rate."""
    if quantity is not Quantity.RATE:
        return slower
    low, high = slower.low, slower.high
    return replace(
        slower,
        point=_rate(slower.point),
        low=None if high is None else _rate(high),
        high=None if low is None else _rate(low),
    )


def without_sign(ours: Estimate) -> Estimate:
    """The interval of the absolute value."""
    low, high = ours.low, ours.high
    if low is None or high is None:
        return replace(ours, point=abs(ours.point))
    least = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    return replace(ours, point=abs(ours.point), low=least, high=max(abs(low), abs(high)))


def _rate(slower: float) -> float:
    return 1 / (1 + slower) - 1


@dataclass(frozen=True, slots=True)
class _Shown:
    """What was found for one part."""

    what: str
    estimate: Estimate | None
    why: str = ""
    """Why there is no estimate, or none that counts."""
    deviations: tuple[str, ...] = ()


def _parts(claim: Claim, evidence: Evidence) -> Iterator[Part]:
    low, high, quantity = claim.low, claim.high, claim.quantity
    if claim.kind is ClaimKind.BEST:
        low, high, quantity = None, 0.0, Quantity.TIME
    for shown in _FINDERS[claim.kind](claim, evidence):
        yield _part(shown, quantity, low, high, either_sign=claim.either_sign)


def _part(
    shown: _Shown, quantity: Quantity, low: float | None, high: float | None, *, either_sign: bool
) -> Part:
    if shown.estimate is None:
        return Part(what=shown.what, word=AgreementWord.NOT_MEASURED, reason=shown.why)
    ours = in_quantity(shown.estimate, quantity)
    ours = without_sign(ours) if either_sign else ours
    word = AgreementWord.UNDECIDED if shown.why else judged(ours, low, high)
    reason = ""
    if word is AgreementWord.UNDECIDED:
        reason = shown.why or (_TOO_FEW if ours.low is None else _OPEN)
    if shown.deviations:
        reason = "; ".join(shown.deviations)
        return Part(
            what=shown.what,
            word=AgreementWord.NOT_MEASURED,
            reason=reason,
            ours=ours,
            deviations=shown.deviations,
            here=word,
        )
    return Part(what=shown.what, word=word, reason=reason, ours=ours)


def _reason(word: AgreementWord, parts: Sequence[Part]) -> str:
    """Each different reason of the parts once, where the word needs one."""
    if word in {AgreementWord.REPRODUCED, AgreementWord.CONTRADICTED}:
        return ""
    missing = dict.fromkeys(part.reason for part in parts if part.reason)
    return "; ".join(missing)


def _comparisons(claim: Claim, evidence: Evidence) -> Iterator[_Shown]:
    for place in claim.places:
        other = claim.against_place or place
        for role in claim.environments:
            yield from _compared(claim, evidence, Arm(role, place), Arm(_other_role(claim, role), other))


def _other_role(claim: Claim, role: str) -> str:
    return role if claim.against == _SAME else claim.against


def _compared(claim: Claim, evidence: Evidence, first: Arm, second: Arm) -> Iterator[_Shown]:
    """One for each pair of ours that stands for this pair; one without an estimate if there is none."""
    arms, why = evidence.of(first)
    others, missing = evidence.of(second)
    if not arms or not others:
        yield _Shown(first.said, None, why or missing)
        return
    for arm in arms:
        for other in others:
            if first.role == second.role and arm.environment != other.environment:
                continue
            if arm == other or (claim.against_place is None and arm.cell != other.cell):
                continue
            estimate, reason = between(arm, other)
            deviations = tuple(dict.fromkeys((*arm.deviations, *other.deviations)))
            yield _Shown(f"{arm.said} against {other.said_beside(arm)}", estimate, reason, deviations)


def _bests(claim: Claim, evidence: Evidence) -> Iterator[_Shown]:
    """Each environment with a tick against each without one."""
    others = [role for role in claim.among if role not in claim.environments]
    for place in claim.places:
        for role in claim.environments:
            for other in others:
                yield from _compared(claim, evidence, Arm(role, place), Arm(other, place))


def _losses(claim: Claim, evidence: Evidence) -> Iterator[_Shown]:
    for place in claim.places:
        for role in claim.environments:
            yield from map(_shown, loss_of(evidence, Arm(role, place), claim.alone or ""))


def _spreads(claim: Claim, evidence: Evidence) -> Iterator[_Shown]:
    for place in claim.places:
        for role in claim.environments:
            yield from map(_shown, spread_of(evidence, Arm(role, place)))


def _orders(claim: Claim, evidence: Evidence) -> Iterator[_Shown]:
    for place in claim.places:
        for role in claim.environments:
            yield from map(_shown, order_of(evidence, Arm(role, place), claim.value))


def _timers(claim: Claim, evidence: Evidence) -> Iterator[_Shown]:
    for place in claim.places:
        for role in claim.environments:
            yield from map(_shown, timer_of(evidence, Arm(role, place)))


def _shown(each: tuple[str, Estimate | None, str, tuple[str, ...]]) -> _Shown:
    return _Shown(*each)


_FINDERS = {
    ClaimKind.COMPARISON: _comparisons,
    ClaimKind.BEST: _bests,
    ClaimKind.LOSS: _losses,
    ClaimKind.VARIATION: _spreads,
    ClaimKind.ORDER: _orders,
    ClaimKind.TIMER: _timers,
}


def unknown_roles(claims: Iterable[Claim]) -> frozenset[str]:
    """Roles of claims that are none of ``analyze.roles``."""
    named = (role for claim in claims for role in (*claim.environments, *claim.among, claim.against))
    return frozenset(named) - set(ROLES) - {_SAME}


def places_of(claim: Claim) -> tuple[Place, ...]:
    """All places that a claim speaks of."""
    return (*claim.places, *((claim.against_place,) if claim.against_place else ()))
