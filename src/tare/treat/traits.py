# SPDX-License-Identifier: Apache-2.0
"""Conditions under which an environment's trials ran and native's did not."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from tare.records import NATIVE, Cell, Outcome, Status, Trait
from tare.treat.pairing import cell_of

_Arm = tuple[Cell, str, str]


def traits(outcomes: Sequence[Outcome], labels: Collection[str]) -> tuple[Trait, ...]:
    """One per environment, cell and label in ``labels`` whose usual value differs from native's."""
    read: dict[_Arm, Counter[str]] = defaultdict(Counter)
    for outcome in outcomes:
        if outcome.status is Status.OK:
            cell, name = cell_of(outcome), outcome.trial.environment.name
            for label, value in _stated(outcome).items():
                if label in labels:
                    read[(cell, name, label)][value] += 1
    usual = {arm: values.most_common(1)[0][0] for arm, values in read.items()}
    return tuple(_differing(usual))


def _stated(outcome: Outcome) -> Mapping[str, str]:
    return {**outcome.parity.host, **outcome.parity.own, **outcome.facts}


def _differing(usual: Mapping[_Arm, str]) -> list[Trait]:
    return [
        Trait(cell=cell, environment=name, label=label, value=value, native=native)
        for (cell, name, label), value in usual.items()
        if name != NATIVE and value != (native := usual.get((cell, NATIVE, label)))
    ]
