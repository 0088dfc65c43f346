# SPDX-License-Identifier: Apache-2.0
"""``[[order]]`` tables to records, with all problems collected."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from tare.plan.entries import Entry, tables, validated
from tare.plan.order import Order
from tare.plan.problems import Problem, nearest, printable, shown
from tare.plan.schema import Host, OrderTable
from tare.plan.toml_lines import Path
from tare.records import Layout, Workload
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
