# SPDX-License-Identifier: Apache-2.0
"""What a reader chose: the address of a page holds all of it, so that every view has an address of its own."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Self
from urllib.parse import urlencode

from tare.records import NATIVE, Cell, Summary

LONGEST = 400
"""Characters of one parameter."""
EVERY = "*"
"""As the metric: all of them, not only those declared before the start."""
_MOST_NUMBER = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewChoice:
    """Filters of a result's page; an empty text and ``None`` leave all in."""

    environment: str = ""
    workload: str = ""
    layout: str = ""
    metric: str = ""
    """Empty: the metrics declared before the start."""
    block: int | None = None
    point: str = ""
    """Whose samples are shown: a ``point_name``."""
    trial: str = ""
    page: int = 1
    rows: int = 1
    """The page of the samples or blocks below the chart, or of a part's pictures, from 1."""
    parts: str = ""
    """Names of the parts below the chart that are open, with points between them."""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Self:
        """Take what is known of an address; ``ValueError`` for a number that is none, and for long texts."""
        values: dict[str, str | int] = {}
        for field in fields(cls):
            if text := given.get(field.name, "").strip():
                values[field.name] = _number(field.name, text) if field.type is not str else _text(text)
        return cls(**values)  # type: ignore[arg-type] # by the fields' own types

    def query(self, **changed: str | int | None) -> str:
        """The address's part after the path, with some of it changed; begins with ``?`` unless it is empty."""
        other = replace(self, **changed)  # type: ignore[arg-type] # the caller names fields
        usual = ViewChoice()
        kept = {
            field.name: getattr(other, field.name)
            for field in fields(self)
            if getattr(other, field.name) != getattr(usual, field.name)
        }
        return f"?{urlencode(kept)}" if kept else "?"

    def wants(self, summary: Summary) -> bool:
        """Whether the filters leave a row of the chart in."""
        metric = summary.primary if not self.metric else self.metric in {EVERY, summary.metric}
        return metric and self.keeps(summary.environment, summary.cell)

    def keeps(self, environment: str, *cells: Cell) -> bool:
        """Whether the filters leave in what an environment did in one of these cells; native stands beside each."""
        return (not self.environment or environment in {self.environment, NATIVE}) and any(
            self.workload in {"", cell.workload} and self.layout in {"", cell.layout} for cell in cells
        )

    @property
    def places(self) -> Self:
        """The filters of environment, workload and layout alone."""
        return type(self)(environment=self.environment, workload=self.workload, layout=self.layout)

    def shows(self, part: str) -> bool:
        """Whether a part below the chart is open."""
        return part in self.parts.split(".")

    def toggled(self, part: str) -> str:
        """The open parts once this one is opened, or closed."""
        others = [name for name in self.parts.split(".") if name not in {"", part}]
        return ".".join(others if self.shows(part) else [*others, part])


def point_name(summary: Summary) -> str:
    """What a point of the chart is called in an address: the same however often the result is read again."""
    parts = (
        summary.cell.workload,
        summary.cell.layout,
        summary.environment,
        summary.metric,
        summary.unit,
        summary.direction.name,
    )
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > len(str(_MOST_NUMBER)):
        raise ValueError(f"{name} must be a whole number")
    return max(int(text), 0 if name == "block" else 1)


def _text(text: str) -> str:
    if len(text) > LONGEST:
        raise ValueError("the address is too long")
    return text
