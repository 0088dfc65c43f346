# SPDX-License-Identifier: Apache-2.0
"""The campaign as a record, with the form in which a result folder keeps it."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

from pydantic import TypeAdapter, ValidationError

from tare.environments import PROVIDERS
from tare.errors import CampaignError
from tare.nodes.provider import TOOLS_DIRECTORY, Provider
from tare.plan.order import Order
from tare.plan.problems import printable
from tare.plan.sharing import Setting, Sharing, settings
from tare.records import (
    ROOT,
    SCHEMA,
    USUAL_PRECISE_ABSOLUTE,
    USUAL_PRECISE_RELATIVE,
    Cell,
    Design,
    Environment,
    Exclude,
    FailIf,
    Intervention,
    Layout,
    Limits,
    SharedCell,
    Turns,
    Workload,
    check_user,
)
from tare.workloads import KINDS
from tare.workloads.kind import Shape, Span, WorkloadKind

_DAMAGED = "the file is damaged or of another version; start a new result folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """A valid campaign; everything that may be left out of a file has its value here."""

    name: str
    environments: tuple[Environment, ...]
    """Without native, which is always there."""
    layouts: tuple[Layout, ...]
    """Those of the sharing experiments among them."""
    workloads: tuple[Workload, ...]
    """Those that are measured."""
    limits: Limits
    blocks: int
    margin: float
    """Overheads within plus or minus this fraction count as none."""
    budget_s: float | None
    seed: int | None
    """``None``: the runner draws one and logs it."""
    user: str | None = None
    """Whom the commands run as: ``root`` or ``UID:GID``; ``ordinary`` or ``None``: the runner settles it."""
    binds: tuple[str, ...] = ()
    """Directories of the host shown in every node at the same path: ``/path:ro`` or ``/path:rw``."""
    sharings: tuple[Sharing, ...] = ()
    orders: tuple[Order, ...] = ()
    looks: tuple[int, ...] = ()
    """After how many blocks is looked, rising; the last is ``blocks``. Left out: once, after all."""
    precise_absolute: float = USUAL_PRECISE_ABSOLUTE
    """Half-width of an interval that is precise enough, as a fraction..."""
    precise_relative: float = USUAL_PRECISE_RELATIVE
    """...or, if that is more, this part of the overhead itself."""
    fail_if: tuple[FailIf, ...] = ()
    """What makes ``tare run`` end with exit code 1."""
    undecided_fails: bool = True
    """Whether a condition that the data cannot decide does so too."""

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for looks that do not lead to ``blocks``; a single look follows them."""
        if len(self.looks) <= 1:
            object.__setattr__(self, "looks", (self.blocks,))
        if self.looks[-1] != self.blocks or list(self.looks) != sorted(set(self.looks)) or self.looks[0] < 1:
            raise ValueError(f"the looks {self.looks} do not rise to {self.blocks} blocks")

    @property
    def design(self) -> Design:
        """All that was declared before the start and decides when an arm stops."""
        return Design(
            looks=self.looks,
            margin=self.margin,
            precise_absolute=self.precise_absolute,
            precise_relative=self.precise_relative,
            fail_if=self.fail_if,
            whole=frozenset(
                Cell(workload=workload.name, layout=str(setting))
                for workload, setting in self.cells
                if setting.alone
            ),
        )

    turns: Turns | None = dataclasses.field(default_factory=Turns)
    """How the arms of a block take turns, where they can; ``None``: every trial runs whole, by itself."""
    auto_slice: bool = False
    """A native pilot is to choose the slices' length; what a result keeps has it chosen."""
    exclude: Exclude = dataclasses.field(default_factory=Exclude)
    """The rules, fixed before the start, that take a trial out whatever it measured."""
    intervention: Intervention | None = None
    """What it is a test of, if ``tare explain`` made it."""

    def limits_of(self, environment: Environment, limits: Limits) -> Limits:
        """Those of one arm: all have the setting's, but for the arms whose limit is the knob of an intervention."""
        changes = self.intervention.changes if self.intervention else ()
        changed = (change.changed_limits for change in changes if environment.name in change.arms)
        return next(filter(None, changed), limits)

    @property
    def settings(self) -> tuple[Setting, ...]:
        """In what every workload is measured: a setting and a workload make a cell."""
        return settings(self.layouts, self.sharings, self.limits)

    @property
    def cells(self) -> tuple[tuple[Workload, Setting], ...]:
        """All that is run once in each environment and block."""
        return tuple(
            (workload, setting)
            for workload in self.workloads
            for setting in self.settings
            if workload.runs_in(setting.layout)
        )

    @property
    def shared_cells(self) -> tuple[SharedCell, ...]:
        """The cells of the sharing experiments in which an instance has company, each with the one alone."""
        return tuple(
            SharedCell(
                shared=Cell(workload=workload.name, layout=str(setting)),
                alone=Cell(workload=workload.name, layout=str(setting.alone)),
            )
            for workload, setting in self.cells
            if setting.alone and str(setting) != str(setting.alone)
        )

    @property
    def neighbours(self) -> tuple[Workload, ...]:
        """Workloads that run beside a measured one."""
        return tuple(sharing.neighbour.workload for sharing in self.sharings if sharing.neighbour)

    @property
    def needed_environments(self) -> tuple[Environment, ...]:
        """The measured ones, without native, and those of neighbours."""
        companies = [sharing.neighbour for sharing in self.sharings if sharing.neighbour]
        others = [company.environment for company in companies if company.environment]
        return tuple({entry.name: entry for entry in (*self.environments, *others)}.values())

    def to_json(self) -> dict[str, Any]:
        """Return the canonical form; ``from_json`` makes an equal campaign of it."""
        return {"schema": SCHEMA} | dataclasses.asdict(self)

    @classmethod
    def from_json(
        cls,
        data: object,
        where: str,
        *,
        providers: Mapping[str, Provider] = PROVIDERS,
        kinds: Mapping[str, WorkloadKind] = KINDS,
    ) -> Self:
        """Undo ``to_json``; ``CampaignError`` names ``where`` if the data is damaged or of another schema.

        One that says nothing of a user was kept by an earlier version, whose commands were root.
        """
        name = printable(where)
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise CampaignError(f"{name}: is not a campaign of schema {SCHEMA}; start a new result folder")
        try:
            fields = {"user": ROOT, **{key: value for key, value in data.items() if key != "schema"}}
            campaign: Self = _adapter().validate_python(fields)
            _check_kept(campaign, providers, kinds)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = printable(".".join(str(part) for part in first["loc"]))
            raise CampaignError(f"{name}: {key}: {first['msg']}; {_DAMAGED}") from None
        except ValueError as error:
            raise CampaignError(f"{name}: {printable(str(error))}; {_DAMAGED}") from None
        return campaign


