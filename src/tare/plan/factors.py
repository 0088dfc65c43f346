# SPDX-License-Identifier: Apache-2.0
"""Factors: any key of a campaign in several levels, in all combinations (docs/factors.md)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from itertools import product

from tare.plan.marks import HOSTS, filled
from tare.plan.sharing import Setting
from tare.records import (
    Bounds,
    Cell,
    Environment,
    FactorCells,
    Layout,
    Level,
    Limits,
    NetworkKind,
    OptionValue,
    Storage,
    Workload,
)

LIMIT_FIELDS = {
    "memory": "memory_byte",
    "memory_per_node": "node_memory_byte",
    "memory_per_host": "host_memory_byte",
    "shm": "shm_byte",
    "cpu_quota": "cpu_quota",
    "time": "time_s",
    "storage": "storage",
    "disk": "disk_byte",
}
"""Key of ``[limits]`` → field of its record, or of its bounds."""
MEMORY_LIMITS = frozenset({"memory", "memory_per_node", "memory_per_host"})
"""Of which a campaign has one."""
_BOUNDS = frozenset(field.name for field in fields(Bounds))


class Of(StrEnum):
    """The place of a factor's key in a campaign file."""

    LIMIT = "limits"
    LAYOUT = "layout"
    HOSTS = "hosts"
    """On how many hosts layouts are."""
    NETWORK = "network"
    """``network`` or ``rto_min`` of an environment."""
    WORKLOAD = "workload"
    """An option of a workload."""
    ARGUMENT = "argument"
    """The words in braces in a command's ``argv``."""
    ENVIRONMENT = "environment"
    """An option of an environment's technology."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """One ``[[factor]]`` table."""

    key: str
    of: Of
    levels: tuple[Level, ...]
    values: tuple[OptionValue, ...]
    """One for each level: a limit as its record holds it, an option as the file does."""
    names: tuple[str, ...] = ()
    """The workloads, environments or, with marks, layouts that it changes; empty for limits and layouts themselves."""

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for levels without values, or none."""
        if not self.levels or len(self.levels) != len(self.values):
            raise ValueError(
                f"the factor {self.key} has {len(self.levels)} levels, {len(self.values)} values"
            )

    def concerns(self, workload: Workload) -> bool:
        """Whether the workload is measured at each of its levels."""
        return not self.changes_layouts and (not self.changes_workloads or workload.name in self.names)

    @property
    def changes_layouts(self) -> bool:
        """Whether its levels are layouts, which every workload has already."""
        return self.of in {Of.LAYOUT, Of.HOSTS}

    @property
    def changes_workloads(self) -> bool:
        """Whether its levels are options or arguments of workloads."""
        return self.of in {Of.WORKLOAD, Of.ARGUMENT}

    def value(self, level: Level) -> OptionValue:
        """What the key is at this level."""
        return self.values[[own.text for own in self.levels].index(level.text)]


def only_at(factors: Sequence[Factor], levels: Sequence[Level]) -> tuple[Factor, ...]:
    """The factors that have one of these levels, with no other."""
    return tuple(
        replace(factor, levels=(level,), values=(factor.value(level),))
        for factor in factors
        for level in factor.levels
        if level in levels
    )


Chosen = tuple[tuple[Factor, Level], ...]
"""A level of each factor."""


def chosen_combinations(factors: Sequence[Factor], workload: Workload) -> Iterator[Chosen]:
    """All combinations of levels at which a workload is measured; a single empty one without factors."""
    own = [factor for factor in factors if factor.concerns(workload)]
    for levels in product(*(factor.levels for factor in own)):
        yield tuple(zip(own, levels, strict=True))


def under_limits(limits: Limits, chosen: Chosen) -> Limits:
    """The limits at these levels."""
    for factor, level in chosen:
        if factor.of is Of.LIMIT:
            limits = limited(limits, factor.key, factor.value(level))
    return limits


