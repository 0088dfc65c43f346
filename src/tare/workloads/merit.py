# SPDX-License-Identifier: Apache-2.0
"""Figures of merit in what a program prints, each by a regular expression: single numbers, or tables as curves.

In: ``NAME [UNIT, higher]=REGEX`` as the user wrote it, and later the printed text. Out: samples.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from tare.errors import WrongOutput
from tare.records import Coordinate, Direction, Sample
from tare.workloads import excerpt

VALUE = "value"
"""The group of a pattern that is the number, where other groups are places."""
_HEADING = re.compile(
    r"([A-Za-z][A-Za-z0-9_]{0,39})(?:\s*\[([^\[\]=,\s]{1,20})(?:,\s*(higher|lower))?\])?", re.ASCII
)
_UNITS = {"byte": "B", "s": "s"}
"""Ending of a group's name → unit of the coordinate."""
_EXCERPT = 2000


@dataclass(frozen=True, slots=True)
class Merit:
    """One figure, or one curve: then every match is a point of it."""

    name: str
    unit: str | None
    """``None``: as for all figures of the program."""
    direction: Direction | None
    pattern: re.Pattern[str]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the notation; ``ValueError`` says what is wrong with it."""
        written, separator, pattern = text.partition("=")
        heading = _HEADING.fullmatch(written)
        if not separator or heading is None:
            raise ValueError(
                f"{text!r} is no figure of merit; write NAME=REGEX or NAME [UNIT, higher]=REGEX, the name of letters, "
                "digits and _"
            )
        compiled = _compiled(pattern)
        directions = {"higher": Direction.MORE, "lower": Direction.LESS}
        return cls(heading[1], heading[2], directions.get(heading[3]), compiled)

    @property
    def places(self) -> tuple[str, ...]:
        """The groups that are coordinates; empty: a single figure."""
        return tuple(name for name in self.pattern.groupindex if name != VALUE)

    def samples(self, printed: str, unit: str, direction: Direction) -> list[Sample]:
        """Of matches at the same place the last counts, as programs print intermediate figures first.

        Raises ``WrongOutput`` if nothing matches, or if a group is no number.
        """
        values = {self._place(match): self._number(match, self._group) for match in self._matches(printed)}
        if not values:
            raise WrongOutput(
                f"{self.name}: nothing that it printed matches {self.pattern.pattern!r}",
                excerpt.tail(printed, _EXCERPT),
            )
        return [
            Sample(
                name=self.name,
                value=value,
                unit=self.unit or unit,
                direction=self.direction or direction,
                coordinates=place,
            )
            for place, value in values.items()
        ]

    @property
    def _group(self) -> str | int:
        return VALUE if VALUE in self.pattern.groupindex else 1

    def _matches(self, printed: str) -> Iterator[re.Match[str]]:
        matches = self.pattern.finditer(printed)
        return matches if self.places else iter(list(matches)[-1:])

    def _place(self, match: re.Match[str]) -> tuple[Coordinate, ...]:
        return tuple(_coordinate(group, self._number(match, group)) for group in self.places)

    def _number(self, match: re.Match[str], group: str | int) -> float:
        text = match[group]
        try:
            value = float(text)
        except (TypeError, ValueError):
            value = math.nan
        if not math.isfinite(value):
            raise WrongOutput(f"{self.name}: {text!r} is no number", excerpt.head(match[0], _EXCERPT))
        return value


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        compiled = re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from None
    if compiled.groups < 1:
        raise ValueError(f"{pattern!r} has no group: put the number in parentheses, such as (\\S+)")
    named = compiled.groupindex
    if named and VALUE not in named:
        raise ValueError(
            f"{pattern!r} names the groups of places, but not the number's: write it (?P<{VALUE}>\\S+)"
        )
    dimensions = [_dimension(name)[0] for name in named if name != VALUE]
    if len(set(dimensions)) < len(dimensions):
        raise ValueError(f"{pattern!r} has two groups for the same coordinate")
    return compiled


def _dimension(group: str) -> tuple[str, str | None]:
    """A coordinate's name and unit: ``size_byte`` is a size in bytes."""
    name, _, ending = group.rpartition("_")
    return (name, _UNITS[ending]) if name and ending in _UNITS else (group, None)


def _coordinate(group: str, value: float) -> Coordinate:
    name, unit = _dimension(group)
    return Coordinate(name, value, unit)
