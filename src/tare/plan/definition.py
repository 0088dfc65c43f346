# SPDX-License-Identifier: Apache-2.0
"""The campaign as a record, with its form in a result folder."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any, Self

from pydantic import TypeAdapter, ValidationError

from tare.environments import PROVIDERS
from tare.errors import CampaignError
from tare.nodes.provider import TOOLS_DIRECTORY, Provider
from tare.plan.factors import (
    Factor,
    at_levels,
    cells_by_level,
    chosen_combinations,
    in_environment,
    under_limits,
)
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
    FactorCells,
    FailIf,
    Intervention,
    Layout,
    Limits,
    MpiLauncher,
    NamedHost,
    ScanChoice,
    SharedCell,
    Turns,
    Workload,
    check_user,
)
from tare.records.scaled import Scaled
from tare.workloads import KINDS, scan_of
from tare.workloads.kind import Shape, Span, WorkloadKind

_OF_NO_FILE = {"schema", "added_from"}
"""Keys that are no part of a stored campaign: sessions add blocks."""
_DAMAGED = "the file is damaged or of another version; start a new result folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """A valid campaign; everything that a file may omit has its value here."""

    name: str
    environments: tuple[Environment, ...]
    """All but native, which is always present."""
    layouts: tuple[Layout, ...]
    """Includes the layouts of the sharing experiments."""
    workloads: tuple[Workload, ...]
    """Measured workloads."""
    limits: Limits
    blocks: int
    margin: float
    """Overheads within plus or minus this fraction count as none."""
    budget_s: float | None
    seed: int | None
    """``None``: the runner draws one and logs it."""
    user: str | None = None
    """User of the commands: ``root`` or ``UID:GID``; ``ordinary`` or ``None``: the runner decides."""
    binds: tuple[str, ...] = ()
    """Host directories mounted in every node at the same path: ``/path:ro`` or ``/path:rw``."""
    devices: tuple[str, ...] = ()
    """Devices of the host that every node gets: kinds such as ``nvidia``, or paths such as ``/dev/fuse``."""
    hosts: tuple[NamedHost, ...] = ()
    """The hosts that have its nodes; empty: the one on which Tare runs."""
    subnet: str | None = None
    """The address range in which the hosts reach each other; ``None``: the first that they have in common."""
    mpi_launcher: MpiLauncher = MpiLauncher.TARE
    """What starts the processes of an instance that spans hosts, in every arm."""
    sharings: tuple[Sharing, ...] = ()
    orders: tuple[Order, ...] = ()
    factors: tuple[Factor, ...] = ()
    """Each is varied in its levels, in all combinations."""
    looks: tuple[int, ...] = ()
    """Block counts at which a look takes place, ascending; the last is ``blocks``. Omitted: once, after all."""
    precise_absolute: float = USUAL_PRECISE_ABSOLUTE
    """Half-width of an interval that is precise enough, as a fraction..."""
    precise_relative: float = USUAL_PRECISE_RELATIVE
    """...or this fraction of the overhead itself, if that is more."""
    fail_if: tuple[FailIf, ...] = ()
    """Conditions that make ``tare run`` end with exit code 1."""
    undecided_fails: bool = True
    """Whether a condition that the data cannot decide does so too."""
    fit: bool = False
    """Whether what this host cannot do was made smaller or left out."""
    scaled: tuple[Scaled, ...] = ()
    """What this host measures otherwise than the file asks, or not at all (``fit = true``)."""
    added_from: tuple[int, ...] = ()
    """Block counts at which the result was finished and got more blocks; none in a stored campaign."""

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for looks that do not lead to ``blocks``; a single look follows them."""
        if len(self.looks) <= 1:
            object.__setattr__(self, "looks", (self.blocks,))
        if self.looks[-1] != self.blocks or list(self.looks) != sorted(set(self.looks)) or self.looks[0] < 1:
            raise ValueError(f"the looks {self.looks} do not rise to {self.blocks} blocks")

    @property
    def design(self) -> Design:
        """The rules, declared before the start, that decide when an arm stops."""
        return Design(
            looks=self.looks,
            margin=self.margin,
            precise_absolute=self.precise_absolute,
            precise_relative=self.precise_relative,
            fail_if=tuple(condition for condition in self.fail_if if not condition.loss),
            added_from=self.added_from,
            whole=frozenset(
                Cell(workload=workload.name, layout=str(setting))
                for workload, setting in self.cells
                if setting.experiment or setting.levels or self.compares_layouts
            ),
        )

    turns: Turns | None = dataclasses.field(default_factory=Turns)
    """How the arms of a block take turns, where they can; ``None``: every trial runs whole, by itself."""
    auto_slice: bool = False
    """Whether a native pilot is to choose the slices' length; a stored campaign has the chosen length."""
    exclude: Exclude = dataclasses.field(default_factory=Exclude)
    """The rules, fixed before the start, that exclude a trial whatever it measured."""
    intervention: Intervention | None = None
    """What it tests, if ``tare explain`` made it."""
    choices: tuple[ScanChoice, ...] = ()
    """Options that the file leaves open, as native runs chose them before the first trial."""

    def limits_of(self, environment: Environment, limits: Limits) -> Limits:
        """The limits of one arm: those of the setting, unless a limit is the knob of an intervention."""
        changes = self.intervention.changes if self.intervention else ()
        changed = (change.changed_limits for change in changes if environment.name in change.arms)
        return next(filter(None, changed), limits)

    @property
    def compares_layouts(self) -> bool:
        """Whether the layouts are the levels of a factor."""
        return any(factor.changes_layouts for factor in self.factors)

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The settings in which every workload is measured, without the levels of factors."""
        return settings(self.layouts, self.sharings, self.limits)

    @property
    def cells(self) -> tuple[tuple[Workload, Setting], ...]:
        """Everything that runs once in each environment and block: a workload and a setting make a cell."""
        return tuple(
            (
                self._as_chosen(at_levels(workload, chosen), setting),
                dataclasses.replace(setting, levels=tuple(level for _, level in chosen)),
            )
            for workload in self.workloads
            for chosen in chosen_combinations(self.factors, workload)
            for setting in settings(
                self.layouts, self._sharings_of(workload), under_limits(self.limits, chosen)
            )
            if workload.runs_in(setting.layout)
        )

    def _sharings_of(self, workload: Workload) -> tuple[Sharing, ...]:
        return tuple(sharing for sharing in self.sharings if sharing.concerns(workload.name))

    def _as_chosen(self, workload: Workload, setting: Setting) -> Workload:
        """The workload with what was chosen for instances of this size, where it still leaves that open."""
        own = [choice for choice in self.choices if choice.workload == workload.name]
        if not own:
            return workload
        scan, processors = scan_of(workload, shape_of(setting.layout, setting.limits))
        options = [choice.options for choice in own if scan and choice.processors == processors]
        return (
            dataclasses.replace(workload, options={**workload.options, **options[0]}) if options else workload
        )

    @property
    def workloads_at_levels(self) -> tuple[Workload, ...]:
        """The measured workloads, each at all its levels under the same name."""
        return tuple(
            at_levels(workload, chosen)
            for workload in self.workloads
            for chosen in chosen_combinations(
                [own for own in self.factors if own.changes_workloads], workload
            )
        )

    @property
    def has_quota(self) -> bool:
        """Whether any trial has a CPU quota."""
        own = (setting.limits.cpu_quota for _, setting in self.cells)
        return self.limits.cpu_quota is not None or any(quota is not None for quota in own)

    def environment_at(self, environment: Environment, setting: Setting) -> Environment:
        """The environment at the setting's levels, under the same name; itself if none of them concerns it."""
        for factor in self.factors:
            for level in setting.levels:
                if level.key == factor.key:
                    environment = in_environment(environment, factor, level)
        return environment

    @property
    def factor_cells(self) -> tuple[FactorCells, ...]:
        """For each factor and workload that it concerns the cells at its levels, averaged over other factors."""
        return tuple(
            cells
            for workload in self.workloads
            for factor in self.factors
            for cells in cells_by_level(
                factor,
                self.compares_layouts,
                [(own.name, setting) for own, setting in self.cells if own.name == workload.name],
            )
        )

    @property
    def shared_cells(self) -> tuple[SharedCell, ...]:
        """The cells of sharing experiments in which an instance or group has company, each with its cell alone."""
        return tuple(
            SharedCell(
                shared=Cell(workload=workload.name, layout=str(setting)),
                alone=Cell(workload=workload.name, layout=setting.alone(sharing)),
            )
            for workload, setting in self.cells
            for sharing in self._sharings_of(workload)
            if sharing.has_company_in(setting)
        )

    @property
    def neighbours(self) -> tuple[Workload, ...]:
        """Workloads that run beside a measured one."""
        return tuple(sharing.neighbour.workload for sharing in self.sharings if sharing.neighbour)

    @property
    def needed_environments(self) -> tuple[Environment, ...]:
        """The measured environments, without native, and the environments of neighbours."""
        companies = [sharing.neighbour for sharing in self.sharings if sharing.neighbour]
        others = [company.environment for company in companies if company.environment]
        return tuple({entry.name: entry for entry in (*self.environments, *others)}.values())

    @property
    def environments_at_levels(self) -> tuple[Environment, ...]:
        """The needed environments, each in every form that the levels of factors give it."""
        levels = {level: None for factor in self.factors for level in factor.levels}
        settings_of = [setting for _, setting in self.cells] if levels else []
        forms = [
            self.environment_at(environment, setting)
            for environment in self.needed_environments
            for setting in settings_of
        ] or self.needed_environments
        return tuple(form for place, form in enumerate(forms) if form not in forms[:place])

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
        """Parse the output of ``to_json``; ``CampaignError`` names ``where`` if it is damaged or of another schema.

        A campaign without a user was stored by an earlier version, whose commands ran as root.
        """
        name = printable(where)
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise CampaignError(f"{name}: is not a campaign of schema {SCHEMA}; start a new result folder")
        try:
            fields = {"user": ROOT, **{key: value for key, value in data.items() if key not in _OF_NO_FILE}}
            campaign: Self = _adapter().validate_python(fields)
            _check_kept(campaign, providers, kinds)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = printable(".".join(str(part) for part in first["loc"]))
            raise CampaignError(f"{name}: {key}: {first['msg']}; {_DAMAGED}") from None
        except ValueError as error:
            raise CampaignError(f"{name}: {printable(str(error))}; {_DAMAGED}") from None
        return campaign


