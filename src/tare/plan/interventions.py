# SPDX-License-Identifier: Apache-2.0
"""The campaign that turns knobs: unchanged, with each knob turned, and native, interleaved in separate blocks."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tare.environments import PROVIDERS
from tare.errors import InputError
from tare.nodes.provider import Provider
from tare.plan.definition import Campaign
from tare.plan.factors import only_at
from tare.plan.knob_turns import KnobSubject
from tare.plan.knobs import Knob, knob_of, turned
from tare.plan.sharing import Setting
from tare.records import NATIVE, Change, Environment, Intervention, Workload

USUAL_BLOCKS = 10
_LONGEST_NAME = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The overhead to explain; ``None``: the only one."""

    environment: str | None = None
    workloads: tuple[str, ...] | None = None
    """Several are explained together: every knob is tested on all of them."""
    layout: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """The result to explain."""

    path: str
    """Path from the folder of the new result."""
    campaign: Campaign
    session: str
    """Identity of its first session."""
    providers: Mapping[str, Provider] = field(default_factory=lambda: PROVIDERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Toggle:
    """A knob to turn, or an option as ``OPTION=VALUE``, and the known cause that it tests."""

    text: str
    cause: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _TurnedArm:
    """One knob turned: the arm to compare with the unchanged environment."""

    change: Change
    environment: Environment

    @property
    def environments(self) -> tuple[Environment, ...]:
        native = self.change.changed_native
        return (self.environment, *([Environment(name=native, technology=NATIVE)] if native else []))


def subject_of(parent: Parent, choice: Choice) -> tuple[KnobSubject, tuple[Workload, ...]]:
    """Resolve the choice; ``InputError`` if it matches nothing, or more than one."""
    campaign = parent.campaign
    environments = {environment.name: environment for environment in campaign.environments}
    environment = environments[_one("--environment", choice.environment, environments)]
    cells = [(workload.name, setting) for workload, setting in campaign.cells if setting.company is None]
    measured = {name for name, _ in cells}
    known = {workload.name: workload for workload in campaign.workloads if workload.name in measured}
    names = choice.workloads or (_one("--workload", None, known),)
    workloads = tuple(known[_one("--workload", name, known)] for name in names)
    settings: dict[str, Setting] = {str(setting): setting for own, setting in cells if own in names}
    setting = settings[_one("--layout", choice.layout, settings)]
    subject = KnobSubject(
        environment=campaign.environment_at(environment, setting),
        limits=setting.limits,
        layout=setting.layout,
        provider=parent.providers[environment.technology],
        levels=setting.levels,
    )
    return subject, workloads


def _one(option: str, asked: str | None, known: Mapping[str, object]) -> str:
    names = ", ".join(known)
    if asked is None and len(known) == 1:
        return next(iter(known))
    if asked is None:
        raise InputError(f"the result has {len(known) or 'none'}; say which by {option}: {names}")
    if asked not in known:
        raise InputError(f"{option}: the result has no {asked!r} to explain; it has {names}")
    return asked


def intervention_campaign(
    parent: Parent,
    choice: Choice,
    toggles: Sequence[Toggle],
    blocks: int,
    claims: Sequence[tuple[str, str]] = (),
) -> Campaign:
    """The parent's campaign with the knobs; ``InputError`` says why a knob cannot be turned.

    A limit applies to native too, so native also runs with the changed limit. ``claims``: workload and metric of each
    claim to explain.
    """
    subject, workloads = subject_of(parent, choice)
    arms = [_arm(subject, toggle) for toggle in toggles]
    _require_different(arms)
    return replace(
        parent.campaign,
        name=f"{parent.campaign.name}: {subject.environment.name}, {', '.join(arm.change.knob for arm in arms)}",
        environments=(
            subject.environment,
            *(environment for arm in arms for environment in arm.environments),
        ),
        layouts=(subject.layout,),
        workloads=tuple(replace(workload, layouts=None) for workload in workloads),
        limits=subject.limits,
        blocks=blocks,
        looks=(blocks,),
        budget_s=None,
        seed=None,
        sharings=(),
        orders=(),
        factors=only_at(parent.campaign.factors, subject.levels),
        fail_if=(),
        intervention=Intervention(
            parent=parent.path,
            parent_campaign=parent.campaign.name,
            parent_session=parent.session,
            environment=subject.environment.name,
            changes=tuple(arm.change for arm in arms),
            claims=tuple(claims),
        ),
    )


def _require_different(arms: Sequence[_TurnedArm]) -> None:
    names = [arm.environment.name for arm in arms]
    if again := [name for name in names if names.count(name) > 1]:
        raise InputError(f"--toggle: {again[0]} is asked for twice; name each knob once")


def _arm(subject: KnobSubject, toggle: Toggle) -> _TurnedArm:
    knob = knob_of(toggle.text)
    changed = turned(knob, subject)
    if isinstance(changed, str):
        raise InputError(f"--toggle {toggle.text}: {subject.environment.name} cannot do it: {changed}")
    limited = changed.limits != subject.limits
    environment = replace(changed.environment, name=_name(subject.environment, knob))
    change = Change(
        knob=knob.name,
        change=changed.change,
        subject=changed.subject,
        changed=environment.name,
        changed_native=f"{NATIVE}-{knob.name}" if limited else None,
        changed_limits=changed.limits if limited else None,
        cause=toggle.cause,
        is_cure=changed.is_cure,
    )
    return _TurnedArm(change=change, environment=environment)


def _name(environment: Environment, knob: Knob) -> str:
    return f"{environment.name}-{knob.name}"


def folder_name(campaign: Campaign) -> str:
    """A name below the parent's folder, such as ``docker-quota-off-hpcc-1c2p1i``.

    For causes that Tare chose to test it is always ``docker-causes-hpcc-1c2p1i``.
    """
    own = campaign.intervention
    changes = own.changes if own else ()
    by_hand = [change.knob for change in changes if change.cause is None]
    knobs = "+".join(by_hand) if by_hand else "causes"
    workloads = "+".join(workload.name for workload in campaign.workloads)
    setting = next((str(setting) for _, setting in campaign.cells), str(campaign.layouts[0]))
    blocks = "" if campaign.blocks == USUAL_BLOCKS else f"-{campaign.blocks}-blocks"
    name = f"{own.environment if own else campaign.name}-{knobs}-{workloads}-{setting}{blocks}"
    return name if len(name) <= _LONGEST_NAME else _shortened(name)


def _shortened(name: str) -> str:
    """The name within the 255 bytes of a file name."""
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: _LONGEST_NAME - len(digest) - 1]}-{digest}"
