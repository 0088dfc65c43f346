# SPDX-License-Identifier: Apache-2.0
"""``[[sharing]]`` and ``[[order]]`` tables to records, with all problems collected."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from tare.plan.entries import Entry, tables, validated
from tare.plan.order import Order
from tare.plan.problems import Problem, nearest, printable, shown
from tare.plan.schema import Host, NeighbourTable, OrderTable, SharingTable, size_problem
from tare.plan.sharing import NATIVE_ENVIRONMENT, Company, Sharing, alone_of, is_several
from tare.plan.toml_lines import Path
from tare.records import NATIVE, Environment, Layout, Workload
from tare.workloads.kind import WorkloadKind

_ONE_PROCESSOR = Layout(nodes=1, processors=1, instances=1)


def orders(
    data: Mapping[str, Any],
    host: Host,
    workloads: Sequence[Entry[Workload]],
    layouts: Sequence[Layout],
    kinds: Mapping[str, WorkloadKind],
    problems: list[Problem],
) -> list[Order]:
    """Read the ``[[order]]`` tables, in the file's order; none is needed."""
    reader = _OrderReader(host, {entry.record.name: entry.record for entry in workloads}, layouts, kinds)
    listed = tables(data, "order", problems) if "order" in data else []
    orders: list[Order] = []
    for position, table in listed:
        path: Path = ("order", position)
        checked = validated(OrderTable, table, path, host, problems)
        order = None if checked is None else reader.read(checked, path, problems)
        if order and str(order) in map(str, orders):
            problems.append(Problem(path, f"is the second one of {order}; keep one"))
        elif order:
            orders.append(order)
    return orders


class _OrderReader:
    """Reads a table, given the other tables."""

    def __init__(
        self,
        host: Host,
        workloads: Mapping[str, Workload],
        layouts: Sequence[Layout],
        kinds: Mapping[str, WorkloadKind],
    ) -> None:
        self._host, self._workloads, self._kinds = host, workloads, kinds
        self._layouts = tuple(layouts) or (_ONE_PROCESSOR,)

    def read(self, table: OrderTable, path: Path, problems: list[Problem]) -> Order | None:
        """The record; ``None`` after adding its faults to ``problems``."""
        workload = self._workloads.get(table.workload)
        if workload is None:
            text = f"there is no [[workload]] {table.workload!r}{nearest(table.workload, self._workloads)}"
            problems.append(Problem((*path, "workload"), text))
            return None
        layout = self._layouts[0] if table.layout is None else table.layout
        kind = self._kinds[workload.kind]
        order = Order(
            workload=workload,
            option=table.option,
            values=tuple(sorted(table.values)),
            boots=table.boots,
            layout=layout,
            metrics=tuple(dict.fromkeys(table.metrics)) or (kind.primary_metric,),
        )
        wrong = [*self._layout_problems(table, layout, path), *_option_problems(order, kind, path)]
        problems += wrong
        return None if wrong else order

    def _layout_problems(self, table: OrderTable, layout: Layout, path: Path) -> Iterator[Problem]:
        where = (*path, "layout")
        if table.layout is None and len(self._layouts) > 1:
            text = ", ".join(map(str, self._layouts))
            yield Problem(path, f"does not say in which layout; give layout = one of {text}")
        elif layout.instances > 1:
            yield Problem(where, f"{layout} has {layout.instances} instances; a series has one")


def _option_problems(order: Order, kind: WorkloadKind, path: Path) -> Iterator[Problem]:
    """Find what keeps the workload from running with each of the values."""
    names = kind.options_model.model_fields
    if order.option not in names:
        text = f"{kind.name} has no option {shown(order.option)}{nearest(order.option, names)}"
        yield Problem((*path, "option"), text)
        return
    for value in order.values:
        try:
            kind.options_model.model_validate(dict(order.runs(value).options))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]["msg"]
            yield Problem((*path, "values"), f"{order.option} = {shown(value)}: {printable(first)}")


def sharings(
    data: Mapping[str, Any],
    host: Host,
    environments: Sequence[Entry[Environment]],
    workloads: Sequence[Entry[Workload]],
    problems: list[Problem],
) -> list[Sharing]:
    """Read the ``[[sharing]]`` tables, in the file's order; none is needed."""
    named = {entry.record.name: entry.record for entry in environments}
    reader = _SharingReader(
        host,
        {NATIVE: NATIVE_ENVIRONMENT, **named},
        {entry.record.name: entry.record for entry in workloads},
        problems,
    )
    listed = tables(data, "sharing", problems) if "sharing" in data else []
    read = [(position, reader.read(table, ("sharing", position))) for position, table in listed]
    kept = [(position, sharing) for position, sharing in read if sharing]
    problems += _repetitions(kept)
    if len(kept) == len(listed):
        companies = [sharing.neighbour for _, sharing in kept if sharing.neighbour]
        places = {company.environment.name for company in companies if company.environment}
        problems += _idle("environment", environments, places)
        ordered = [table.get("workload") for table in data.get("order") or () if isinstance(table, dict)]
        problems += _idle(
            "workload", workloads, {*(company.workload.name for company in companies), *map(str, ordered)}
        )
    return [sharing for _, sharing in kept]


