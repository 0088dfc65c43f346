# SPDX-License-Identifier: Apache-2.0
"""``[[environment]]`` and ``[[workload]]`` tables to records, with all problems collected."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from tare.environments import UNSUPPORTED
from tare.nodes.provider import LINKED_NETWORKS, Provider, missing_network
from tare.plan.problems import Problem, from_validation, nearest, shown
from tare.plan.ranges import ranges_of
from tare.plan.schema import EnvironmentTable, Host, WorkloadTable
from tare.plan.toml_lines import Path
from tare.records import NATIVE, Environment, NetworkKind, OptionValue, Workload, is_without_load
from tare.workloads.kind import WorkloadKind

FAR = "ssh"
"""The technology that starts nodes of any other one on a host of a campaign's list."""
_Table = TypeVar("_Table", bound=BaseModel)
_Record = TypeVar("_Record", Environment, Workload)


@dataclass(frozen=True, slots=True)
class Entry(Generic[_Record]):
    """The content of a table, with its position in the file."""

    position: int
    record: _Record
    measured: bool
    """Whether it is compared with native; otherwise it only serves as a neighbour."""


def validated(
    model: type[_Table], data: object, path: Path, host: Host | None, problems: list[Problem]
) -> _Table | None:
    """Return the table as ``model``, or ``None`` after adding its faults to ``problems``."""
    try:
        return model.model_validate(data, context=host)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        problems += from_validation(errors, path, model, data)
        return None


def environments(
    data: Mapping[str, Any],
    networks: Sequence[NetworkKind],
    providers: Mapping[str, Provider],
    problems: list[Problem],
) -> list[Entry[Environment]]:
    """Read the ``[[environment]]`` tables, in the file's order, without native.

    A measured one without its own network stands for one environment in each of ``networks``.
    """
    entries: list[Entry[Environment]] = []
    for position, table in tables(data, "environment", problems):
        record = _environment(table, ("environment", position), providers, problems)
        measured = _is_measured(table)
        entries += [
            Entry(position, environment, measured)
            for environment in _in_networks(record, networks if measured else ())
        ]
    for entry in entries:
        provider = providers[entry.record.technology]
        problems += network_problems(entry.record, ("environment", entry.position), provider)
    _refuse_duplicates("environment", entries, problems)
    _require_a_measured_one("environment", entries, problems)
    return entries


def workloads(
    data: Mapping[str, Any], kinds: Mapping[str, WorkloadKind], problems: list[Problem]
) -> list[Entry[Workload]]:
    """Read the ``[[workload]]`` tables, in the file's order, with each kind's defaults filled in."""
    entries: list[Entry[Workload]] = []
    for position, table in tables(data, "workload", problems):
        record = _workload(table, ("workload", position), kinds, problems)
        if record:
            entries.append(Entry(position, record, _is_measured(table)))
    _refuse_duplicates("workload", entries, problems)
    if "order" not in data:  # else the experiment measures
        _require_a_measured_one("workload", entries, problems)
    return entries


def _is_measured(table: object) -> bool:
    return not isinstance(table, dict) or table.get("measure") is not False


def tables(data: Mapping[str, Any], key: str, problems: list[Problem]) -> list[tuple[int, Any]]:
    """The tables of a list with their positions; if it is no such list, a problem and no tables."""
    listed = data.get(key)
    if isinstance(listed, list) and listed:
        return list(enumerate(listed))
    if listed is None:
        problems.append(Problem((), f"has no [[{key}]]; add at least one"))
    elif isinstance(listed, dict):
        problems.append(Problem((key,), f"is one table; write [[{key}]] with two brackets"))
    elif listed == []:
        problems.append(Problem((key,), f"is an empty list; add at least one [[{key}]]"))
    else:
        problems.append(Problem((key,), f"must be written as [[{key}]] tables, but is {shown(listed)}"))
    return []