def extended(campaign: Campaign, added_blocks: Sequence[int]) -> Campaign:
    """The campaign with blocks added to its finished result, one number for each time."""
    totals = tuple(accumulate(added_blocks, initial=campaign.blocks))
    return dataclasses.replace(
        campaign, blocks=totals[-1], looks=(*campaign.looks, *totals[1:]), added_from=totals[:-1]
    )


@cache
def _adapter() -> TypeAdapter[Any]:
    return TypeAdapter(Campaign)


def _check_kept(
    campaign: Campaign, providers: Mapping[str, Provider], kinds: Mapping[str, WorkloadKind]
) -> None:
    """``ValueError`` for anything that the rest of this version cannot handle."""
    if campaign.user is not None:
        check_user(campaign.user)
    for layout in campaign.layouts:
        Layout.parse(str(layout))
    for environment in campaign.needed_environments:
        if environment.technology not in providers:
            raise ValueError(f"this version has no technology {environment.technology!r}")
    ordered = [order.workload for order in campaign.orders]
    chosen = [
        dataclasses.replace(workload, options={**workload.options, **choice.options})
        for workload in campaign.workloads
        for choice in campaign.choices
        if choice.workload == workload.name
    ]
    for workload in (*campaign.workloads, *chosen, *campaign.neighbours, *ordered):
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
        storage=limits.storage,
    )


