# SPDX-License-Identifier: Apache-2.0
"""What a parser of another tool's output is given, and what it gives. Any fault of a text is a ``ValueError``."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any

from tare.records import Direction
from tare.untrusted import from_json, start_of

_NUMBER = re.compile(r"[0-9]{1,40}(?:\.[0-9]{0,40})?(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)
_LARGEST = 1e300
"""Of a value: the statistics add and square logarithms, whatever the unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedValue:
    """One value. 0 means that the tool printed too few digits, or had nothing to measure."""

    subject: str
    """What ran."""
    metric: str
    unit: str
    direction: Direction
    value: float
    half_digit: float = 0.0
    """Half of its last printed digit, in ``unit``; 0 where all digits are there."""
    arm: str = ""
    """Where it ran, if the output says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """One text, in its order."""

    readings: tuple[ImportedValue, ...]
    facts: Mapping[str, str] = field(default_factory=dict)
    """What it says of its host and its tool."""
    remarks: tuple[str, ...] = ()
    """What in it does not count, and why."""


class Document:
    """One text, parsed as JSON at most once."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def json(self) -> Any:
        """Its value; ``None`` if it does not begin like JSON. ``ValueError`` if it is invalid."""
        return from_json(self.text) if self.text.lstrip()[:1] in {"{", "["} else None

    def has(self, *keys: str) -> bool:
        """Whether it is a JSON object with all these keys."""
        return isinstance(self.json, dict) and all(key in self.json for key in keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One tool's output; the list of all is in ``imports/__init__.py``."""

    name: str
    recognizes: Callable[[Document], bool]
    parse: Callable[[Document], Parsed]
    """Raises ``ValueError``."""
    subjects_are_arms: bool = False
    """Whether the subjects of a single file are compared with each other."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A number as text has it, with half of its last digit."""

    value: float
    half_digit: float

    @classmethod
    def of(cls, text: str, factor: float = 1.0) -> "Printed":
        """Read a decimal number that is not negative; ``ValueError`` for anything else."""
        if not _NUMBER.fullmatch(text):
            raise ValueError(f"{start_of(text)} is no number of 0 or more")
        exponent = Decimal(text).as_tuple().exponent
        value = checked(float(text) * factor)
        return cls(value, 0.5 * 10.0 ** int(exponent) * factor)


def checked(value: float) -> float:
    """The value, if the statistics can take it; ``ValueError`` if it is negative, no number, or beyond measure."""
    if not 0 <= value <= _LARGEST:
        raise ValueError(f"a value is {value:g}, no number from 0 to {_LARGEST:g}")
    return value