def least_memory_byte(factors: Sequence[Factor], limits: Limits) -> int:
    """Memory at the level with the least, of a trial or a node; the memory of ``limits`` if it is no factor."""
    own = (factor for factor in factors if factor.of is Of.LIMIT and factor.key in MEMORY_LIMITS)
    sizes = [int(str(value)) for factor in own for value in factor.values]
    return min(sizes, default=limits.memory_byte)


def limited(limits: Limits, key: str, value: OptionValue) -> Limits:
    """The limits with one of them replaced."""
    field = LIMIT_FIELDS[key]
    if field in _BOUNDS:
        return replace(limits, bounds=replace(limits.bounds, **{field: value}))  # type: ignore[arg-type]  # validated
    changed = Storage(str(value)) if key == "storage" else value
    return replace(limits, **{field: changed})  # type: ignore[arg-type]  # validated when it was read


def at_levels(workload: Workload, chosen: Chosen) -> Workload:
    """The workload at these levels, under the same name."""
    for factor, level in chosen:
        if factor.changes_workloads:
            options = with_value(workload.options, factor.of, factor.key, factor.value(level))
            workload = replace(workload, options=options)
    return workload


def with_value(
    options: Mapping[str, OptionValue], of: Of, key: str, value: OptionValue
) -> Mapping[str, OptionValue]:
    """A workload's options with the value as one of them, or in its place in ``argv``."""
    if of is Of.WORKLOAD:
        return {**options, key: value}
    text = str(value).lower() if isinstance(value, bool) else str(value)
    argv = options["argv"]
    words = argv if isinstance(argv, list) else []
    return {**options, "argv": [word.replace(f"{{{key}}}", text) for word in words]}


def in_environment(environment: Environment, factor: Factor, level: Level) -> Environment:
    """The environment at this level of a factor; itself if it is not concerned."""
    if environment.name not in factor.names or factor.of not in {Of.NETWORK, Of.ENVIRONMENT}:
        return environment
    value = factor.value(level)
    if factor.of is Of.ENVIRONMENT:
        return replace(environment, options={**environment.options, factor.key: value})
    if factor.key == "network":
        return replace(environment, network=NetworkKind(str(value)))
    return replace(environment, rto_min_s=float(str(value)))


def cells_by_level(
    factor: Factor, compares_layouts: bool, settings: Sequence[tuple[str, Setting]]
) -> Iterator[FactorCells]:
    """The cells of a workload at the levels of a factor, apart for each layout and company that is no factor."""
    groups: dict[tuple[str, str], dict[Level, list[Cell]]] = {}
    for workload, setting in settings:
        cell = Cell(workload=workload, layout=str(setting))
        company = "" if setting.company is None else f"+{setting.company}"
        for layout, level in _places(factor, compares_layouts, setting):
            groups.setdefault((workload, f"{layout}{company}"), {}).setdefault(level, []).append(cell)
    for (workload, shared), by_level in groups.items():
        if len(by_level) > 1:
            yield FactorCells(
                workload=workload,
                setting=shared,
                key=factor.key,
                levels=tuple(level for level in factor.levels if level in by_level),
                cells=tuple(tuple(by_level[level]) for level in factor.levels if level in by_level),
                environments=factor.names if factor.of in {Of.NETWORK, Of.ENVIRONMENT} else (),
                in_layouts=factor.changes_layouts,
            )


def at_hosts(marked: str, count: int) -> str:
    """A layout with marks, spread over so many hosts."""
    return str(Layout.parse(filled(marked, {HOSTS: count})))


def _places(factor: Factor, compares_layouts: bool, setting: Setting) -> Iterator[tuple[str, Level]]:
    """What the setting shares with other levels, and its level; nothing if the factor does not vary there."""
    layout = str(setting.layout)
    for level in factor.levels:
        if factor.of is Of.HOSTS:
            own = (text for text in factor.names if at_hosts(text, int(level.text)) == layout)
            yield from ((text.removesuffix(f" on {{{HOSTS}}}"), level) for text in own)
        elif level in setting.levels or (factor.of is Of.LAYOUT and level.text == layout):
            yield "" if compares_layouts else layout, level
