# SPDX-License-Identifier: Apache-2.0
"""Which candidate comes first.

In this order: what accounts for half of the loss or more; events that native hardly has; smaller shares of the loss;
more of what native has too; and what merely varies with the overhead. Signals that contain another candidate, or
follow from it, come right after it: time waited for a processor contains the time in which a quota held the job back.
"""

from collections.abc import Sequence
from dataclasses import replace

from tare.analyze.attribution.known import known, specificity
from tare.records import Clue, Ground, Scope

_MOST_OF_IT = 0.5
_HARDLY = 0.1


def ranked(clues: Sequence[Clue]) -> tuple[Clue, ...]:
    """Candidates first, as above; the others after them, the largest shares first."""
    candidates = sorted((clue for clue in clues if clue.grounds), key=_place)
    others = sorted((clue for clue in clues if not clue.grounds), key=_place_of_rest)
    found: list[Clue] = []
    for clue in candidates:
        _enter(clue, candidates, found)
    return (*found, *others)


def _enter(clue: Clue, candidates: Sequence[Clue], found: list[Clue]) -> None:
    """Enter those first that this one contains or follows from; the list of these has no circle."""
    if any(_same(clue, one) for one in found):
        return
    names = _within(clue)
    inner = [
        candidate for candidate in candidates if candidate.signal in names and not _same(candidate, clue)
    ]
    for one in inner:
        _enter(one, candidates, found)
    found.append(replace(clue, after=inner[0].signal) if inner else clue)


def _within(clue: Clue) -> tuple[str, ...]:
    """What the whole host shows comes after what the nodes themselves show of it."""
    own = known(clue.signal).after
    return (*own, clue.signal) if clue.scope is Scope.HOST else own


def _same(one: Clue, other: Clue) -> bool:
    return (one.signal, one.scope, one.unit) == (other.signal, other.scope, other.unit)


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
