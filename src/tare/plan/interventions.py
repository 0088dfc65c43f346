# SPDX-License-Identifier: Apache-2.0
"""The campaign that changes one knob: as it is, changed, and native, interleaved in blocks of their own."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tare.environments import PROVIDERS
from tare.environments.provider import Provider
from tare.errors import InputError
from tare.plan.definition import Campaign
from tare.plan.knob_turns import Subject
from tare.plan.knobs import Knob, knob_of, turned
from tare.plan.sharing import Setting
from tare.records import NATIVE, Environment, Intervention, Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Of what overhead the cause is sought; ``None``: the only one there is."""

    environment: str | None = None
    workload: str | None = None
    layout: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """The result that is explained."""

    path: str
    """From the folder of the new result."""
    campaign: Campaign
    session: str
    """Identity of its first session."""


def subject_of(
    campaign: Campaign, choice: Choice, providers: Mapping[str, Provider] = PROVIDERS
) -> tuple[Subject, Workload]:
    """What the choice means; ``InputError`` when it means nothing, or more than one."""
    environments = {one.name: one for one in campaign.environments}
    environment = environments[_one("--environment", choice.environment, environments)]
    cells = [(workload, setting) for workload, setting in campaign.cells if setting.company is None]
    workloads = {workload.name: workload for workload, _ in cells}
    workload = workloads[_one("--workload", choice.workload, workloads)]
    settings: dict[str, Setting] = {str(setting): setting for own, setting in cells if own == workload}
    setting = settings[_one("--layout", choice.layout, settings)]
    subject = Subject(
        environment=environment,
        limits=setting.limits,
        layout=setting.layout,
        provider=providers[environment.technology],
    )
    return subject, workload


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
    toggle: str,
    blocks: int,
    providers: Mapping[str, Provider] = PROVIDERS,
) -> Campaign:
    """All but the knob is the parent's; ``InputError`` says why it cannot be turned.

    A limit holds natively too, so that native is then run with it changed as well.
    """
    subject, workload = subject_of(parent.campaign, choice, providers)
    knob = knob_of(toggle)
    found = turned(knob, subject)
    if isinstance(found, str):
        raise InputError(f"--toggle {toggle}: {subject.environment.name} cannot do it: {found}")
    limited = found.limits != subject.limits
    changed = replace(found.environment, name=_name(subject.environment, knob))
    native = Environment(name=f"{NATIVE}-{knob.name}", technology=NATIVE)
    return replace(
        parent.campaign,
        name=f"{parent.campaign.name}: {subject.environment.name}, {knob.name}",
        environments=(subject.environment, changed, *([native] if limited else [])),
        layouts=(subject.layout,),
        workloads=(replace(workload, layouts=None),),
        limits=subject.limits,
        blocks=blocks,
        looks=(blocks,),
        budget_s=None,
        seed=None,
        sharings=(),
        orders=(),
        fail_if=(),
        intervention=Intervention(
            parent=parent.path,
            parent_campaign=parent.campaign.name,
            parent_session=parent.session,
            knob=knob.name,
            change=found.change,
            subject=found.subject,
            environment=subject.environment.name,
            changed=changed.name,
            changed_native=native.name if limited else None,
            changed_limits=found.limits if limited else None,
        ),
    )


def _name(environment: Environment, knob: Knob) -> str:
    return f"{environment.name}-{knob.name}"


def folder_name(campaign: Campaign) -> str:
    """Below the parent's folder: such as ``docker-quota-off-hpcc-1c2p1i``."""
    own = campaign.intervention
    changed = own.changed if own else campaign.name
    return f"{changed}-{campaign.workloads[0].name}-{campaign.layouts[0]}"
