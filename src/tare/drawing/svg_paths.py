# SPDX-License-Identifier: Apache-2.0
"""The path of an SVG element as moves, lines and cubic curves by absolute points (SVG 1.1, chapter 8 and appendix F.6).

Arcs and quadratic curves become cubic ones.
"""

import math
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

Point = tuple[float, float]
_COUNTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "Q": 4, "A": 7, "Z": 0}
"""Command → how many numbers it takes."""
_WORD = re.compile(r"[a-zA-Z]|-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
_RIGHT_ANGLE = math.pi / 2


class Segment(NamedTuple):
    """``M``, ``L``, ``C`` or ``Z`` with one, one, three or no points."""

    kind: str
    points: tuple[Point, ...] = ()


def segments(text: str) -> Iterator[Segment]:
    """The path's segments; ``ValueError`` for a command that Tare's renderer never writes."""
    at = start = (0.0, 0.0)
    for command, values in _commands(_WORD.findall(text)):
        for segment in _absolute(command, values, at):
            yield segment
            at = segment.points[-1] if segment.points else start
            start = at if segment.kind == "M" else start


def _commands(words: list[str]) -> Iterator[tuple[str, list[float]]]:
    """Each command with its numbers; further numbers repeat it, after a move as lines."""
    place, command = 0, ""
    while place < len(words):
        if words[place].isalpha():
            command, place = words[place], place + 1
        if (count := _COUNTS.get(command.upper())) is None:
            raise ValueError(f"no path of Tare's: {command!r}")
        yield command, [float(word) for word in words[place : place + count]]
        place += count
        command = {"M": "L", "m": "l"}.get(command, command)


def _absolute(command: str, values: list[float], at: Point) -> Iterator[Segment]:
    kind = command.upper()
    x, y = at if command.islower() else (0.0, 0.0)
    if kind == "Z":
        yield Segment("Z")
    elif kind == "H":
        yield Segment("L", ((values[0] + x, at[1]),))
    elif kind == "V":
        yield Segment("L", ((at[0], values[0] + y),))
    elif kind == "A":
        end = (values[5] + x, values[6] + y)
        yield from _arc(at, end, (values[0], values[1]), values[2], (bool(values[3]), bool(values[4])))
    else:
        points = tuple((values[i] + x, values[i + 1] + y) for i in range(0, len(values), 2))
        yield Segment("C", _raised(at, *points)) if kind == "Q" else Segment(kind, points)


def _raised(at: Point, control: Point, end: Point) -> tuple[Point, ...]:
    """A quadratic curve as a cubic one."""

    def between(point: Point) -> Point:
        return point[0] + 2 / 3 * (control[0] - point[0]), point[1] + 2 / 3 * (control[1] - point[1])

    return between(at), between(end), end


def _arc(at: Point, end: Point, radii: Point, degrees: float, flags: tuple[bool, bool]) -> Iterator[Segment]:
    if at == end or 0.0 in radii:
        yield Segment("L", (end,))
        return
    turn = math.radians(degrees)
    cosine, sine = math.cos(turn), math.sin(turn)
    half = (at[0] - end[0]) / 2, (at[1] - end[1]) / 2
    x, y = cosine * half[0] + sine * half[1], -sine * half[0] + cosine * half[1]
    rx, ry = (abs(radius) for radius in radii)
    stretch = math.sqrt(max(1.0, (x / rx) ** 2 + (y / ry) ** 2))
    rx, ry = rx * stretch, ry * stretch
    below = (rx * y) ** 2 + (ry * x) ** 2
    factor = math.sqrt(max(0.0, (rx * ry) ** 2 / below - 1)) * (-1 if flags[0] == flags[1] else 1)
    cx, cy = factor * rx * y / ry, -factor * ry * x / rx
    first = math.atan2((y - cy) / ry, (x - cx) / rx)
    swept = math.atan2((-y - cy) / ry, (-x - cx) / rx) - first
    swept += 2 * math.pi * ((flags[1] and swept < 0) - (not flags[1] and swept > 0))

    def on_page(u: float, v: float) -> Point:
        u, v = u * rx + cx, v * ry + cy
        return cosine * u - sine * v + (at[0] + end[0]) / 2, sine * u + cosine * v + (at[1] + end[1]) / 2

    yield from _pieces(first, swept, on_page)


def _pieces(first: float, swept: float, on_page: Callable[[float, float], Point]) -> Iterator[Segment]:
    """A part of the unit circle as cubic curves of at most a right angle each."""
    count = max(1, math.ceil(abs(swept) / _RIGHT_ANGLE - 1e-9))
    step = swept / count
    reach = 4 / 3 * math.tan(step / 4)
    for piece in range(count):
        angle, next_angle = first + piece * step, first + (piece + 1) * step
        u, v, next_u, next_v = math.cos(angle), math.sin(angle), math.cos(next_angle), math.sin(next_angle)
        yield Segment(
            "C",
            (
                on_page(u - reach * v, v + reach * u),
                on_page(next_u + reach * next_v, next_v - reach * next_u),
                on_page(next_u, next_v),
            ),
        )