def unknown_technology(name: str, allowed: Iterable[str]) -> str:
    """The complaint about it: why it is not supported, where that is known, else the nearest."""
    if name in UNSUPPORTED:
        return f"{name} is not supported: {UNSUPPORTED[name]}"
    return f"unknown technology {shown(name)}{nearest(name, allowed)}"


def _environment(
    data: object, path: Path, providers: Mapping[str, Provider], problems: list[Problem]
) -> Environment | None:
    table = validated(EnvironmentTable, data, path, None, problems)
    if table is None:
        return None
    provider = providers.get(table.technology)
    if provider is None:
        problems.append(Problem((*path, "technology"), unknown_technology(table.technology, providers)))
        return None
    name = table.name or table.technology
    if name.lower() == NATIVE:
        text = 'native is always measured; for a control arm give it another name, such as name = "no-op"'
        problems.append(Problem((*path, "name"), text))
    options = table.model_extra or {}
    if table.technology == FAR:
        problems.append(Problem((*path, "technology"), _written_as_host(options)))
    else:
        problems += option_problems(options, path, provider)
    return Environment(
        name=name,
        technology=table.technology,
        options=options,
        network=table.network,
        rto_min_s=table.rto_min,
    )


def _written_as_host(options: Mapping[str, Any]) -> str:
    """What to write for the environment that earlier versions had, in which native stayed on this host."""
    asked = options.get("host", "user@host")
    below = options.get("below", NATIVE)
    tables = "; ".join(
        f"[[host]] address = {shown(each)}" for each in (asked if isinstance(asked, list) else [asked])
    )
    what = "leave this environment out" if below == NATIVE else f"technology = {shown(below)} here"
    return f"native is measured on every host as well now (docs/hosts.md): write {tables}, and {what}"


def _in_networks(environment: Environment | None, networks: Sequence[NetworkKind]) -> list[Environment]:
    if environment is None:
        return []
    if environment.network is not None or not networks:
        return [environment]
    return [replace(environment, name=f"{environment.name}-{kind}", network=kind) for kind in networks]


def network_problems(environment: Environment, path: Path, provider: Provider) -> list[Problem]:
    kind = environment.network
    if kind is not None and (missing := missing_network(provider, kind)):
        return [Problem((*path, "network"), missing)]
    if environment.rto_min_s is not None and kind not in {None, *LINKED_NETWORKS}:
        text = f"needs a route of the node's own: network = veth, macvlan, ipvlan, vxlan or sriov, not {kind}"
        return [Problem((*path, "rto_min"), text)]
    return []


def option_problems(options: Mapping[str, Any], path: Path, provider: Provider) -> list[Problem]:
    problems = []
    for key, value in options.items():
        if key not in provider.option_names:
            allowed = {"name", "technology", "network", "rto_min", "measure", *provider.option_names}
            text = f"{provider.technology} has no such option{nearest(key, allowed)}"
            problems.append(Problem((*path, key), text))
        elif not _is_option_value(value):
            text = f"must be text, a number, true, false or a list of texts, but is {shown(value)}"
            problems.append(Problem((*path, key), text))
    if problems:
        return problems
    complaints = provider.check_options(options)
    return [Problem((*path, option), text) for option, text in complaints.items()]


def _is_option_value(value: object) -> bool:
    if isinstance(value, list):
        return all(isinstance(part, str) and "\0" not in part for part in value)
    return isinstance(value, int | float) or (isinstance(value, str) and "\0" not in value)


