# SPDX-License-Identifier: Apache-2.0
"""The text of the Intel MPI Benchmarks: a table of message sizes for each benchmark, one or several runs in a row.

The time is read, and of collective benchmarks the average over the processes; "Mbytes/sec" follows from it.
"""

import re
from collections.abc import Iterator

from tare.imports.reading import Document, Format, ImportedValue, Parsed, Printed
from tare.records import Direction

_TITLE = "Intel(R) MPI Benchmarks"
_BEGIN = re.compile(r"# Benchmarking (\w{1,40})\s*", re.ASCII)
_PROCESSES = re.compile(r"# #processes = ([0-9]{1,9})\s*", re.ASCII)
_TIMES = ("t[usec]", "t_avg[usec]")
_SIZE, _REPETITIONS = "#bytes", "#repetitions"
_FACTS = {"# Machine": "machine", "# Release": "kernel", "# MPI Version": "MPI version"}


def _recognizes(document: Document) -> bool:
    return _TITLE in document.text or _BEGIN.search(document.text) is not None


def _parse(document: Document) -> Parsed:
    facts = {}
    for line in document.text.splitlines():
        name, _, value = line.partition(" : ")
        if name.strip() in _FACTS:
            facts[_FACTS[name.strip()]] = value.strip()
    return Parsed(readings=tuple(_readings(document.text)), facts=facts)


def _readings(text: str) -> Iterator[ImportedValue]:
    subject = ""
    columns: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if begun := _BEGIN.fullmatch(line):
            subject, columns = begun[1], []
        elif processes := _PROCESSES.fullmatch(line):
            subject = f"{subject} of {processes[1]} processes"
        elif _REPETITIONS in line:
            columns = line.split()
        elif columns and line.strip()[:1].isdigit():
            yield _of_line(number, subject, columns, line.split())


def _of_line(number: int, subject: str, columns: list[str], fields: list[str]) -> ImportedValue:
    if len(fields) != len(columns):
        raise ValueError(f"line {number} has {len(fields)} fields under {len(columns)} titles")
    row = dict(zip(columns, fields, strict=True))
    time = next((row[title] for title in _TIMES if title in row), None)
    if time is None:
        raise ValueError(f"line {number} has no {' or '.join(_TIMES)}")
    printed = Printed.of(time, 1e-6)
    size = Printed.of(row[_SIZE]).value if _SIZE in row else None
    return ImportedValue(
        subject=subject if size is None else f"{subject}, {size:.0f} B",
        metric="time_s",
        unit="s",
        direction=Direction.LESS,
        value=printed.value,
        half_digit=printed.half_digit,
    )


IMB = Format(name="Intel MPI Benchmarks", recognizes=_recognizes, parse=_parse)