class _SharingReader:
    """Reads a table, given the other tables; adds to ``problems``."""

    def __init__(
        self,
        host: Host,
        environments: Mapping[str, Environment],
        workloads: Mapping[str, Workload],
        problems: list[Problem],
    ) -> None:
        self._host = host
        self._environments = environments
        self._workloads = workloads
        self._problems = problems

    def read(self, data: object, path: Path) -> Sharing | None:
        before = len(self._problems)
        table = validated(SharingTable, data, path, self._host, self._problems)
        if table is None:
            return None
        together = tuple(table.together or ())
        self._problems += _unlike(table.alone, together, path)
        company = None
        if table.neighbour is not None:
            company = self._company(table.neighbour, table.alone, (*path, "neighbour"))
        elif not together:
            text = 'has no company: give together, such as ["1c2p2i"], or neighbour, or both'
            self._problems.append(Problem(path, text))
        for place, name in enumerate(table.workloads or ()):
            if name not in self._workloads:
                text = f"there is no [[workload]] {name!r}{nearest(name, self._workloads)}"
                self._problems.append(Problem((*path, "workloads", place), text))
        if len(self._problems) > before:
            return None
        return Sharing(
            alone=table.alone, together=together, neighbour=company, workloads=tuple(table.workloads or ())
        )

    def _company(self, data: object, alone: Layout, path: Path) -> Company | None:
        table = validated(NeighbourTable, data, path, self._host, self._problems)
        if table is None:
            return None
        workload = self._workloads.get(table.workload)
        if workload is None:
            text = f"there is no [[workload]] {table.workload!r}{nearest(table.workload, self._workloads)}"
            self._problems.append(Problem((*path, "workload"), text))
        environment = None
        if table.environment is not None and not (environment := self._environments.get(table.environment)):
            names = nearest(table.environment, self._environments)
            text = f"there is no [[environment]] {table.environment!r}{names}"
            self._problems.append(Problem((*path, "environment"), text))
        whole = Layout(nodes=alone.nodes + table.count, processors=alone.processors, instances=1)
        if problem := size_problem(whole, self._host):
            self._problems.append(Problem((*path, "count"), f"with its neighbours, {alone} {problem}"))
        if workload is None:
            return None
        return Company(workload=workload, environment=environment, count=table.count)


def _unlike(alone: Layout, together: Sequence[Layout], path: Path) -> Iterator[Problem]:
    """Find the layouts of ``together`` that are not several of ``alone``."""
    for position, layout in enumerate(together):
        if is_several(layout, alone):
            continue
        if layout.instances == 1:
            text = f"{layout} has one instance, so it has no company"
        elif alone.instances > 1:
            twice = Layout(nodes=2 * alone.nodes, processors=alone.processors, instances=2 * alone.instances)
            text = f"{layout} is not several groups of {alone}; two at once are {twice}"
        else:
            text = f"an instance of {layout} by itself is {alone_of(layout)}, not {alone}"
        yield Problem((*path, "together", position), text)


def _repetitions(sharings: Sequence[tuple[int, Sharing]]) -> Iterator[Problem]:
    seen: dict[tuple[Layout, str], int] = {}
    for position, sharing in sharings:
        companies = [str(layout) for layout in sharing.together]
        if sharing.neighbour:
            companies.append(f"{sharing.alone}+{sharing.neighbour}")
        for company in companies:
            pair = sharing.alone, company
            if pair in seen:
                text = f"{company} is already in sharing[{seen[pair] + 1}]; keep it once"
                yield Problem(("sharing", position), text)
            seen[pair] = position


def _idle(
    key: str, entries: Sequence[Entry[Environment]] | Sequence[Entry[Workload]], neighbours: set[str]
) -> Iterator[Problem]:
    for entry in entries:
        if not entry.measured and entry.record.name not in neighbours:
            text = f"{entry.record.name} is neither measured nor the neighbour of any [[sharing]]"
            yield Problem((key, entry.position, "measure"), text)
