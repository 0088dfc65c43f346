# SPDX-License-Identifier: Apache-2.0
"""``[[factor]]`` tables to records, with all problems collected."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from tare.nodes.provider import Provider
from tare.plan.entries import Entry, network_problems, option_problems, tables, validated
from tare.plan.factors import LIMIT_FIELDS, MEMORY_LIMITS, Factor, Of, least_memory_byte, with_value
from tare.plan.host_layouts import is_of_hosts
from tare.plan.problems import Problem, nearest, printable, shown
from tare.plan.schema import EnvironmentTable, FactorTable, Host, LimitsTable, parse_layout
from tare.plan.toml_lines import Path
from tare.records import NATIVE, Environment, Layout, Level, Limits, NetworkKind, OptionValue, Workload
from tare.units import parse_byte, parse_duration_s
from tare.workloads.kind import WorkloadKind

_BYTE_LIMITS = {*MEMORY_LIMITS, "shm", "disk"}
_OF_ENVIRONMENTS = ("network", "rto_min")
_PLAIN = re.compile(r"[^A-Za-z0-9 ._,%:=@-]")
_TOOLS = "tools"
"""In braces, it is the path of Tare's own programs."""
_LONGEST = 40
_REFUSED = {
    **dict.fromkeys(
        ("processes", "open_files", "output", "core"),
        "protects the host and is the same in all trials; vary what a job should feel, such as memory",
    ),
    "kernel": "the host's kernel cannot vary within a campaign: measure under each kernel and compare the results "
    "with `tare compare`; a virtual machine's kernel is an option of qemu",
    "host": "a campaign's hosts take turns and are not its levels; how many have a layout is the key hosts",
    **dict.fromkeys(
        ("nodes", "processors", "instances"),
        'is a part of the layout: write key = "layout" with levels such as ["1c1p1i", "2c1p2i"]',
    ),
}


@dataclass(frozen=True, slots=True)
class FileParts:
    """What the rest of the file holds, and this version's lists."""

    host: Host
    environments: Sequence[Entry[Environment]]
    workloads: Sequence[Entry[Workload]]
    providers: Mapping[str, Provider]
    kinds: Mapping[str, WorkloadKind]
    over_hosts: Factor | None = None
    """The factor ``hosts``, as ``host_layouts`` read it."""

    @property
    def measured_environments(self) -> list[Environment]:
        """All that are compared with native."""
        return [entry.record for entry in self.environments if entry.measured]

    @property
    def measured_workloads(self) -> list[Workload]:
        """All that are measured by themselves."""
        return [entry.record for entry in self.workloads if entry.measured]


def factors(data: Mapping[str, Any], parts: FileParts, problems: list[Problem]) -> list[Factor]:
    """Read the ``[[factor]]`` tables, in the file's order; none is needed."""
    listed = tables(data, "factor", problems) if "factor" in data else []
    read: list[Factor] = []
    for position, table in listed:
        path: Path = ("factor", position)
        over_hosts = parts.over_hosts if is_of_hosts(table) else None
        own = {**table, "levels": list(over_hosts.values)} if over_hosts else table
        checked = validated(FactorTable, own, path, parts.host, problems)
        factor = checked and (over_hosts or _factor(checked, path, data, parts, problems))
        if factor and factor.key in (other.key for other in read):
            problems.append(
                Problem((*path, "key"), f"{factor.key} is a factor already; keep one table of it")
            )
        elif factor:
            read.append(factor)
    if len(MEMORY_LIMITS & {factor.key for factor in read if factor.of is Of.LIMIT}) > 1:
        text = "memory is of all nodes together and memory_per_node of each: vary one of them"
        problems.append(Problem(("factor",), text))
    return read


def layouts_of(factors: Sequence[Factor]) -> list[Layout]:
    """The layouts that are the levels of a factor."""
    return [Layout.parse(level.text) for own in factors if own.of is Of.LAYOUT for level in own.levels]


