# SPDX-License-Identifier: Apache-2.0
"""Whether a result agrees with what a paper printed (docs/papers-views.md).

``agreements(view, analysis, asked)`` gives one ``Agreement`` for each claim of a view of ``tare.papers``; ``asked`` is
``tare.plan.matrix.preset_matrix(view.preset)``. Its ``word`` is

- ``REPRODUCED``: all intervals of ours that the claim speaks of lie inside what it states;
- ``CONTRADICTED``: one of them lies outside, with all that the claim speaks of judged together (Bonferroni);
- ``UNDECIDED``: neither, or some of what the claim speaks of was not measured, as ``reason`` says;
- ``NOT_MEASURED``: nothing of it was, or only what is not the paper's own point: a smaller problem, shared processors,
  an emulated guest, other options than the preset's. What that would say is ``here``, and how it differs is in the
  ``deviations`` of its ``parts``.

Each claim is judged by itself at 95 %: a claim next to its bound may be called reproduced or contradicted by chance.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from tare.analyze.arms import (
    NO_BLOCK,
    MeasuredPart,
    between,
    loss_of,
    missing,
    order_of,
    spread_of,
    withheld_of,
)
from tare.analyze.roles import ROLES
from tare.analyze.view_evidence import MeasuredArm, PaperArm, ViewEvidence
from tare.records import Analysis, Estimate, Replication, Treatment
from tare.records.published import (
    Agreement,
    AgreementWord,
    ClaimKind,
    ClaimPlace,
    Part,
    PresetMatrix,
    PublishedClaim,
    Quantity,
    Tick,
    TickColumn,
    View,
)
from tare.statistics.multiplicity import ERROR

SAME = "same"
"""As the other arm: the same environment, elsewhere."""
_TOO_FEW = "too few blocks for an interval"
_OPEN = "our interval reaches across the bound"
_BY_CHANCE = "one of {} comparisons lies beyond the bound, which may be chance"


def agreements(view: View, analysis: Analysis, asked: PresetMatrix | None = None) -> tuple[Agreement, ...]:
    """One for each claim of the view, in its order; ``asked`` as of ``ViewEvidence``."""
    evidence = ViewEvidence(analysis, asked)
    return tuple(agreement(claim, evidence) for claim in view.claims)


def agreement(claim: PublishedClaim, evidence: ViewEvidence) -> Agreement:
    """What a result shows of one claim; ``evidence`` is made once for many claims."""
    shown = tuple(_FINDERS[claim.kind](claim, evidence))
    measured = sum(each.estimate is not None for each in shown)
    parts = tuple(_part(each, claim, measured) for each in shown)
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


def ticks(claim: PublishedClaim, evidence: ViewEvidence) -> TickColumn:
    """The column of ticks of a ``BEST`` claim, published and ours.

    Ours has a tick for every environment that none is shown to beat, all pairs judged together (Bonferroni): those that
    cannot be told apart from the best share it.
    """
    known = [(role, *evidence.of(PaperArm(role, claim.places[0]))) for role in claim.among]
    arms = _in_one_cell({role: own for role, own, _ in known})
    pairs = list(combinations(arms, 2))
    beaten: dict[str, set[str]] = {role: set() for role in arms}
    for first, second in pairs:
        estimate = between(arms[first], arms[second], ERROR / len(pairs))
        if (
            estimate is None
            or estimate.low is None
            or estimate.high is None
            or withheld_of(arms[first], arms[second])
        ):
            continue
        if estimate.low > 0:
            beaten[first].add(second)
        elif estimate.high < 0:
            beaten[second].add(first)
    own = (
        Tick(
            role=role,
            published=role in claim.environments,
            ours=None if role not in arms or len(arms) == 1 else not beaten[role],
            beaten_by=tuple(sorted(beaten.get(role, ()))),
            reason=why or "; ".join(arms[role].deviations if role in arms else ()),
        )
        for role, _, why in known
    )
    return TickColumn(text=claim.text, ticks=tuple(own))


def _in_one_cell(arms: Mapping[str, Sequence[MeasuredArm]]) -> dict[str, MeasuredArm]:
    """Role → its arm in the cell that most of them have: times of different workloads are not compared."""
    counts = Counter(arm.cell for own in arms.values() for arm in own)
    cell = max(counts, key=lambda each: counts[each], default=None)
    return {role: arm for role, own in arms.items() for arm in own if arm.cell == cell}


def treated(view: View, evidence: ViewEvidence, treatment: Treatment) -> tuple[Replication, ...]:
    """The paper's own treatment of our runs in all places of a view."""
    wanted = {
        (cell, place.metric)
        for claim in view.claims
        for place in places_of(claim)
        for cell in evidence.cells(place)
    }
    return tuple(each for each in evidence.replications(treatment) if (each.cell, each.metric) in wanted)


