# SPDX-License-Identifier: Apache-2.0
"""The fate of each claim of a paper: by its agreement, and, where nothing could be measured, by what the host lacks."""

from collections.abc import Iterable, Iterator, Mapping

from tare.analyze.otherwise import OTHERWISE
from tare.analyze.published import agreement, places_of
from tare.analyze.roles import ROLES
from tare.analyze.view_evidence import ViewEvidence
from tare.records import NATIVE, Analysis, Skipped, Status
from tare.records.published import (
    Agreement,
    AgreementWord,
    ClaimKind,
    Paper,
    Part,
    PresetMatrix,
    PublishedClaim,
)
from tare.records.reproduced import ClaimFate, ListedClaim
from tare.records.scaled import Scaled, Short

_FATES: Mapping[AgreementWord, ClaimFate] = {
    AgreementWord.REPRODUCED: ClaimFate.REPRODUCED,
    AgreementWord.CONTRADICTED: ClaimFate.CONTRADICTED,
    AgreementWord.UNDECIDED: ClaimFate.UNDECIDED,
}
_NEEDS: Mapping[Short, str] = {
    Short.HOSTS: "more hosts, by --hosts",
    Short.PROCESSORS: "a host with as many processors as the paper's",
    Short.MEMORY: "a host with more memory",
    Short.TIME: "a longer --budget, in a new result",
}
_OF_LAYOUTS = frozenset({Short.HOSTS, Short.PROCESSORS})
_AS_ASKED = "a result of the preset as it is: another -o"
_POSSIBLE = frozenset({_NEEDS[Short.TIME], _AS_ASKED})
"""Needs that this host can meet."""


def listed(paper: Paper, analysis: Analysis, asked: PresetMatrix | None = None) -> tuple[ListedClaim, ...]:
    """Every claim of the paper, in the order of its pages; ``asked`` as of ``ViewEvidence``."""
    evidence = ViewEvidence(analysis, asked)
    ended = len(analysis.outcomes) >= analysis.planned_trials and not analysis.cut_by_budget
    return tuple(
        _listed(
            ListedClaim(view=view, agreement=agreed, fate=ClaimFate.NOT_YET, why=agreed.reason),
            evidence,
            ended,
        )
        for view in paper.views
        for agreed in (agreement(claim, evidence) for claim in view.claims)
    )


def unmeasured(
    paper: Paper, why: str, *, possible: bool, needs: tuple[str, ...] = ()
) -> tuple[ListedClaim, ...]:
    """Every claim of a paper of which nothing is known: nothing was run, or can be run here, or can be read."""
    return tuple(
        ListedClaim(
            view=view,
            agreement=Agreement(claim=claim, word=AgreementWord.NOT_MEASURED, reason=why, parts=()),
            fate=ClaimFate.NOT_YET if possible else ClaimFate.IMPOSSIBLE,
            why=why,
            needs=needs,
        )
        for view in paper.views
        for claim in view.claims
    )


def _listed(claim: ListedClaim, evidence: ViewEvidence, ended: bool) -> ListedClaim:
    """The claim with its fate: what this host lacks counts before what failed, and that before what was not run."""
    agreed, analysis = claim.agreement, evidence.analysis
    needs = tuple(dict.fromkeys(_needs(agreed, analysis)))
    lacking = set(needs) - _POSSIBLE
    lost = "" if lacking else _failed(agreed, evidence)
    fate = _FATES.get(agreed.word)
    if fate is None:
        absent = any(part.ours is None for part in agreed.parts)
        failed = lost and _was_planned(agreed.claim, evidence)
        comes = agreed.claim.otherwise is None and (needs or (absent and (failed or not ended)))
        fate = ClaimFate.NOT_YET if comes and not lacking else ClaimFate.IMPOSSIBLE
    if fate is ClaimFate.NOT_YET:
        needs = (*needs, *_damage(analysis))
    decided = fate in {ClaimFate.REPRODUCED, ClaimFate.CONTRADICTED}
    return ListedClaim(
        view=claim.view,
        agreement=agreed,
        fate=fate,
        why="" if decided else "; ".join(filter(None, (lost, _why(agreed, analysis)))),
        needs=needs if fate in {ClaimFate.IMPOSSIBLE, ClaimFate.NOT_YET} else (),
    )


