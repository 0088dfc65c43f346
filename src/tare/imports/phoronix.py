# SPDX-License-Identifier: Apache-2.0
"""``composite.xml`` of the Phoronix Test Suite: each system's runs of each test, with unit and direction.

Follows the suite's documentation of its result files; ``RawString`` holds the single runs, ``Value`` their mean.
"""

import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from tare.imports.reading import Document, Format, ImportedValue, Parsed, Printed
from tare.records import Direction
from tare.untrusted import start_of

_ROOT = "<PhoronixTestSuite"
_DECLARATION = re.compile(r"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
"""The suite writes none; entities could make a small text large."""
_DIRECTIONS = {"HIB": Direction.MORE, "LIB": Direction.LESS}
_SECONDS = {"seconds": 1.0, "milliseconds": 1e-3, "microseconds": 1e-6, "nanoseconds": 1e-9}
_FACTS = {"Hardware": "hardware", "Software": "software"}


def _recognizes(document: Document) -> bool:
    return _ROOT in document.text


def _parse(document: Document) -> Parsed:
    if _DECLARATION.search(document.text):
        raise ValueError("it declares a document type or entities, which the suite never does")
    try:
        root = ET.fromstring(document.text)  # noqa: S314 - without declarations, and of a bounded length
    except ET.ParseError as error:
        raise ValueError(f"its XML is broken: {error}") from error
    given = [each for result in root.iter("Result") for each in _of_result(result)]
    systems = {_text(system, "Identifier"): system for system in root.iter("System")}
    return Parsed(
        readings=tuple(each for each in given if isinstance(each, ImportedValue)),
        facts={
            f"{label} of {name}": _text(system, tag)
            for name, system in systems.items()
            for tag, label in _FACTS.items()
        },
        remarks=tuple(each for each in given if isinstance(each, str)),
    )


def _of_result(result: ET.Element) -> Iterator[ImportedValue | str]:
    title = ", ".join(filter(None, (_text(result, "Title"), _text(result, "Description"))))
    proportion = _text(result, "Proportion").upper()
    if proportion not in _DIRECTIONS:
        yield f"{title}: its proportion {proportion!r} does not tell whether less is better"
        return
    scale = _text(result, "Scale")
    factor = _SECONDS.get(scale.lower(), 1.0)
    for entry in result.iter("Entry"):
        texts = _runs(entry)
        if texts == ("",):
            yield f"{title}: {_text(entry, 'Identifier')} has no value"
            continue
        for text in texts:
            printed = Printed.of(text.strip(), factor)
            yield ImportedValue(
                subject=title,
                metric="result",
                unit="s" if scale.lower() in _SECONDS else scale,
                direction=_DIRECTIONS[proportion],
                value=printed.value,
                half_digit=printed.half_digit,
                arm=_text(entry, "Identifier"),
            )


def _runs(entry: ET.Element) -> tuple[str, ...]:
    """The single runs; if it has none, their mean, which is one value."""
    value = _text(entry, "Value")
    if "," in value:
        raise ValueError(f"the value {start_of(value)} is a curve, which is not imported")
    return tuple((_text(entry, "RawString") or value).split(":"))


def _text(element: ET.Element, tag: str) -> str:
    return (element.findtext(tag) or "").strip()


PHORONIX = Format(name="Phoronix Test Suite", recognizes=_recognizes, parse=_parse)
