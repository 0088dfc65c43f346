# SPDX-License-Identifier: Apache-2.0
"""From an SVG file of Tare's own to a TikZ picture: LaTeX sets its text, so that it has the document's fonts.

It knows what the renderer writes, no more: groups, paths, lines, rectangles and texts, moved, turned or scaled. It
uses only what every TikZ has, no library.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from xml.etree import ElementTree as ET

from tare.drawing.svg_paths import Point, segments

_PIXEL_BP = 0.75
"""A CSS pixel in big points."""
_NAMESPACE = "{http://www.w3.org/2000/svg}"
_NONE = {"", "none", "transparent"}
_NAMED = {"black": "000000", "white": "ffffff"}
_ANCHORS = {"start": "base west", "middle": "base", "end": "base east"}
_INHERITED = (
    *("fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "fill-opacity", "stroke-opacity"),
    *("font-size", "font-weight", "text-anchor", "display"),
)


class _Matrix(NamedTuple):
    """x' = a x + c y + e; y' = b x + d y + f."""

    a: float = 1.0
    b: float = 0.0
    c: float = 0.0
    d: float = 1.0
    e: float = 0.0
    f: float = 0.0

    def at(self, point: Point) -> Point:
        x, y = point
        return self.a * x + self.c * y + self.e, self.b * x + self.d * y + self.f

    def then(self, inner: "_Matrix") -> "_Matrix":
        """This one around ``inner``."""
        e, f = self.at((inner.e, inner.f))
        return _Matrix(
            self.a * inner.a + self.c * inner.b,
            self.b * inner.a + self.d * inner.b,
            self.a * inner.c + self.c * inner.d,
            self.b * inner.c + self.d * inner.d,
            e,
            f,
        )

    @property
    def degrees(self) -> float:
        return math.degrees(math.atan2(self.b, self.a))


@dataclass(frozen=True, slots=True)
class _Drawn:
    """An element with what it inherits."""

    element: ET.Element
    look: Mapping[str, str]
    place: _Matrix

    def number(self, name: str, otherwise: float = 0.0) -> float:
        return float(self.element.get(name, str(otherwise)).removesuffix("px"))


def to_tikz(svg: str, escape: Callable[[str], str]) -> str:
    r"""A ``tikzpicture`` for ``\input``; ``escape`` makes a text one that LaTeX prints as it is."""
    root = ET.fromstring(svg)  # noqa: S314 - our own renderer's output, no document of others
    colours: dict[str, str] = {}
    lines = [line for each in _elements(root, {}, _Matrix()) for line in _lines(each, colours, escape)]
    defined = [rf"\definecolor{{{name}}}{{HTML}}{{{value.upper()}}}" for value, name in colours.items()]
    begin = rf"\begin{{tikzpicture}}[x={_PIXEL_BP}bp, y=-{_PIXEL_BP}bp, inner sep=0pt, outer sep=0pt]"
    return "\n".join(["% needs \\usepackage{tikz}", begin, *defined, *lines, r"\end{tikzpicture}%"]) + "\n"


def _elements(element: ET.Element, look: Mapping[str, str], place: _Matrix) -> Iterator[_Drawn]:
    own = {name: element.attrib[name] for name in _INHERITED if name in element.attrib}
    if "opacity" in own and "opacity" in look:
        own["opacity"] = f"{float(own['opacity']) * float(look['opacity']):g}"
    look = {**look, **own}
    place = place.then(_transform(element.get("transform", "")))
    if look.get("display") == "none":
        return
    yield _Drawn(element, look, place)
    for inner in element:
        yield from _elements(inner, look, place)


def _transform(text: str) -> _Matrix:
    whole = _Matrix()
    for name, arguments in re.findall(r"(\w+)\(([^)]*)\)", text):
        whole = whole.then(
            _moved(name, [float(each) for each in re.findall(r"-?[\d.]+(?:e-?\d+)?", arguments)])
        )
    return whole


def _moved(name: str, values: list[float]) -> _Matrix:
    if name == "translate":
        return _Matrix(e=values[0], f=values[1] if len(values) > 1 else 0.0)
    if name == "scale":
        return _Matrix(a=values[0], d=values[-1])
    if name == "rotate":
        cosine, sine = math.cos(math.radians(values[0])), math.sin(math.radians(values[0]))
        x, y = values[1:] if len(values) > 1 else (0.0, 0.0)
        turned = _Matrix(cosine, sine, -sine, cosine)
        return _Matrix(e=x, f=y).then(turned).then(_Matrix(e=-x, f=-y))
    return _Matrix(*values)


def _lines(drawn: _Drawn, colours: dict[str, str], escape: Callable[[str], str]) -> Iterator[str]:
    kind = drawn.element.tag.removeprefix(_NAMESPACE)
    if kind == "text":
        yield from _text(drawn, colours, escape)
        return
    path = {"path": _path, "line": _line, "rect": _rectangle}.get(kind, lambda _: "")(drawn)
    options = _options(drawn.look, colours)
    if path and options:
        yield rf"\path[{', '.join(options)}] {path};"


def _text(drawn: _Drawn, colours: dict[str, str], escape: Callable[[str], str]) -> Iterator[str]:
    """A node for each line of the text."""
    size = float(drawn.look.get("font-size", "11px").removesuffix("px")) * _PIXEL_BP
    bold = r"\bfseries" if drawn.look.get("font-weight") in {"bold", "600", "700"} else ""
    font = rf"\fontsize{{{size:.3g}bp}}{{{1.2 * size:.3g}bp}}\selectfont{bold}"
    parts = [part for part in drawn.element if part.tag == f"{_NAMESPACE}tspan"]
    own = [(drawn.element.text or "", 0.0)]
    down = 0.0
    for part in parts:
        down += float(part.get("dy", "0").removesuffix("px"))
        own.append((part.text or "", down))
    colour = _colour(drawn.look.get("fill", "black"), colours) or "black"
    options = [f"anchor={_ANCHORS[drawn.look.get('text-anchor', 'start')]}", f"text={colour}", f"font={font}"]
    options += [f"rotate={-drawn.place.degrees:.4g}"] if abs(drawn.place.degrees) > _LEAST_DEGREES else []
    for words, dy in own:
        if words.strip():
            at = _pair(drawn.place.at((drawn.number("x"), drawn.number("y") + dy)))
            yield rf"\node[{', '.join(options)}] at {at} {{{escape(words)}}};"


_LEAST_DEGREES = 0.01


def _options(look: Mapping[str, str], colours: dict[str, str]) -> list[str]:
    """TikZ's options; empty where nothing is seen."""
    fill, stroke = (_colour(look.get(name, "none"), colours) for name in ("fill", "stroke"))
    options = [f"fill={fill}"] if fill else []
    if stroke:
        width = float(look.get("stroke-width", "1")) * _PIXEL_BP
        options += [f"draw={stroke}", f"line width={width:.3g}bp"]
        if dashes := re.findall(r"[\d.]+", look.get("stroke-dasharray", "")):
            on, off = (float(each) * _PIXEL_BP for each in (dashes[0], dashes[-1]))
            options.append(f"dash pattern=on {on:.3g}bp off {off:.3g}bp")
    for name in ("opacity", "fill-opacity", "stroke-opacity"):
        if options and look.get(name, "1") != "1":
            key = "draw opacity" if name == "stroke-opacity" else name.replace("-", " ")
            options.append(f"{key}={float(look[name]):.3g}")
    return options


