# SPDX-License-Identifier: Apache-2.0
"""The functions of Tare that the campaigns go through, and all that differs between two trees that are compared.

The same cells run on an earlier tree, ``PYTHONPATH=EARLIER/src:.``: what only one of the trees has is asked for here,
and nowhere else.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import groupby
from typing import Any

from tare.analyze import in_families, verdicts, without_busy_claims, without_steady_claims
from tare.measure.turns import slices
from tare.records import Cell, Course, Estimate, Summary, Trial, Verdict, Word

MARGIN = 0.01


def judged(
    summaries: Sequence[Summary], courses: Mapping[tuple[Cell, str], Course] | None = None
) -> tuple[Verdict, ...]:
    """The verdicts in the order of ``tare.pipeline``, without the checks that only add remarks."""
    return without_busy_claims(in_families(without_steady_claims(verdicts(summaries, MARGIN, courses), ())))


def shown(verdict: Verdict) -> Estimate:
    """The interval that a report prints beside the word."""
    backing: Estimate | None = getattr(verdict, "shown", None)
    return backing or verdict.overhead.typical


def is_unqualified(verdict: Verdict) -> bool:
    """Whether the word is said of the mean too; an earlier tree shows it in the sentence alone."""
    if verdict.word is Word.UNDECIDED:
        return False
    rules = _module("tare.analyze.qualification")
    if rules is None:
        return not verdict.claim.startswith("typically")
    return rules.qualification(verdict) is None


def names_load(verdict: Verdict) -> bool:
    """Whether the verdict says what the load of other programs alone could have made of it."""
    return getattr(verdict, "load", None) is not None


def as_run(trials: Iterable[Trial]) -> list[Trial]:
    """The order in which a runner takes the trials that are left of a plan."""
    orders = _module("tare.plan.succession")
    if orders is None:
        return list(trials)
    succession, run = orders.Succession(), list[Trial]()
    for _, cell in groupby(trials, key=lambda trial: (trial.block, trial.workload.name, trial.setting)):
        members = list(cell)
        if members[0].turns is None:
            run += succession.of(members)
        else:
            run += members
            succession.end()
    return run


def turns_of_slices(arms: int, rounds: int, source: random.Random) -> Iterator[Sequence[int]]:
    """The arms of each round of slices, in their order."""
    yield from slices.orders(arms, rounds, source)


def leads_in() -> bool:
    """Whether the first slice, and the first whole run after turns, follow a turn of their own that does not count."""
    return _module("tare.plan.succession") is not None


def turns_of_freezer(arms: int, rounds: int, source: random.Random) -> Iterator[Sequence[int]]:
    """The arms of each round of the freezer, in their order; in an earlier tree shuffled anew each round."""
    orders = _module("tare.plan.succession")
    turns = orders and orders.TurnOrders(source)
    for _ in range(rounds):
        yield turns.order(range(arms)) if turns else source.sample(range(arms), arms)


@cache
def _module(name: str) -> Any:
    """A module of Tare; ``None`` where this tree has none of this name."""
    return import_module(name) if find_spec(name) else None
