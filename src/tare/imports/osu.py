# SPDX-License-Identifier: Apache-2.0
"""The text of the OSU Micro-Benchmarks: a table of message sizes for each test, one or several runs in a row.

Of collective tests the average over the processes is read, not the fastest and the slowest.
"""

import re
from collections.abc import Iterator

from tare.imports.reading import Document, Format, ImportedValue, Parsed, Printed
from tare.records import Direction
from tare.untrusted import start_of

_TITLE = re.compile(r"# OSU (.{1,80}?) v([0-9][0-9.]{0,15})", re.ASCII)
_HEADER = re.compile(r"# (?:Size\b|Avg Latency).{0,200}", re.ASCII)
_COLUMN = re.compile(r"[A-Z][A-Za-z./]*(?: [A-Z][A-Za-z.]*)*(?: ?\([A-Za-z/%]+\))?", re.ASCII)
_COLUMNS = {
    "Latency (us)": ("latency_s", "s", 1e-6, Direction.LESS),
    "Latency(us)": ("latency_s", "s", 1e-6, Direction.LESS),
    "Avg Latency(us)": ("latency_s", "s", 1e-6, Direction.LESS),
    "Bandwidth (MB/s)": ("bandwidth_byte_per_s", "B/s", 1e6, Direction.MORE),
    "MB/s": ("bandwidth_byte_per_s", "B/s", 1e6, Direction.MORE),
    "Messages/s": ("message_per_s", "1/s", 1.0, Direction.MORE),
    "Overall(us)": ("overall_s", "s", 1e-6, Direction.LESS),
}
"""Title of a column → metric, unit, factor to it, direction."""


def _recognizes(document: Document) -> bool:
    return _TITLE.search(document.text) is not None


def _parse(document: Document) -> Parsed:
    versions = dict.fromkeys(version for _, version in _TITLE.findall(document.text))
    return Parsed(readings=tuple(_readings(document.text)), facts={"OSU version": ", ".join(versions)})


def _readings(text: str) -> Iterator[ImportedValue]:
    title = ""
    columns: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if begun := _TITLE.match(line):
            title, columns = begun[1], []
        elif _HEADER.fullmatch(line.strip()):
            columns = _COLUMN.findall(line)
        elif columns and line.strip()[:1].isdigit():
            yield from _of_line(number, title, columns, line.split())


def _of_line(number: int, title: str, columns: list[str], fields: list[str]) -> Iterator[ImportedValue]:
    if len(fields) < len(columns):
        raise ValueError(
            f"line {number} has {len(fields)} fields under {len(columns)} titles: it is cut short"
        )
    for column, text in zip(columns, fields, strict=False):
        if column in _COLUMNS:
            metric, unit, factor, direction = _COLUMNS[column]
            printed = Printed.of(text, factor)
            yield ImportedValue(
                subject=f"{title}, {_size(fields[0])}" if columns[0] == "Size" else title,
                metric=metric,
                unit=unit,
                direction=direction,
                value=printed.value,
                half_digit=printed.half_digit,
            )


def _size(text: str) -> str:
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"{start_of(text)} is no message size")
    return f"{text} B"


OSU = Format(name="OSU Micro-Benchmarks", recognizes=_recognizes, parse=_parse)
