# SPDX-License-Identifier: Apache-2.0
"""The text of the OSU Micro-Benchmarks, of one or several runs in a row, as the workload ``osu`` reads it.

Of collective tests the average over the processes is read, not the fastest and the slowest.
"""

from collections.abc import Iterator

from tare.imports.reading import Document, Format, ImportedValue, Parsed, Printed
from tare.records import Direction
from tare.untrusted import start_of
from tare.workloads.osu.output import MEAN_LATENCY, SIZE, TITLE, OsuRow, rows

_COLUMNS = dict.fromkeys(MEAN_LATENCY, ("latency_s", "s", 1e-6, Direction.LESS)) | {
    "Bandwidth (MB/s)": ("bandwidth_byte_per_s", "B/s", 1e6, Direction.MORE),
    "MB/s": ("bandwidth_byte_per_s", "B/s", 1e6, Direction.MORE),
    "Messages/s": ("message_per_s", "1/s", 1.0, Direction.MORE),
    "Overall(us)": ("overall_s", "s", 1e-6, Direction.LESS),
}
"""Title of a column → metric, unit, factor to it, direction."""


def _recognizes(document: Document) -> bool:
    return TITLE.search(document.text) is not None


def _parse(document: Document) -> Parsed:
    versions = dict.fromkeys(version for _, version in TITLE.findall(document.text))
    readings = tuple(reading for row in rows(document.text) for reading in _of_row(row))
    return Parsed(readings=readings, facts={"OSU version": ", ".join(versions)})


def _of_row(row: OsuRow) -> Iterator[ImportedValue]:
    first, size = row.fields[0]
    for column, text in row.fields:
        if column in _COLUMNS:
            metric, unit, factor, direction = _COLUMNS[column]
            printed = Printed.of(text, factor)
            yield ImportedValue(
                subject=f"{row.test}, {_size(size)}" if first == SIZE else row.test,
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
