# SPDX-License-Identifier: Apache-2.0
"""Tables for a terminal, and their column of names: whole where there is room, else broken at hyphens."""

import textwrap
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.foreign import one_line

LEAST_NAME = 16
"""Columns that a column of names has at least."""


def ruled_table(title: str | None = None, *, show_header: bool = True) -> Table:
    """An empty table with a line below its header and none around it."""
    return Table(
        title=title,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_header=show_header,
        show_edge=False,
        padding=(0, 1),
    )


def name_width(names: Iterable[str], room: int) -> int:
    """Width for the longest name, but no more than ``room`` unless that is too small for any name."""
    return max(LEAST_NAME, min(max(map(len, names), default=0), room))


def add_name_column(table: Table, title: str, width: int) -> None:
    """Add the table's first column; its content comes from ``name_cell``."""
    table.add_column(title, overflow="fold", width=width)


def name_cell(name: str, width: int) -> Text:
    """Foreign text as one line, broken into as many lines as it needs."""
    return Text("\n".join(textwrap.wrap(one_line(name), width)))


def figures_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table of a name and its figures in each row."""
    table = ruled_table()
    add_name_column(table, titles[0], LEAST_NAME)
    for title in titles[1:]:
        table.add_column(title, justify="right", no_wrap=True)
    for name, *figures in rows:
        table.add_row(name_cell(name, LEAST_NAME), *map(Text, figures))
    return table


def print_heading(title: str, explanation: str, console: Console) -> None:
    """Print a topic's title, after an empty line, and what its figures are."""
    console.print(Text(f"\n{title}", style="bold"))
    console.print(Text(explanation))
