# SPDX-License-Identifier: Apache-2.0
"""Order experiments: one option's values, run one after the other within one start, in several orders."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import is_

from tare.plan.sharing import NATIVE_ENVIRONMENT
from tare.plan.succession import begun_by
from tare.records import Environment, Layout, Ordering, Series, Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One ``[[order]]`` table (docs/order.md)."""

    workload: Workload
    option: str
    values: tuple[int | float, ...]
    """Ascending."""
    boots: int
    """Starts of each environment in each ordering, one per block."""
    layout: Layout
    """Layout of one instance."""
    metrics: tuple[str, ...]
    """Metrics to judge; the first is the claim."""

    def __str__(self) -> str:
        return f"{self.workload.name} by {self.option} in {self.layout}"

    def runs(self, value: float) -> Workload:
        """The workload with one of the values."""
        options = {**self.workload.options, self.option: value}
        return Workload(name=self.workload.name, kind=self.workload.kind, options=options)


def starts(
    orders: Sequence[Order],
    environments: Sequence[Environment],
    source: random.Random,
    before: Series | None = None,
) -> Iterator[tuple[Order, Environment, Series]]:
    """One block's starts in random order: each environment in each ordering, native once.

    The three starts of an environment stay together, as they are compared with each other. They begin with the
    ordering that ended the group before them, ``before`` for the first, so that each ordering follows itself too.
    """
    named = sorted(environments, key=lambda environment: environment.name)
    groups = [
        (order, environment)
        for order in sorted(orders, key=str)
        for environment in (NATIVE_ENVIRONMENT, *named)
    ]
    source.shuffle(groups)
    last = before.ordering if before else None
    for order, environment in groups:
        orderings = begun_by(source.sample(list(Ordering), len(Ordering)), partial(is_, last))
        for ordering in orderings:
            yield order, environment, _series(order, ordering, source)
        last = orderings[-1]


def _series(order: Order, ordering: Ordering, source: random.Random) -> Series:
    values = list(order.values)
    if ordering is Ordering.DESCENDING:
        values.reverse()
    elif ordering is Ordering.RANDOM:
        source.shuffle(values)
    return Series(option=order.option, ordering=ordering, values=tuple(values))
