# SPDX-License-Identifier: Apache-2.0
"""Times that a trial has beside its own: arranged block by block, each with what it is a share of."""

from collections.abc import Iterable, Iterator, Sequence

from tare.records import NATIVE, Cell, Outcome, Status
from tare.treat.pairing import cell_of


def by_environment(outcomes: Sequence[Outcome]) -> Iterator[tuple[Cell, str, list[Outcome]]]:
    """The ``OK`` outcomes of each cell and environment other than native, ordered by both and then by block."""
    found: dict[tuple[Cell, str], list[Outcome]] = {}
    for outcome in sorted(outcomes, key=lambda each: each.trial.block):
        if outcome.status is Status.OK and outcome.trial.environment.name != NATIVE:
            found.setdefault((cell_of(outcome), outcome.trial.environment.name), []).append(outcome)
    for key in sorted(found, key=lambda key: (key[0].workload, key[0].layout, key[1])):
        yield *key, found[key]


def known_times(
    times_s: Iterable[tuple[float | None, float | None]],
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Of pairs of a time and the whole that it is a share of: the times that are known, and the shares that are."""
    pairs = [(time_s, whole_s) for time_s, whole_s in times_s if time_s is not None]
    return tuple(time_s for time_s, _ in pairs), tuple(
        time_s / whole_s for time_s, whole_s in pairs if whole_s
    )
