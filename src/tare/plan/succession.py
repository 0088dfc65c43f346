# SPDX-License-Identifier: Apache-2.0
"""Orders in which every arm follows every arm equally often, itself included.

What an arm leaves behind (a flushed cache, a full disk queue) makes the next run slower. If no arm ever followed
itself, an after-effect would hit all arms but its own, which would then seem faster. So each order begins with the arm
that ended the one before: the extra period of Lucas, Journal of Dairy Science 40 (1957) 225-239, joined to the next
order.
"""

import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Generic, TypeVar

from tare.records import Trial

_TRIES = 8
"""Candidates for an order; twice as many make the pairs hardly more even."""

_Arm = TypeVar("_Arm", bound=Hashable)
_Item = TypeVar("_Item")


def begun_by(items: Iterable[_Item], is_first: Callable[[_Item], bool]) -> list[_Item]:
    """The same order, but with the first items at its front; as it is where there is none."""
    return sorted(items, key=lambda item: not is_first(item))


class TurnOrders(Generic[_Arm]):
    """Orders of turns, one after the other, in which all pairs of neighbours stay as even as they can.

    In r orders of A arms each arm follows each, itself included, r / A times, give or take less than three. All arms
    are treated alike, so each order by itself is a fair shuffle (docs/method.md).
    """

    def __init__(self, source: random.Random) -> None:
        self._source = source
        self._last: _Arm | None = None
        self._followed: Counter[tuple[_Arm, _Arm]] = Counter()

    def order(self, arms: Sequence[_Arm]) -> list[_Arm]:
        """The next order of these arms; it begins with the arm that ended the last, unless that is gone."""
        orders = [self._drawn(arms) for _ in range(_TRIES)]
        order = min(
            orders, key=lambda each: sum(self._followed[pair] for pair in pairwise([*each, each[-1]]))
        )
        self._followed.update(pairwise([self._last if self._last in order else order[0], *order]))
        self._last = order[-1]
        return order

    def _drawn(self, arms: Sequence[_Arm]) -> list[_Arm]:
        """From each arm to one of those which have followed it least."""
        rest = self._source.sample(arms, len(arms))
        order = [rest.pop(rest.index(self._last) if self._last in rest else 0)]
        while rest:
            counts = [self._followed[order[-1], arm] for arm in rest]
            order.append(rest.pop(counts.index(min(counts))))
        return order


class Succession:
    """The order of whole runs: a cell begins with the arm that ended the last cell on the same host.

    It may follow a shuffle of any arms: those of a plan, or those that are left of it.
    """

    def __init__(self) -> None:
        self._ended: dict[str, tuple[str, int]] = {}

    def of(self, trials: Sequence[Trial]) -> list[Trial]:
        """A cell's trials as they are to run, in the same slots; a start of an order experiment follows no arm."""
        if trials[0].series is not None:
            self.end()
            return list(trials)
        hosts = trials[0].hosts or ("",)
        before = self._ended.get(hosts[0])
        ordered = begun_by(trials, lambda trial: arm_of(trial) == before)
        self._ended.update(dict.fromkeys(hosts, arm_of(ordered[-1])))
        return [
            trial if trial.slot == own.slot else replace(trial, slot=own.slot)
            for trial, own in zip(ordered, trials, strict=True)
        ]

    def end(self) -> None:
        """Something else ran: what comes next follows no arm."""
        self._ended.clear()


def arm_of(trial: Trial) -> tuple[str, int]:
    """Its environment, and which of native's two it is."""
    return trial.environment.name, trial.replicate
