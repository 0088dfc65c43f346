# SPDX-License-Identifier: Apache-2.0
"""Tables that a phone shows row by row: each cell knows the heading of its column."""

import re

_TABLE = re.compile(r"<table.*?</table>", re.DOTALL)
_HEAD = re.compile(r"<thead>(.*?)</thead>", re.DOTALL)
_HEADING = re.compile(r"<th\b[^>]*>(.*?)</th>", re.DOTALL)
_ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
_CELL = re.compile(r"<(?:td|th)\b")
_TAG = re.compile(r"<[^>]*>")


def stackable(page: str) -> str:
    """Give ``page`` with ``data-label`` on the cells of every table that has headings; the style shows it."""
    return _TABLE.sub(lambda table: _labelled(table[0]), page)


def _labelled(table: str) -> str:
    head = _HEAD.search(table)
    if not head:
        return table
    headings = [" ".join(_TAG.sub(" ", text).split()) for text in _HEADING.findall(head[1])]
    body = _ROW.sub(lambda row: _row(row[0], headings), table[head.end() :])
    return table[: head.end()] + body


def _row(row: str, headings: list[str]) -> str:
    """A row that a spanning name precedes has fewer cells: they belong to the last headings."""
    cells = len(_CELL.findall(row))
    if "colspan" in row:
        return row
    labels = iter(headings[len(headings) - cells :])
    return _CELL.sub(lambda cell: _with_label(cell[0], next(labels)), row)


def _with_label(cell: str, label: str) -> str:
    return f'{cell} data-label="{label}"' if cell == "<td" and label else cell
