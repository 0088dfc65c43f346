# SPDX-License-Identifier: Apache-2.0
"""Letters for what was not distinguished.

Piepho, Journal of Computational and Graphical Statistics 13 (2004) 456-466, as remembered.
"""

from collections.abc import Iterable, Sequence

_ALPHABET = 26


def letters(names: Sequence[str], distinguished: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Give each name its letters; two names share a letter exactly when their pair is not in ``distinguished``.

    Insert and absorb: all names start in one group. For each distinguished pair, every group with both names is split
    into one without the first and one without the second; a group inside another is absorbed. Letters follow the order
    of ``names``; after z come a1, b1 and so on.
    """
    groups = [frozenset(names)]
    for first, second in distinguished:
        groups = _absorbed(part for group in groups for part in _split(group, first, second))
    places = {name: place for place, name in enumerate(names)}
    groups.sort(key=lambda group: sorted(places[name] for name in group))
    return {
        name: "".join(_letter(number) for number, group in enumerate(groups) if name in group)
        for name in names
    }


def _split(group: frozenset[str], first: str, second: str) -> Iterable[frozenset[str]]:
    return (group - {first}, group - {second}) if {first, second} <= group else (group,)


def _absorbed(groups: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    unique = list(dict.fromkeys(groups))
    return [group for group in unique if not any(group < other for other in unique)]


def _letter(number: int) -> str:
    again, place = divmod(number, _ALPHABET)
    return f"{chr(ord('a') + place)}{again or ''}"