def with_least_shm(limits: Limits, table: LimitsTable, factors: Sequence[Factor]) -> Limits:
    """The limits with a ``/dev/shm`` that fits the least memory of all levels, unless the file says how large."""
    if table.shm is not None:
        return limits
    return replace(limits, shm_byte=min(limits.shm_byte, least_memory_byte(factors, limits) // 2))


def _factor(
    table: FactorTable, path: Path, data: Mapping[str, Any], parts: FileParts, problems: list[Problem]
) -> Factor | None:
    before = len(problems)
    place = _place(table.key, path, parts, problems)
    if place is None:
        return None
    of, key, names = place
    values: list[OptionValue] = []
    for position, level in enumerate(table.levels):
        where = (*path, "levels", position)
        if isinstance(level, bool | int | float | str):
            values += _value(of, key, level, where, data, parts, problems)
        else:
            problems.append(Problem(where, f"must be text, a number, true or false, but is {shown(level)}"))
    if len(problems) > before:
        return None
    levels = _levels(of, key, table.levels, values)
    problems += _alike(levels, (*path, "levels"))
    problems += _unfit(of, key, names, table.levels, path, parts)
    return (
        None
        if len(problems) > before
        else Factor(key=key, of=of, levels=levels, values=tuple(values), names=names)
    )


def _place(
    asked: str, path: Path, parts: FileParts, problems: list[Problem]
) -> tuple[Of, str, tuple[str, ...]] | None:
    """What the key belongs to, and whom it concerns; ``None`` after adding a problem."""
    table, _, key = asked.rpartition(".")
    places = {of: names for of, names in _places(key, parts).items() if table in {"", of}}
    if len(places) == 1:
        ((of, names),) = places.items()
        return of, "layout" if of is Of.LAYOUT else key, names
    if places:
        written = " or ".join(f"{of}.{key}" for of in places)
        text = f"{shown(key)} has several places; write {written}"
    elif key in _REFUSED:
        text = f"{shown(key)}: {_REFUSED[key]}"
    else:
        text = f"nothing in this campaign has a key {shown(asked)}{nearest(key, _keys(parts))}"
    problems.append(Problem((*path, "key"), text))
    return None


def _places(key: str, parts: FileParts) -> dict[Of, tuple[str, ...]]:
    """Each place that a key may have, with the names that it concerns there."""
    workloads = [
        own.name
        for own in parts.measured_workloads
        if key in parts.kinds[own.kind].options_model.model_fields
    ]
    environments = [
        own.name for own in parts.measured_environments if key in parts.providers[own.technology].option_names
    ]
    own_network = [own.name for own in parts.measured_environments if _lacks(own, key)]
    places: dict[Of, tuple[str, ...] | None] = {
        Of.LIMIT: () if key in LIMIT_FIELDS else None,
        Of.LAYOUT: () if key in {"layout", "layouts"} else None,
        Of.NETWORK: tuple(own_network) or None,
        Of.WORKLOAD: tuple(workloads) or None,
        Of.ARGUMENT: tuple(own.name for own in parts.measured_workloads if _has_mark(own, key)) or None,
        Of.ENVIRONMENT: tuple(environments) or None,
    }
    return {of: names for of, names in places.items() if names is not None}


def _has_mark(workload: Workload, key: str) -> bool:
    """Whether its ``argv`` holds the key in braces, where the levels would go."""
    argv = workload.options.get("argv")
    return key != _TOOLS and isinstance(argv, list) and any(f"{{{key}}}" in word for word in argv)


def _lacks(environment: Environment, key: str) -> bool:
    """Whether it has no network, or timeout, of its own that a factor would replace."""
    own = {"network": environment.network, "rto_min": environment.rto_min_s}
    return environment.technology != NATIVE and key in own and own[key] is None


def _keys(parts: FileParts) -> set[str]:
    options = [parts.kinds[own.kind].options_model.model_fields for own in parts.measured_workloads]
    options += [parts.providers[own.technology].option_names for own in parts.measured_environments]  # type: ignore[misc]
    return {*LIMIT_FIELDS, "layout", *_OF_ENVIRONMENTS, *(name for names in options for name in names)}


def _value(
    of: Of,
    key: str,
    level: OptionValue,
    where: Path,
    data: Mapping[str, Any],
    parts: FileParts,
    problems: list[Problem],
) -> list[OptionValue]:
    """The level as the campaign keeps it; nothing after adding its faults to ``problems``."""
    try:
        if of is Of.LIMIT:
            own = data.get("limits")
            table = LimitsTable.model_validate(
                {**(own if isinstance(own, dict) else {}), key: level}, context=parts.host
            )
            value = getattr(table, key)
        elif of is Of.LAYOUT:
            value = str(parse_layout(str(level), parts.host))
        elif of is Of.NETWORK:
            value = getattr(EnvironmentTable.model_validate({"technology": "any", key: level}), key)
        else:
            value = level
    except ValidationError as error:
        problems += [
            Problem(where, printable(fault["msg"].removeprefix("Value error, "))) for fault in error.errors()
        ]
        return []
    except ValueError as error:
        problems.append(Problem(where, printable(str(error))))
        return []
    return [str(value) if isinstance(value, str) else value]


def _levels(
    of: Of, key: str, written: Sequence[OptionValue], values: Sequence[OptionValue]
) -> tuple[Level, ...]:
    """The levels in words; numbers only if each of them is one, all in the same unit."""
    numbers = [_number(of, key, *each) for each in zip(written, values, strict=True)]
    units = {unit for number, unit in numbers}
    numeric = len(units) == 1 and all(number is not None for number, _ in numbers)
    return tuple(
        Level(
            key=key,
            text=level_text(level),
            number=number if numeric else None,
            unit=unit if numeric else None,
        )
        for level, (number, unit) in zip(written, numbers, strict=True)
    )


def _number(of: Of, key: str, written: OptionValue, value: OptionValue) -> tuple[float | None, str | None]:
    """The value as a number with its unit; options may be sizes or durations in words."""
    if isinstance(value, bool) or of is Of.LAYOUT:
        return None, None
    if isinstance(value, int | float):
        unit = None
        if of is Of.LIMIT and key in _BYTE_LIMITS:
            unit = "B"
        elif of is Of.NETWORK or (of is Of.LIMIT and key == "time"):
            unit = "s"
        return float(value), unit
    for parse, unit in ((parse_byte, "B"), (parse_duration_s, "s")):
        try:
            number = float(parse(str(written)))
        except (ValueError, OverflowError):
            continue
        if not str(written).strip().isdecimal() and math.isfinite(number):
            return number, unit
    return None, None


def level_text(level: OptionValue) -> str:
    """As people write it, without what a layout's name or a folder cannot hold."""
    if isinstance(level, bool):
        return str(level).lower()
    text = f"{level:.10g}" if isinstance(level, float) else str(level)
    return _PLAIN.sub("_", text).strip()[:_LONGEST] or "_"


def _alike(levels: Sequence[Level], where: Path) -> Iterator[Problem]:
    """Find levels that could not be told apart."""
    for values in (
        [level.text for level in levels],
        [level.number for level in levels if level.number is not None],
    ):
        twice = [value for value in values if values.count(value) > 1]  # type: ignore[arg-type]
        if twice:
            yield Problem(where, f"{twice[0]} stands there twice, or two levels read alike; keep each once")
            return


def _unfit(
    of: Of, key: str, names: Sequence[str], levels: Sequence[Any], path: Path, parts: FileParts
) -> Iterator[Problem]:
    """Find options that a workload or an environment cannot have."""
    for position, level in enumerate(levels):
        where = (*path, "levels", position)
        for workload in parts.measured_workloads if of in {Of.WORKLOAD, Of.ARGUMENT} else ():
            if workload.name in names:
                options = with_value(workload.options, of, key, level)
                faults = _unfit_workload(workload, options, parts.kinds[workload.kind])
                yield from (Problem(where, f"{key} = {shown(level)}: {text}") for text in faults)
        for environment in parts.measured_environments if of in {Of.NETWORK, Of.ENVIRONMENT} else ():
            if environment.name in names:
                provider = parts.providers[environment.technology]
                yield from _unfit_environment(environment, key, level, where, provider)


def _unfit_workload(
    workload: Workload, options: Mapping[str, OptionValue], kind: WorkloadKind
) -> Iterator[str]:
    try:
        checked = kind.options_model.model_validate(dict(options))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        yield f"{workload.name}: {printable(first)}"
        return
    if kind.way(checked) is not workload.way:
        yield f"changes how {workload.name} takes turns; write two workloads"


def _unfit_environment(
    environment: Environment, key: str, level: OptionValue, where: Path, provider: Provider
) -> Iterator[Problem]:
    if key == "network":
        faults = network_problems(replace(environment, network=NetworkKind(str(level))), where, provider)
    elif key == "rto_min":
        faults = network_problems(replace(environment, rto_min_s=1.0), where, provider)
    else:
        faults = option_problems({**environment.options, key: level}, where, provider)
    for fault in faults:
        yield Problem(where, f"{environment.name}: {fault.text}")
