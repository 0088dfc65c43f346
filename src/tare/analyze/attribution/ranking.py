# SPDX-License-Identifier: Apache-2.0
"""The order of candidates.

First signals that account for at least half of the loss, then events that native hardly has, smaller shares of the
loss, larger amounts of what native has too, and signals that merely vary with the overhead. A signal that contains
another candidate, or follows from it, comes right after it: time waited for a processor contains the time in which a
quota held the job back.
"""

from collections.abc import Sequence
from dataclasses import replace

from tare.analyze.attribution.known import known, specificity
from tare.records import Clue, Ground, Scope

_MOST_OF_IT = 0.5
_HARDLY = 0.1


def ranked(clues: Sequence[Clue]) -> tuple[Clue, ...]:
    """Candidates first, as above; then the others, the largest shares first."""
    candidates = sorted((clue for clue in clues if clue.grounds), key=_place)
    others = sorted((clue for clue in clues if not clue.grounds), key=_place_of_rest)
    order: list[Clue] = []
    for clue in candidates:
        _enter(clue, candidates, order)
    return (*order, *others)


def _enter(clue: Clue, candidates: Sequence[Clue], order: list[Clue]) -> None:
    """Enter a clue after the clues that it contains or follows from; these relations have no cycle."""
    if any(_same(clue, entered) for entered in order):
        return
    names = _within(clue)
    inner = [
        candidate for candidate in candidates if candidate.signal in names and not _same(candidate, clue)
    ]
    for contained in inner:
        _enter(contained, candidates, order)
    order.append(replace(clue, after=inner[0].signal) if inner else clue)


def _within(clue: Clue) -> tuple[str, ...]:
    """Names ranked before this clue; a signal of the whole host comes after the same signal of the nodes."""
    own = known(clue.signal).after
    return (*own, clue.signal) if clue.scope is Scope.HOST else own


def _same(clue: Clue, other: Clue) -> bool:
    return (clue.signal, clue.scope, clue.unit) == (other.signal, other.scope, other.unit)


def _place(clue: Clue) -> tuple[int, float, int, bool]:
    share = 0.0 if clue.share is None else clue.share.point
    return _tier(clue, share), -share, specificity(clue.signal), clue.scope is Scope.HOST


def _tier(clue: Clue, share: float) -> int:
    if share >= _MOST_OF_IT:
        return 0
    if Ground.EVENTS in clue.grounds and clue.native <= _HARDLY * max(clue.excess.point, 0.0):
        return 1
    if Ground.TIME in clue.grounds:
        return 2
    return 3 if Ground.EVENTS in clue.grounds else 4


def _place_of_rest(clue: Clue) -> tuple[float, int]:
    return (0.0 if clue.share is None else -clue.share.point), specificity(clue.signal)
