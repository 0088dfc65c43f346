# SPDX-License-Identifier: Apache-2.0
"""From a Vega-Lite description to a static inline SVG that follows the page's colours and fonts."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from typing import Any
from xml.etree import ElementTree as ET

from tare.errors import HostError

_PANIC = "PanicException"
"""The renderer, a Rust library, raises this when the host refuses something; not an Exception, not importable."""
_WITHOUT_RENDERER = 'a picture, which needs the extra "pictures": pip install "tare[pictures]".'
_EDGE_PX = 8
"""Around a picture of its own: labels reach beyond the plot, and a file ends where a page goes on."""
_NAMESPACE = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Text of a picture for the page: its name and description, for readers who cannot see it."""

    identity: str
    """Unique in the page."""
    title: str
    description: str
    classes: str = ""


def render(specification: Mapping[str, Any], picture: Picture) -> str:
    """Draw without browser or network; a mark's description becomes its tooltip.

    Colours and fonts given as ``var(--name)`` are kept for the page to define. ``HostError`` when the host lacks
    something that the renderer needs, such as descriptors. Without the renderer a sentence takes the picture's place.
    """
    if not can_draw():
        return f'<p class="chart {picture.classes}">{escape(picture.title)}: {_WITHOUT_RENDERER}</p>'
    root = ET.fromstring(_drawn(specification))  # noqa: S314 - our own renderer's output, no document of others
    _name(root, picture)
    for element in root.iter():
        _tidy(element)
    ET.register_namespace("", _NAMESPACE.strip("{}"))
    text = ET.tostring(root, encoding="unicode", short_empty_elements=False)
    return re.sub(r' xmlns(:\w+)?="[^"]*"', "", text, count=2)


def can_draw() -> bool:
    """Whether the renderer is installed."""
    return find_spec("vl_convert") is not None


def standalone(specification: Mapping[str, Any], picture: Picture) -> str:
    """Draw a complete SVG file, which has its size, and names only the fonts of the specification."""
    root = ET.fromstring(_drawn(specification))  # noqa: S314 - our own renderer's output, no document of others
    width, height = (float(root.get(name, "0")) + 2 * _EDGE_PX for name in ("width", "height"))
    _name(root, picture)
    for element in root.iter():
        _tidy(element)
    root.set("viewBox", f"{-_EDGE_PX} {-_EDGE_PX} {width:g} {height:g}")
    root.set("width", f"{width:g}")
    root.set("height", f"{height:g}")
    ET.register_namespace("", _NAMESPACE.strip("{}"))
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def to_pdf(svg: str) -> bytes:
    """Convert a complete SVG file to a PDF file of one page of its size, with its fonts embedded."""
    import vl_convert  # noqa: PLC0415 - as below

    return bytes(_rendered(vl_convert.svg_to_pdf, svg))


def _drawn(specification: Mapping[str, Any]) -> str:
    import vl_convert  # noqa: PLC0415 - loads a whole JavaScript engine, needed by reports alone

    return str(_rendered(vl_convert.vegalite_to_svg, dict(specification)))


def _rendered(function: Callable[[Any], Any], argument: Any) -> Any:
    try:
        return function(argument)
    except BaseException as error:
        if type(error).__name__ != _PANIC:
            raise
        raise HostError(
            f"the report's pictures cannot be drawn: {error}; nothing else is lost: `tare report` tries again"
        ) from error


def _name(root: ET.Element, picture: Picture) -> None:
    root.attrib.pop("version", None)
    width, height = root.attrib.pop("width"), root.attrib.pop("height")
    root.set("viewBox", f"0 0 {width} {height}")
    root.set("class", f"chart {picture.classes}".strip())
    root.set("role", "img")
    root.set("aria-labelledby", f"{picture.identity}-title {picture.identity}-description")
    for position, (tag, text) in enumerate((("title", picture.title), ("desc", picture.description))):
        element = ET.Element(f"{_NAMESPACE}{tag}")
        element.set("id", f"{picture.identity}-{'title' if tag == 'title' else 'description'}")
        element.text = text
        root.insert(position, element)


def _tidy(element: ET.Element) -> None:
    label = element.attrib.pop("aria-label", None)
    for name in ("aria-roledescription", "aria-hidden", "pointer-events"):
        element.attrib.pop(name, None)
    if element.get("role") != "img":
        element.attrib.pop("role", None)
        element.attrib.pop("class", None)
    if label and element.tag == f"{_NAMESPACE}path":
        ET.SubElement(element, f"{_NAMESPACE}title").text = label
    for name in ("d", "transform", "x2", "y2"):
        if name in element.attrib:
            element.set(name, re.sub(r"-?\d+\.\d{2,}", _shortened, element.attrib[name]))


def _shortened(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}"