def _workload(
    data: object, path: Path, kinds: Mapping[str, WorkloadKind], problems: list[Problem]
) -> Workload | None:
    table = validated(WorkloadTable, data, path, None, problems)
    if table is None:
        return None
    key = "name" if table.kind is None else "kind"
    wanted = table.name if table.kind is None else table.kind
    if wanted is None:
        problems.append(Problem(path, f"has no name; write name = one of {', '.join(sorted(kinds))}"))
        return None
    kind = kinds.get(wanted)
    if kind is None:
        hint = "" if key == "kind" else ' (for a name of your own write kind = "..." beside it)'
        text = f"unknown workload {shown(wanted)}{nearest(wanted, kinds)}{hint}"
        problems.append(Problem((*path, key), text))
        return None
    options = _kind_options(kind, table.model_extra or {}, path, problems)
    if options is None:
        return None
    layouts = None if table.layouts is None else tuple(table.layouts)
    primary = tuple(table.primary or ())
    ranges = ranges_of(table.ranges, path, problems)
    problems += _primary_problems(
        kind, options, [name for name in primary if name not in table.ranges], table.iterations, path
    )
    return Workload(
        name=table.name or wanted,
        kind=wanted,
        options=options,
        layouts=layouts,
        iterations=table.iterations,
        primary=primary,
        ranges=ranges,
        way=kind.way(kind.options_model.model_validate(dict(options))),
    )


def _primary_problems(
    kind: WorkloadKind,
    options: Mapping[str, OptionValue],
    primary: Sequence[str],
    iterations: int,
    path: Path,
) -> list[Problem]:
    """Only a resident program's metrics are known beforehand; other programs show theirs when they have run."""
    if iterations > 1 and any(map(is_without_load, primary)):
        return [Problem((*path, "primary"), f"{_NEEDS_TURNS}; leave out iterations")]
    pieces = kind.pieces(kind.options_model.model_validate(dict(options)))
    joined = [each.name for each in kind.ranges(kind.options_model.model_validate(dict(options)))]
    slices = [*joined, *(metric for piece in pieces if not piece.coordinates for metric in piece.metrics)]
    curves = {metric for piece in pieces if piece.coordinates for metric in piece.metrics}
    return [
        Problem((*path, "primary"), _no_figure(kind, name, slices, curves))
        for name in primary
        if pieces and name not in slices
    ]


def _no_figure(kind: WorkloadKind, name: str, figures: Sequence[str], curves: Container[str]) -> str:
    if name in curves:
        example = f'ranges."{name}, all" = {{ metric = "{name}", ... }}'
        return f"{shown(name)} has points and no figure of its own; name a range of it, such as {example}"
    return f"{kind.name} does not measure {shown(name)}{nearest(name, figures)}"


_NEEDS_TURNS = "the CPU time and the net time of a slice are measured by turns alone"


def whole_run_problems(workloads: Sequence[Entry[Workload]]) -> list[Problem]:
    """Find metrics that are declared to be judged but not measured by whole runs."""
    return [
        Problem(("workload", entry.position, "primary"), f'{_NEEDS_TURNS}; leave out way = "whole"')
        for entry in workloads
        if any(map(is_without_load, entry.record.primary))
    ]


def _kind_options(
    kind: WorkloadKind, data: Mapping[str, Any], path: Path, problems: list[Problem]
) -> Mapping[str, OptionValue] | None:
    """The options with the kind's defaults; a default of ``None`` is left out."""
    checked = validated(kind.options_model, dict(data), path, None, problems)
    return None if checked is None else checked.model_dump(mode="json", exclude_none=True)


def _refuse_duplicates(key: str, entries: Sequence[Entry[_Record]], problems: list[Problem]) -> None:
    seen: dict[str, int] = {}
    for entry in entries:
        name = entry.record.name
        first = seen.setdefault(name, entry.position)
        if first != entry.position:
            text = f"{name!r} is also the name of {key}[{first + 1}]; give each a name of its own"
            problems.append(Problem((key, entry.position, "name"), text))


def _require_a_measured_one(key: str, entries: Sequence[Entry[_Record]], problems: list[Problem]) -> None:
    if entries and not any(entry.measured for entry in entries):
        text = f"no [[{key}]] is measured; leave out measure = false at one at least"
        problems.append(Problem((key,), text))