def differences(kept: Campaign, now: Campaign) -> list[str]:
    """List what a changed campaign would change in a begun result, one phrase each; empty when equal.

    The order of environments, workloads, layouts and sharing experiments makes no difference.
    """
    before, after = _leaves(kept), _leaves(now)
    keys = [*before, *(key for key in after if key not in before)]
    return [
        f"{key}: {before.get(key, 'absent')} in the result, {after.get(key, 'absent')} now"
        for key in keys
        if before.get(key) != after.get(key)
    ]


def _leaves(campaign: Campaign) -> dict[str, str]:
    data = campaign.to_json()
    del data["scaled"]  # follows from the rest
    several = len(campaign.looks) > 1
    data["looks"] = f"after {', '.join(map(str, campaign.looks))} blocks" if several else "after all blocks"
    data["fail_if"] = ", ".join(sorted(condition.text for condition in campaign.fail_if)) or None
    data["layouts"] = ", ".join(sorted(str(layout) for layout in campaign.layouts))
    for factor in data.pop("factors"):
        data[f"factor {factor['key']}"] = ", ".join(level["text"] for level in factor["levels"])
    for key, singular in (("environments", "environment"), ("workloads", "workload")):
        for entry in data.pop(key):
            data[f"{singular} {entry.pop('name')}"] = entry
    for order, entry in zip(campaign.orders, data.pop("orders"), strict=True):
        data[f"order of {order}"] = {key: entry[key] for key in ("values", "boots", "metrics")}
    for sharing, entry in zip(campaign.sharings, data.pop("sharings"), strict=True):
        workloads = ", ".join(sharing.workloads) or "all"
        data[f"sharing of {sharing}"] = {"neighbour": entry["neighbour"], "workloads": workloads}
    return _flat(data, "")


def _flat(value: Any, key: str) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {key: "none" if value is None else str(value)}
    rows: dict[str, str] = {}
    for name, part in value.items():
        rows |= _flat(part, f"{key}.{name}" if key else name)
    return rows
