# SPDX-License-Identifier: Apache-2.0
"""Conditions and programs in which an environment's trials differed from native's."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from tare.records import BLAS, HOST_FILES, NATIVE, PROGRAM, Cell, Outcome, Status, Trait, Unlike
from tare.treat.pairing import cell_of

_Arm = tuple[Cell, str, str]
_UNKNOWN = "not known"


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


def unlike(outcomes: Sequence[Outcome]) -> tuple[Unlike, ...]:
    """Environments where a fact that must equal native's differs in any trial; unknown facts do not count.

    The host's own files are compared because they differ.
    """
    facts: dict[tuple[Cell, str, str], dict[str, None]] = {}
    for outcome in (each for each in outcomes if each.trial.environment.technology != HOST_FILES):
        for fact in (PROGRAM, BLAS):
            value = outcome.facts.get(fact)
            if value is not None and not value.startswith(_UNKNOWN):
                key = (cell_of(outcome), fact, outcome.trial.environment.name)
                facts.setdefault(key, {})[value] = None
    return tuple(_differences(facts))


def _differences(facts: dict[tuple[Cell, str, str], dict[str, None]]) -> Iterator[Unlike]:
    for (cell, fact, environment), values in facts.items():
        native = facts.get((cell, fact, NATIVE), {})
        others = [value for value in values if value not in native]
        if native and others and environment != NATIVE:
            yield Unlike(
                cell=cell,
                environment=environment,
                fact=fact,
                native=" | ".join(native),
                here=" | ".join(others),
            )