def unknown_roles(claims: Iterable[PublishedClaim]) -> frozenset[str]:
    """Roles of claims that are none of ``analyze.roles``."""
    named = (role for claim in claims for role in (*claim.environments, *claim.among, claim.against))
    return frozenset(named) - set(ROLES) - {SAME}


def places_of(claim: PublishedClaim) -> tuple[ClaimPlace, ...]:
    """All places that a claim speaks of."""
    return (*claim.places, *((claim.against_place,) if claim.against_place else ()))


def _rate(slower: float) -> float:
    return 1 / (1 + slower) - 1


def _part(shown: MeasuredPart, claim: PublishedClaim, measured: int) -> Part:
    estimate = shown.estimate
    if estimate is None:
        return _absent(shown)
    if claim.otherwise is not None:
        shown = replace(shown, deviations=(*shown.deviations, claim.otherwise))
    ours = _as_published(estimate, claim)
    word, reason = _word(shown, ours, claim, measured)
    if shown.deviations:
        word, here, reason = AgreementWord.NOT_MEASURED, word, "; ".join(shown.deviations)
    else:
        here = None
    return Part(
        environment=shown.environment,
        what=shown.what,
        word=word,
        reason=reason,
        ours=ours,
        deviations=shown.deviations,
        here=here,
    )


def _absent(shown: MeasuredPart) -> Part:
    return Part(
        environment=shown.environment, what=shown.what, word=AgreementWord.NOT_MEASURED, reason=shown.why
    )


def _as_published(estimate: Estimate, claim: PublishedClaim) -> Estimate:
    ours = in_quantity(estimate, claim.quantity)
    return without_sign(ours) if claim.either_sign else ours


def _word(
    shown: MeasuredPart, ours: Estimate, claim: PublishedClaim, measured: int
) -> tuple[AgreementWord, str]:
    """The word of a part, and why where it needs one; beyond the bound must hold among all parts together."""
    if shown.why:
        return AgreementWord.UNDECIDED, shown.why
    word = judged(ours, claim.low, claim.high)
    if word is AgreementWord.CONTRADICTED and measured > 1 and shown.wider:
        wide = shown.wider(ERROR / measured)
        if wide is None or judged(_as_published(wide, claim), claim.low, claim.high) is not word:
            return AgreementWord.UNDECIDED, _BY_CHANCE.format(measured)
    if word is AgreementWord.UNDECIDED:
        return word, _TOO_FEW if ours.low is None else _OPEN
    return word, ""


def _reason(word: AgreementWord, parts: Sequence[Part]) -> str:
    """Each different reason of the parts once, where the word needs one."""
    if word in {AgreementWord.REPRODUCED, AgreementWord.CONTRADICTED}:
        return ""
    return "; ".join(dict.fromkeys(part.reason for part in parts if part.reason))


