# SPDX-License-Identifier: Apache-2.0
"""Number of trials that each environment lost to the rules declared before the start."""

from collections import Counter
from collections.abc import Sequence

from tare.records import Cell, Exclusions, Outcome, Rule
from tare.treat.pairing import cell_of


def exclusions(outcomes: Sequence[Outcome]) -> tuple[Exclusions, ...]:
    """Number of trials lost to rules in each cell and environment; ordered by both."""
    trials: Counter[tuple[Cell, str]] = Counter()
    lost: dict[tuple[Cell, str], Counter[Rule]] = {}
    for outcome in outcomes:
        key = (cell_of(outcome), outcome.trial.environment.name)
        trials[key] += 1
        if outcome.excluded_by is not None:
            lost.setdefault(key, Counter())[outcome.excluded_by] += 1
    keys = sorted(trials, key=lambda key: (key[0].workload, key[0].layout, key[1]))
    return tuple(
        Exclusions(
            cell=cell, environment=name, trials=trials[cell, name], excluded=dict(lost.get((cell, name), {}))
        )
        for cell, name in keys
    )
