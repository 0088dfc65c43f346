# SPDX-License-Identifier: Apache-2.0
"""Tables as documents hold them."""

from collections.abc import Iterable, Sequence
from typing import SupportsFloat


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def percent(share: SupportsFloat, digits: int = 0) -> str:
    return f"{100 * float(share):.{digits}f} %"


def beside(text: str, earlier: str) -> str:
    """Put before each figure of the tables in ``text`` the one that ``earlier`` has in the row of the same name.

    Only figures that differ get one, as "before → after"; a row that ``earlier`` lacks stays as it is.
    """
    before = {cells[0]: cells[1:] for cells in map(_cells, earlier.splitlines()) if cells}
    return "\n".join(_beside(line, before) for line in text.splitlines())


def _beside(line: str, before: dict[str, list[str]]) -> str:
    cells = _cells(line)
    known = before.get(cells[0], []) if cells else []
    if len(known) != len(cells) - 1:
        return line
    values = [new if old == new else f"{old} → {new}" for old, new in zip(known, cells[1:], strict=True)]
    return f"| {' | '.join([cells[0], *values])} |"


def _cells(line: str) -> list[str]:
    """Of a row of a table; none of any other line."""
    return [cell.strip() for cell in line.strip().strip("|").split(" | ")] if line.startswith("| ") else []
