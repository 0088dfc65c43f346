# SPDX-License-Identifier: Apache-2.0
"""A terminal's tables, and their column of names: whole where there is room, else broken at hyphens."""

import textwrap
from collections.abc import Iterable

from rich import box
from rich.table import Table
from rich.text import Text

from tare.foreign import one_line

_LEAST = 16


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
    """Columns for the longest name, but no more than ``room`` unless that is too little for any."""
    return max(_LEAST, min(max(map(len, names), default=0), room))


def add_name_column(table: Table, title: str, width: int) -> None:
    """The table's first column; what is in it comes from ``name_cell``."""
    table.add_column(title, overflow="fold", width=width)


def name_cell(name: str, width: int) -> Text:
    """Foreign text made one line, then as many lines as it needs."""
    return Text("\n".join(textwrap.wrap(one_line(name), width)))
