# SPDX-License-Identifier: Apache-2.0
"""The text of the Intel MPI Benchmarks, of one or several runs in a row, as the workload ``imb`` reads it.

The time is read, and of collective benchmarks the average over the processes; "Mbytes/sec" follows from it.
"""

from tare.imports.reading import Document, Format, ImportedValue, Parsed, Printed
from tare.records import Direction
from tare.workloads.imb.output import BEGIN, GROUP, MEAN, ONLY, SIZE, TITLE, ImbRow, rows

_FACTS = {"# Machine": "machine", "# Release": "kernel", "# MPI Version": "MPI version"}


def _recognizes(document: Document) -> bool:
    return TITLE in document.text or BEGIN.search(document.text) is not None


def _parse(document: Document) -> Parsed:
    facts = {}
    for line in document.text.splitlines():
        name, _, value = line.partition(" : ")
        if name.strip() in _FACTS:
            facts[_FACTS[name.strip()]] = value.strip()
    return Parsed(readings=tuple(map(_of_row, rows(document.text))), facts=facts)


def _of_row(row: ImbRow) -> ImportedValue:
    time = row.fields.get(ONLY, row.fields.get(MEAN))
    if time is None:
        raise ValueError(f"line {row.line} has no {ONLY} or {MEAN}")
    printed = Printed.of(time, 1e-6)
    return ImportedValue(
        subject=_subject(row),
        metric="time_s",
        unit="s",
        direction=Direction.LESS,
        value=printed.value,
        half_digit=printed.half_digit,
    )


def _subject(row: ImbRow) -> str:
    groups = "" if row.groups is None else f"{row.groups} groups of "
    among = "" if row.processes is None else f" of {groups}{row.processes} processes"
    group = f", group {row.fields[GROUP]}" if GROUP in row.fields else ""
    size = f", {Printed.of(row.fields[SIZE]).value:.0f} B" if SIZE in row.fields else ""
    return f"{row.benchmark}{among}{group}{size}"


IMB = Format(name="Intel MPI Benchmarks", recognizes=_recognizes, parse=_parse)