def _damage(analysis: Analysis) -> Iterator[str]:
    """What to do where trials may be lost as the result is not as it was written."""
    if damage := analysis.integrity.damage:
        more = f" and {len(damage) - 1} more" if len(damage) > 1 else ""
        yield f"the same command again, as the result is damaged ({damage[0].sentence}{more}) and lost trials run anew"


def _was_planned(claim: PublishedClaim, evidence: ViewEvidence) -> bool:
    """Whether the result has all environments and places of a claim, so that nothing but figures is lacking."""
    ordered = claim.kind is ClaimKind.ORDER  # whose trials are in no place
    places = () if ordered else places_of(claim)
    roles = {*claim.environments, *claim.among, claim.against} & set(ROLES)
    return all(map(evidence.named, roles)) and all(map(evidence.cells, places))


def _failed(agreed: Agreement, evidence: ViewEvidence) -> str:
    """That trials of what a claim lacks were run and failed; empty where none was."""
    claim, absent = agreed.claim, {part.environment for part in agreed.parts if part.ours is None}
    if not absent:
        return ""
    roles = {*absent, *claim.among, claim.against, NATIVE} & set(ROLES)
    names = {name for role in roles for name in evidence.named(role)}
    layouts = {place.layout for place in places_of(claim)}
    kinds = {kind for place in places_of(claim) for kind in place.kinds}
    failed = (
        outcome
        for outcome in evidence.analysis.outcomes
        if outcome.status is not Status.OK
        and outcome.trial.workload.kind in kinds
        and str(outcome.trial.layout) in layouts
        and outcome.trial.environment.name in names
    )
    first = next(failed, None)
    return f"its trials failed: {first.reason or first.status}" if first else ""


def _why(agreed: Agreement, analysis: Analysis) -> str:
    """The reasons of all parts, each once and in few words."""
    briefs = {point.sentence: point.brief for point in analysis.scaled}
    reasons = [text for part in agreed.parts for text in (part.deviations or (part.reason,)) if text]
    reasons += [point.brief for point in _lesser(agreed, analysis)]
    return "; ".join(dict.fromkeys(briefs.get(text, text) for text in reasons)) or agreed.reason


def _needs(agreed: Agreement, analysis: Analysis) -> Iterator[str]:
    """What each part that was not measured lacks."""
    for part in agreed.parts:
        if part.word is AgreementWord.NOT_MEASURED:
            yield from _of_part(part, agreed.claim, analysis)
    yield from map(need_of, _lesser(agreed, analysis))


def _lesser(agreed: Agreement, analysis: Analysis) -> Iterator[Scaled]:
    """The points by which a layout of a claim that was not measured can never be the paper's here, run or not.

    It is left out, or has other hosts or processors: the claim's environments may lack more than that.
    """
    if agreed.word is AgreementWord.NOT_MEASURED:
        layouts = {place.layout for place in places_of(agreed.claim)}
        yield from (
            point
            for point in analysis.scaled
            if (point.here is None or point.short_of in _OF_LAYOUTS) and layouts & set(point.what.split(", "))
        )


def _of_part(part: Part, claim: PublishedClaim, analysis: Analysis) -> Iterator[str]:
    said = {*part.deviations, part.reason}
    for point in analysis.scaled:
        if point.sentence in said:
            yield need_of(point)
    if any(deviation.startswith(OTHERWISE) for deviation in part.deviations):
        yield _AS_ASKED
    if any("TCG" in deviation for deviation in part.deviations):
        yield "a host whose KVM works"
    if part.ours is None:
        wanted = (part.environment, claim.against, *claim.among)
        yield from (skip.remedy for skip in analysis.skipped if _is_one_of(skip, wanted, part))


def _is_one_of(skip: Skipped, roles: Iterable[str], part: Part) -> bool:
    """Whether it is why this part is missing: an environment of the claim, and its reason."""
    if skip.reason not in part.reason:
        return False
    technologies = {name for role in roles if role in ROLES for name in ROLES[role].technologies}
    return skip.environment in roles or any(skip.environment.startswith(name) for name in technologies)


def need_of(point: Scaled) -> str:
    """What a host would need to measure it as it was asked."""
    return _NEEDS.get(point.short_of) or point.why.rpartition(": ")[2]
