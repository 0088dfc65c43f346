# SPDX-License-Identifier: Apache-2.0
"""Whether the same program ran in all arms, by the same code path, as the nodes reported before their trials."""

from collections.abc import Iterator, Sequence

from tare.records import BLAS, NATIVE, PROGRAM, Cell, Outcome, Unlike
from tare.treat.pairing import cell_of

_UNKNOWN = "not known"


def unlike(outcomes: Sequence[Outcome]) -> tuple[Unlike, ...]:
    """Environments where a fact that must equal native's differs in any trial; unknown facts do not count."""
    facts: dict[tuple[Cell, str, str], dict[str, None]] = {}
    for outcome in outcomes:
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
