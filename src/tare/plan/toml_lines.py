# SPDX-License-Identifier: Apache-2.0
"""The line of each key in a TOML text, which ``tomllib`` does not report (grammar: toml.io, version 1.0.0)."""

import re
from collections.abc import Iterator, Mapping, Sequence

Path = tuple[str | int, ...]

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\''
    r'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\''
    r"|\#[^\n]*|[\[{]|[\]}]|\n|[^\n\"'#\[\]{}]+|.",
    re.DOTALL,
)
_NAME = r"""(?:"(?:\\.|[^"\\\n])*"|'[^'\n]*'|[A-Za-z0-9_-]+)"""
_KEY = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_TABLE = re.compile(rf"\s*(\[\[?)\s*({_KEY})\s*\]")
_ASSIGNMENT = re.compile(rf"\s*({_KEY})\s*=")


def key_lines(text: str) -> dict[Path, int]:
    """Map each path of keys and array positions to its line, from 1; best effort, never raises.

    ``("environment", 1, "name")`` is the key ``name`` below the second ``[[environment]]``.
    """
    lines: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    for line, statement in _statements(text):
        if header := _TABLE.match(statement):
            table = _table_path(_names(header[2]), header[1] == "[[", counts)
            lines.setdefault(table, line)
            lines.setdefault(_names(header[2]), line)
        elif assignment := _ASSIGNMENT.match(statement):
            lines.setdefault(table + _names(assignment[1]), line)
    return lines


def line_of(lines: Mapping[Path, int], path: Sequence[str | int]) -> int | None:
    """Find the line of the key, else of the closest table around it, else ``None``."""
    for length in range(len(path), 0, -1):
        if (line := lines.get(tuple(path[:length]))) is not None:
            return line
    return None


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """First line and text of each statement; brackets and strings may spread it over several lines."""
    start = line = 1
    depth = 0
    parts: list[str] = []
    for piece in _TOKEN.findall(text):
        line += piece.count("\n")
        depth = max(0, depth + (piece in "[{") - (piece in "]}"))
        if piece != "\n" or depth:
            parts.append("" if piece.startswith("#") else piece)
            continue
        yield start, "".join(parts)
        parts.clear()
        start = line
    yield start, "".join(parts)


def _names(dotted: str) -> tuple[str, ...]:
    return tuple(name.strip("\"'") for name in re.findall(_NAME, dotted))


def _table_path(names: tuple[str, ...], appends: bool, counts: dict[Path, int]) -> Path:
    path: Path = ()
    for name in names[:-1]:
        path = _with_position((*path, name), counts)
    path = (*path, names[-1])
    if appends:
        counts[path] = counts.get(path, -1) + 1
    return _with_position(path, counts)


def _with_position(path: Path, counts: Mapping[Path, int]) -> Path:
    return (*path, counts[path]) if path in counts else path
