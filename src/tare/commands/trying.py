# SPDX-License-Identifier: Apache-2.0
"""The knobs that ``tare explain`` turns for each claim, their order, and the time they take."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from statistics import median

from tare.causes import KNOWN_CAUSES
from tare.errors import InputError
from tare.plan.blocks import MOST_BLOCKS
from tare.plan.campaign import Campaign
from tare.plan.durations import total_s, trial_durations_s
from tare.plan.interventions import Choice, Parent, Toggle, intervention_campaign, subject_of
from tare.plan.knobs import KNOBS, turned
from tare.plan.trials import plan_block
from tare.records import Analysis, Cell, Environment, Explanation, Outcome, Suspicion
from tare.statistics.blocks import LEAST_BLOCKS

_LONGEST_TRACED_RUN_S = 5.0
"""A tracing window, including the start and end of a node."""
_SLOWED_DOWN = 3
"""Factor on the time in the result, where that is less: tracing slows a program down."""
_MOST_BLIND = 2
"""Number of knobs that are turned without evidence for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The claims on one environment in one layout, which are explained together."""

    environment: str
    layout: str
    explanations: tuple[Explanation, ...]
    """The explanation of each claim so far."""
    suspicions: tuple[Suspicion, ...]
    """Suspicions on these claims."""

    @property
    def workloads(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(explanation.cell.workload for explanation in self.explanations))

    @property
    def claims(self) -> tuple[tuple[str, str], ...]:
        """Workload and metric of each claim."""
        return tuple((explanation.cell.workload, explanation.metric) for explanation in self.explanations)

    @property
    def choice(self) -> Choice:
        return Choice(environment=self.environment, workloads=self.workloads, layout=self.layout)


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """A knob that can be turned here, and the grounds for it."""

    toggle: Toggle
    grounds: str
    """Empty without evidence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenTries:
    """The tries that fit into the budget."""

    subject: Subject
    tries: tuple[Try, ...]
    left_out: tuple[Try, ...]
    blocks: int
    expected_s: float | None
    """``None`` if the workload's duration is unknown."""


def subjects(analysis: Analysis) -> tuple[Subject, ...]:
    """Subjects in the order of the claims, without cells in company, whose neighbours cannot be run again."""
    groups: dict[tuple[str, str], list[Explanation]] = {}
    for explanation in analysis.explanations:
        if "+" not in explanation.cell.layout:
            groups.setdefault((explanation.environment, explanation.cell.layout), []).append(explanation)
    return tuple(
        Subject(
            environment=environment,
            layout=layout,
            explanations=tuple(own),
            suspicions=tuple(_of(own, analysis.suspicions)),
        )
        for (environment, layout), own in groups.items()
    )


def _of(claims: Sequence[Explanation], suspicions: Iterable[Suspicion]) -> Iterator[Suspicion]:
    keys = {_key(claim) for claim in claims}
    return (suspicion for suspicion in suspicions if _key(suspicion) in keys)


def _key(claim: Explanation | Suspicion) -> tuple[Cell, str, str]:
    return claim.cell, claim.environment, claim.metric


def tracing_s(subject: Subject, outcomes: Sequence[Outcome]) -> float:
    """Approximate duration of the spare runs of its workloads, natively and in the environment."""
    return 2 * sum(_traced_run_s(workload, outcomes) for workload in subject.workloads)


def _traced_run_s(workload: str, outcomes: Sequence[Outcome]) -> float:
    """Duration of a traced run, from whole runs only: a share of turns underestimates it."""
    whole_s = [
        outcome.elapsed_s
        for outcome in outcomes
        if outcome.trial.workload.name == workload and outcome.turns is None
    ]
    return min(_LONGEST_TRACED_RUN_S, _SLOWED_DOWN * median(whole_s)) if whole_s else _LONGEST_TRACED_RUN_S


