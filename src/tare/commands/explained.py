# SPDX-License-Identifier: Apache-2.0
"""The result for ``tare explain``: its kept data, and the campaigns that can be set beside it."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tare.commands.trying import ChosenTries, Subject, attempt, require_blocks, tracing_s, tries
from tare.environments import PROVIDERS
from tare.errors import InputError
from tare.image.store import find_image
from tare.journal.calls import keep_calls, read_calls
from tare.journal.result import ResultFolder
from tare.measure.campaign import Audience, Request
from tare.measure.kept import kept_campaign
from tare.nodes.provider import Provider
from tare.plan.campaign import Campaign, with_overrides
from tare.plan.interventions import (
    USUAL_BLOCKS,
    Choice,
    Parent,
    Toggle,
    folder_name,
    intervention_campaign,
)
from tare.records import (
    NATIVE,
    Analysis,
    Attribution,
    Cell,
    Explanation,
    InterventionVerdict,
    Session,
    Suspicion,
    TracedCalls,
)
from tare.units import parse_duration_s

BUDGET_S = 300.0
"""Default time for all claims on one environment in one layout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainOptions:
    """Options from the command line."""

    toggles: tuple[str, ...] = ()
    environment: str | None = None
    workload: str | None = None
    layout: str | None = None
    blocks: int = USUAL_BLOCKS
    seed: int | None = None
    budget: str | None = None
    dry_run: bool = False
    output: Path | None = None

    @property
    def budget_s(self) -> float:
        """The time budget; ``InputError`` if it is not a duration."""
        try:
            return BUDGET_S if self.budget is None else parse_duration_s(self.budget)
        except ValueError as error:
            raise InputError(f"--budget: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """A result with trials, measured with the present image."""

    folder: ResultFolder
    campaign: Campaign
    analysis: Analysis
    options: ExplainOptions
    providers: Mapping[str, Provider]

    def parent(self, path: str = "") -> Parent:
        session = self.analysis.sessions[0].identity
        return Parent(path=path, campaign=self.campaign, session=session, providers=self.providers)

    def tracing_s(self, subject: Subject) -> float:
        return tracing_s(subject, self.analysis.outcomes)

    def attempt(self, subject: Subject, left_s: float) -> ChosenTries:
        """The tries that fit into the remaining time."""
        parent = self.parent()
        believed = tries(subject, parent)
        return attempt(subject, believed, parent, self.analysis.outcomes, left_s, self.options.blocks)

    def trace(self, subject: Subject, audience: Audience) -> None:
        """Count the calls of spare runs, and keep them beside earlier counts."""
        from tare.measure.traced_calls import trace_calls

        known = read_calls(self.folder.explanation) or TracedCalls(counts={}, untraced={})
        campaign = intervention_campaign(self.parent(), subject.choice, (), 1)
        traced = trace_calls(self._request(campaign, self.folder), audience)
        keep_calls(self.folder.explanation, known.joined(traced))

    def untraced(self, subject: Subject) -> list[str]:
        """Why calls could not be counted, in a sentence for each reason."""
        traced = read_calls(self.folder.explanation)
        reasons = {
            (name, reason): None
            for explanation in subject.explanations
            for name, reason in (traced.untraced.get(explanation.cell, {}) if traced else {}).items()
            if name in {NATIVE, subject.environment}
        }
        return [f"  the system calls of {name} are not counted: {reason}" for name, reason in reasons]

    def begun(self, subject: Subject) -> Request | None:
        """Request to continue a begun attempt on a subject, whatever the evidence now; ``None`` without one.

        Another number of blocks makes another attempt, in its own folder.
        """
        folder = self._folder(intervention_campaign(self.parent(), subject.choice, (), self.options.blocks))
        return self._request(kept_campaign(folder), folder) if folder.exists() else None

    def planned(
        self,
        choice: Choice,
        toggles: Sequence[Toggle],
        blocks: int,
        claims: Sequence[tuple[str, str]],
    ) -> Request:
        """Request to turn knobs, in its own folder; ``InputError`` says which ones cannot be turned."""
        asked = intervention_campaign(self.parent(), choice, toggles, self.options.blocks, claims)
        folder = self._folder(asked)
        self._require_own(folder)
        parent = self.parent(os.path.relpath(self.folder.path.resolve(), folder.path.resolve()))
        campaign = intervention_campaign(parent, choice, toggles, blocks, claims)
        return self._request(with_overrides(campaign, seed=self.options.seed), folder)

    def _require_own(self, folder: ResultFolder) -> None:
        """Raise ``InputError`` where the folder holds something that does not explain this result."""
        if not folder.exists():
            return
        kept = kept_campaign(folder).intervention
        if kept is None or kept.parent_session != self.parent().session:
            raise InputError(f"{folder.path} holds another result, which does not explain {self.folder.path}")

    def _folder(self, campaign: Campaign) -> ResultFolder:
        return ResultFolder(self.options.output or self.folder.explanation / folder_name(campaign))

    def _request(self, campaign: Campaign, folder: ResultFolder) -> Request:
        image_name = self.analysis.sessions[0].image_name
        return Request(campaign=campaign, folder=folder, image_name=image_name, providers=self.providers)


def explained(
    result: Path,
    analysis: Analysis,
    options: ExplainOptions,
    providers: Mapping[str, Provider] = PROVIDERS,
) -> Explained:
    """Open a result; ``InputError`` where no new block could be compared with its blocks."""
    require_blocks(options.blocks)
    folder = ResultFolder(result)
    campaign = kept_campaign(folder)
    if campaign.intervention is not None:
        raise InputError(f"{result} is an intervention itself; explain the result that it belongs to")
    if not analysis.sessions:
        raise InputError(f"{result} holds no trial yet; continue it first: tare run {result}")
    _require_same_image(result, analysis.sessions[0])
    return Explained(
        folder=folder, campaign=campaign, analysis=analysis, options=options, providers=providers
    )


def _require_same_image(result: Path, begun: Session) -> None:
    image = find_image(begun.image_name)
    if image.digest != begun.image_digest:
        raise InputError(
            f"{result} was measured with another image than {image.name} is now; an intervention must change the "
            "knob alone: bring that image back, or measure the campaign anew"
        )


def narrowed(analysis: Analysis, options: ExplainOptions) -> Analysis:
    """The analysis, limited by the options; ``InputError`` if nothing remains."""
    wanted = (options.environment, options.workload, options.layout)
    if options.environment == NATIVE:
        raise InputError("--environment: native is what all is compared with; choose another")

    def fits(item: Attribution | Explanation | Suspicion) -> bool:
        return is_asked(item.environment, item.cell)

    def fits_turned(verdict: InterventionVerdict) -> bool:
        return is_asked(verdict.intervention.environment, verdict.cell)

    def is_asked(environment: str, cell: Cell) -> bool:
        own = (environment, cell.workload, cell.layout)
        return all(asked in {None, had} for asked, had in zip(wanted, own, strict=True))

    kept = tuple(attribution for attribution in analysis.attributions if fits(attribution))
    if any(wanted) and not kept:
        asked = ", ".join(filter(None, wanted))
        raise InputError(f"the result has no verdict on {asked}; `tare show` lists what it has")
    return replace(
        analysis,
        attributions=kept,
        explanations=tuple(filter(fits, analysis.explanations)),
        suspicions=tuple(filter(fits, analysis.suspicions)),
        interventions=tuple(
            intervention_verdict
            for intervention_verdict in analysis.interventions
            if fits_turned(intervention_verdict)
        ),
    )
