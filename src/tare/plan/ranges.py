# SPDX-License-Identifier: Apache-2.0
"""``ranges`` of a ``[[workload]]``: figures over the points of a curve within bounds, as people write them."""

import math
import re
from collections.abc import Iterator, Mapping

from tare.plan.problems import Problem, shown
from tare.plan.toml_lines import Path
from tare.records import Range
from tare.units import parse_byte

_EXAMPLE = '"100 kB .. 1 MB", "< 64 KiB" or ">= 4"'
_BETWEEN = re.compile(r"(.{1,40}?) ?\.\. ?(.{1,40})")
_BEYOND = re.compile(r"(<=|>=|<|>) ?(.{1,40})")
_METRIC = "metric"


def ranges_of(
    tables: Mapping[str, Mapping[str, object]], path: Path, problems: list[Problem]
) -> tuple[Range, ...]:
    """``name = { metric = ..., COORDINATE = BOUNDS, ... }`` to records; faults are added to ``problems``."""
    ranges = []
    for name, table in tables.items():
        where = (*path, "ranges", name)
        faults = list(_problems(table, where))
        problems += faults
        if not faults:
            bounds = {key: parse_bounds(str(text)) for key, text in table.items() if key != _METRIC}
            ranges.append(Range(name=name, metric=str(table[_METRIC]), bounds=bounds))
    return tuple(ranges)


def _problems(table: Mapping[str, object], where: Path) -> Iterator[Problem]:
    if not (isinstance(table.get(_METRIC), str) and table[_METRIC]):
        yield Problem(where, 'says not of which curve: give metric = "latency_s" or another one')
    if not table.keys() - {_METRIC}:
        yield Problem(where, 'has no bounds: give a coordinate with its range, such as size = "< 100 kB"')
    for key, text in table.items():
        if key == _METRIC:
            continue
        try:
            parse_bounds(text)
        except ValueError as error:
            yield Problem((*where, key), str(error))


def parse_bounds(text: object) -> tuple[float | None, float | None]:
    """``"100 kB .. 1 MB"`` → (100000.0, 1000000.0), both included; ``ValueError`` says how to write it."""
    wrong = ValueError(f"must be a range such as {_EXAMPLE}, but is {shown(text)}")
    if not isinstance(text, str):
        raise wrong
    if match := _BEYOND.fullmatch(text.strip()):
        return _beyond(match[1], _number(match[2], wrong))
    if not (match := _BETWEEN.fullmatch(text.strip())):
        raise wrong
    least, most = (_number(part, wrong) for part in match.groups())
    if least > most:
        raise ValueError(f"{shown(text)} begins above its end")
    return least, most


def _beyond(sign: str, bound: float) -> tuple[float | None, float | None]:
    """Without its bound, a range ends at the number next to it."""
    if sign.startswith("<"):
        return None, bound if sign == "<=" else math.nextafter(bound, -math.inf)
    return bound if sign == ">=" else math.nextafter(bound, math.inf), None


def _number(text: str, wrong: ValueError) -> float:
    """A number, or a size in bytes."""
    try:
        value = float(text)
    except ValueError:
        try:
            value = float(parse_byte(text))
        except (ValueError, OverflowError):
            raise wrong from None
    if not math.isfinite(value):
        raise wrong
    return value
