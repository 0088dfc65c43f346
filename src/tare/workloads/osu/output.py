# SPDX-License-Identifier: Apache-2.0
"""The text of the OSU Micro-Benchmarks: a table of message sizes for each test, of one or several runs in a row."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

TITLE = re.compile(r"# OSU (.{1,80}?) v([0-9][0-9.]{0,15})", re.ASCII)
SIZE = "Size"
MEAN_LATENCY = ("Avg Latency(us)", "Latency (us)", "Latency(us)")
"""Titles under which the average over the processes stands, or the latency of two."""
LEAST_LATENCY, MOST_LATENCY, ITERATIONS = "Min Latency(us)", "Max Latency(us)", "Iterations"
_HEADER = re.compile(r"# (?:Size\b|Avg Latency).{0,200}", re.ASCII)
_COLUMN = re.compile(r"[A-Z][A-Za-z./]*(?: [A-Z][A-Za-z.]*)*(?: ?\([A-Za-z/%]+\))?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class OsuRow:
    """One line of a table."""

    line: int
    """Its number in the text."""
    test: str
    fields: tuple[tuple[str, str], ...]
    """Title of a column, and what stands there."""


def rows(text: str) -> Iterator[OsuRow]:
    """Every row of every table; ``ValueError`` for one that is cut short."""
    title = ""
    columns: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if begun := TITLE.match(line):
            title, columns = begun[1], []
        elif _HEADER.fullmatch(line.strip()):
            columns = _COLUMN.findall(line)
        elif columns and line.strip()[:1].isdigit():
            words = line.split()
            if len(words) < len(columns):
                raise ValueError(
                    f"line {number} has {len(words)} fields under {len(columns)} titles: it is cut short"
                )
            yield OsuRow(line=number, test=title, fields=tuple(zip(columns, words, strict=False)))
