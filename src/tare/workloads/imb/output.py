# SPDX-License-Identifier: Apache-2.0
"""The text of the Intel MPI Benchmarks: a table of message sizes for each benchmark, of one or several runs."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

TITLE = "Intel(R) MPI Benchmarks"
END = "# All processes entering MPI_Finalize"
SIZE, REPETITIONS, GROUP = "#bytes", "#repetitions", "Group"
LEAST, MEAN, MOST, ONLY = "t_min[usec]", "t_avg[usec]", "t_max[usec]", "t[usec]"
"""Titles of times; the last stands alone, where two processes agree on one."""
BEGIN = re.compile(r"# Benchmarking ([\w-]{1,40})\s*", re.ASCII)
_PROCESSES = re.compile(r"# #processes = ([0-9]{1,9})\s*", re.ASCII)
_GROUPS = re.compile(r"# \( ([0-9]{1,9}) groups of ([0-9]{1,9}) processes each .{1,80}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImbRow:
    """One line of a table."""

    line: int
    """Its number in the text."""
    benchmark: str
    """As printed, such as ``Multi-Bcast``."""
    groups: int | None
    """Groups at once; ``None``: it speaks of none."""
    processes: int | None
    """Of each group, or of all; ``None``: not said."""
    fields: Mapping[str, str]
    """Title of a column → what stands there."""


def rows(text: str) -> Iterator[ImbRow]:
    """Every row of every table; ``ValueError`` for a line that does not fit its table."""
    benchmark = ""
    groups: int | None = None
    processes: int | None = None
    columns: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if begun := BEGIN.fullmatch(line):
            benchmark, groups, processes, columns = begun[1], None, None, []
        elif match := _PROCESSES.fullmatch(line):
            processes = int(match[1])
        elif match := _GROUPS.fullmatch(line.rstrip()):
            groups, processes = int(match[1]), int(match[2])
        elif REPETITIONS in line.split():
            columns = line.split()
        elif columns and line.strip()[:1].isdigit():
            yield ImbRow(
                line=number,
                benchmark=benchmark,
                groups=groups,
                processes=processes,
                fields=_fields(number, columns, line.split()),
            )


def _fields(number: int, columns: list[str], words: list[str]) -> Mapping[str, str]:
    if len(words) != len(columns):
        raise ValueError(f"line {number} has {len(words)} fields under {len(columns)} titles")
    return dict(zip(columns, words, strict=True))