def tries(subject: Subject, parent: Parent) -> tuple[Try, ...]:
    """Every knob once: ordered by evidence, strongest first, then by cost, then by specificity.

    A cause's second knob comes after the first knobs of all causes with as much evidence.
    """
    arms = _turnable(subject, parent)
    rated: dict[str, tuple[tuple[int, ...], Try]] = {}
    for suspicion in subject.suspicions:
        usable = [name for name in KNOWN_CAUSES[suspicion.cause].knobs if name in arms]
        for place, knob in enumerate(usable):
            specificity = list(KNOWN_CAUSES).index(suspicion.cause)
            rating = (-suspicion.strength, place, arms[knob], specificity)
            own = Try(toggle=Toggle(text=knob, cause=suspicion.cause), grounds=suspicion.grounds)
            if knob not in rated or rating < rated[knob][0]:
                rated[knob] = rating, own
    believed = [own for _, own in sorted(rated.values(), key=lambda each: each[0])]
    return (*believed, *islice(_blind(subject, arms, set(rated)), _MOST_BLIND))


def _turnable(subject: Subject, parent: Parent) -> Mapping[str, int]:
    """Knob that can be turned here towards a cure → number of arms: a limit also needs native with it."""
    own, _ = subject_of(parent, subject.choice)
    changed = {name: turned(knob, own) for name, knob in KNOBS.items()}
    return {
        name: 1 if change.limits == own.limits else 2
        for name, change in changed.items()
        if not isinstance(change, str) and change.is_cure
    }


def _blind(subject: Subject, arms: Mapping[str, int], taken: set[str]) -> Iterator[Try]:
    """Tries for claims without evidence for any cause: knobs that cost one arm, in the table's order."""
    suspected = {_key(suspicion) for suspicion in subject.suspicions}
    dark = [explanation for explanation in subject.explanations if _key(explanation) not in suspected]
    for cause in KNOWN_CAUSES.values():
        can_be = any(cause.speeds_up or not explanation.is_gain for explanation in dark)
        for knob in cause.knobs if can_be else ():
            if arms.get(knob) == 1 and knob not in taken:
                taken.add(knob)
                yield Try(toggle=Toggle(text=knob, cause=cause.name), grounds="")


def attempt(
    subject: Subject,
    believed: Sequence[Try],
    parent: Parent,
    outcomes: Sequence[Outcome],
    budget_s: float,
    blocks: int,
) -> ChosenTries:
    """The first knobs that fit into ``budget_s``; for a single one, fewer blocks are enough."""
    block_s: float | None = 0.0
    for count in range(len(believed), 0, -1):
        toggles = [each.toggle for each in believed[:count]]
        block_s = block_duration_s(
            intervention_campaign(parent, subject.choice, toggles, blocks, subject.claims), outcomes
        )
        fitting = blocks if block_s is None else min(blocks, int(budget_s / block_s))
        if fitting >= (blocks if count > 1 else min(blocks, LEAST_BLOCKS)):
            return _attempt(subject, believed, count, fitting, block_s)
    return _attempt(subject, believed, 0, min(blocks, LEAST_BLOCKS), block_s)


def _attempt(
    subject: Subject, believed: Sequence[Try], count: int, blocks: int, block_s: float | None
) -> ChosenTries:
    return ChosenTries(
        subject=subject,
        tries=tuple(believed[:count]),
        left_out=tuple(believed[count:]),
        blocks=blocks,
        expected_s=None if block_s is None else blocks * block_s,
    )


def require_blocks(blocks: int) -> None:
    """Raise ``InputError`` unless ``blocks`` is a valid number of blocks."""
    if not 1 <= blocks <= MOST_BLOCKS:
        raise InputError(f"--blocks must be 1 to {MOST_BLOCKS}, but is {blocks}")


def block_duration_s(campaign: Campaign, outcomes: Sequence[Outcome]) -> float | None:
    """Duration of one block, by the parent's trials; a turned knob is assumed to change nothing."""
    own = campaign.intervention
    like = {change.changed: own.environment for change in own.changes} if own else {}
    trials = [
        replace(trial, environment=_like(trial.environment, like)) for trial in plan_block(campaign, 0, 0)
    ]
    return total_s(trial_durations_s(trials, outcomes))


def _like(environment: Environment, like: Mapping[str, str]) -> Environment:
    return replace(environment, name=like.get(environment.name, environment.name))