def _colour(value: str, colours: dict[str, str]) -> str:
    """TikZ's name for it; empty for none."""
    if value in _NONE:
        return ""
    digits = _NAMED.get(value, value.removeprefix("#"))
    if re.fullmatch(r"[0-9a-fA-F]{3}", digits):
        digits = "".join(2 * digit for digit in digits)
    if not re.fullmatch(r"[0-9a-fA-F]{6}", digits):
        digits = _NAMED["black"]
    return colours.setdefault(digits.lower(), f"tare{len(colours)}")


def _path(drawn: _Drawn) -> str:
    words = []
    for segment in segments(drawn.element.get("d", "")):
        points = [_pair(drawn.place.at(point)) for point in segment.points]
        words.append(_JOINS[segment.kind].format(*points))
    return " ".join(words)


_JOINS = {"M": "{}", "L": "-- {}", "C": ".. controls {} and {} .. {}", "Z": "-- cycle"}


def _line(drawn: _Drawn) -> str:
    first = drawn.place.at((drawn.number("x1"), drawn.number("y1")))
    return f"{_pair(first)} -- {_pair(drawn.place.at((drawn.number('x2'), drawn.number('y2'))))}"


def _rectangle(drawn: _Drawn) -> str:
    x, y, width, height = (drawn.number(name) for name in ("x", "y", "width", "height"))
    corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
    return " -- ".join([*(_pair(drawn.place.at(corner)) for corner in corners), "cycle"])


def _pair(point: Point) -> str:
    return f"({point[0]:.2f},{point[1]:.2f})".replace("-0.00", "0.00")