def _comparisons(claim: PublishedClaim, evidence: ViewEvidence) -> Iterator[MeasuredPart]:
    for place in claim.places:
        other = claim.against_place or place
        for role in claim.environments:
            second = role if claim.against == SAME else claim.against
            yield from _compared(
                evidence, PaperArm(role, place), PaperArm(second, other), by_times=claim.by_times
            )


def _compared(
    evidence: ViewEvidence, first: PaperArm, second: PaperArm, *, by_times: bool = False
) -> Iterator[MeasuredPart]:
    """One for each pair of ours that stands for this pair; one without an estimate if there is none."""
    (arms, why), (others, lacking) = evidence.of(first), evidence.of(second)
    if not arms or not others:
        yield missing(first, why or lacking)
        return
    pairs = [(arm, other) for arm in arms for other in _partners(arm, others)]
    for arm, other in pairs:
        estimate = between(arm, other, by_times=by_times)
        yield MeasuredPart(
            environment=arm.environment,
            what=f"{arm.said} against {other.said_beside(arm)}",
            estimate=estimate,
            why=NO_BLOCK if estimate is None else withheld_of(arm, other),
            deviations=tuple(dict.fromkeys((*arm.deviations, *other.deviations))),
            wider=_at_other_errors(arm, other, by_times=by_times),
        )
    if not pairs:
        yield missing(first, f"nothing of {second.said} to compare it with")


def _at_other_errors(
    first: MeasuredArm, second: MeasuredArm, *, by_times: bool
) -> Callable[[float], Estimate | None]:
    return lambda error: between(first, second, error, by_times=by_times)


def _partners(arm: MeasuredArm, others: Sequence[MeasuredArm]) -> Sequence[MeasuredArm]:
    """Those of its own workload at its own levels; if there are none, of its own workload; else any."""
    own = [other for other in others if _belong(arm, other)]
    same = [other for other in own if other.cell.workload == arm.cell.workload]
    levelled = [other for other in same if _levels(other) == _levels(arm)]
    return levelled or same or own


def _levels(arm: MeasuredArm) -> str:
    return arm.cell.layout.partition("[")[2]


def _belong(arm: MeasuredArm, other: MeasuredArm) -> bool:
    """Whether they are a pair: one environment in two places, or two in one place; not one arm with itself."""
    if arm.role == other.role and arm.environment != other.environment:
        return False
    if (arm.environment, arm.cell, arm.place.metric) == (other.environment, other.cell, other.place.metric):
        return False
    return arm.cell == other.cell or arm.place != other.place


def _bests(claim: PublishedClaim, evidence: ViewEvidence) -> Iterator[MeasuredPart]:
    """Each environment with a tick against each without one."""
    others = [role for role in claim.among if role not in claim.environments]
    for place in claim.places:
        for role in claim.environments:
            for other in others:
                yield from _compared(evidence, PaperArm(role, place), PaperArm(other, place))


def _each(
    find: Callable[[PublishedClaim, ViewEvidence, PaperArm], Iterator[MeasuredPart]],
) -> Callable[[PublishedClaim, ViewEvidence], Iterator[MeasuredPart]]:
    """What ``find`` gives for every environment and place of a claim."""

    def parts(claim: PublishedClaim, evidence: ViewEvidence) -> Iterator[MeasuredPart]:
        for place in claim.places:
            for role in claim.environments:
                yield from find(claim, evidence, PaperArm(role, place))

    return parts


_FINDERS: Mapping[ClaimKind, Callable[[PublishedClaim, ViewEvidence], Iterator[MeasuredPart]]] = {
    ClaimKind.COMPARISON: _comparisons,
    ClaimKind.BEST: _bests,
    ClaimKind.LOSS: _each(lambda claim, evidence, arm: loss_of(evidence, arm, claim.alone or "")),
    ClaimKind.VARIATION: _each(lambda _, evidence, arm: spread_of(evidence, arm)),
    ClaimKind.ORDER: _each(lambda claim, evidence, arm: order_of(evidence, arm, claim.value)),
}