@cache
def _adapter() -> TypeAdapter[Any]:
    return TypeAdapter(Campaign)


def _check_kept(
    campaign: Campaign, providers: Mapping[str, Provider], kinds: Mapping[str, WorkloadKind]
) -> None:
    """``ValueError`` for what the rest of this version could not work with."""
    if campaign.user is not None:
        check_user(campaign.user)
    for layout in campaign.layouts:
        Layout.parse(str(layout))
    for environment in campaign.needed_environments:
        if environment.technology not in providers:
            raise ValueError(f"this version has no technology {environment.technology!r}")
    ordered = [order.workload for order in campaign.orders]
    for workload in (*campaign.workloads, *campaign.neighbours, *ordered):
        if workload.kind not in kinds:
            raise ValueError(f"this version has no workload {workload.kind!r}")
        kinds[workload.kind].options_model.model_validate(dict(workload.options))
    if not (campaign.layouts and (campaign.workloads or ordered) and campaign.blocks > 0 < campaign.margin):
        raise ValueError("layouts, workloads, blocks or the margin are missing")
    for sharing in campaign.sharings:
        if not sharing.together and not sharing.neighbour:
            raise ValueError(f"the sharing experiment of {sharing.alone} has no company")


def shape_of(
    layout: Layout, limits: Limits, instance: int = 0, tools_directory: str = TOOLS_DIRECTORY
) -> Shape:
    """Give one instance its equal share of the layout's processors and memory."""
    hosts = tuple(f"node-{number}" for number in range(layout.nodes // layout.instances))
    return Shape(
        processors=layout.ranks,
        memory_byte=limits.memory_byte // layout.instances,
        instance=instance,
        tools_directory=tools_directory,
        span=Span(hosts=hosts, subnet="198.18.0.0/16") if layout.cooperative else None,
    )
