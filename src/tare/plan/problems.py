# SPDX-License-Identifier: Apache-2.0
"""Faults of a campaign in words: one line for each problem."""

import difflib
import math
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from tare.errors import CampaignError
from tare.plan.toml_lines import Path, line_of

_MOST_LINES = 50
_LONGEST_VALUE = 60
_LARGEST_WHOLE = 2**63 - 1
_TYPE_NAMES: Mapping[str, str] = {
    "string_type": "text in quotes",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list in [ ]",
    "dict_type": "a table",
    "model_type": "a table",
    "finite_number": "a finite number",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem; ``path``: keys and list positions down to the place, empty for the whole file."""

    path: Path
    text: str


def failure(label: str, problems: Sequence[Problem], lines: Mapping[Path, int]) -> CampaignError:
    """Make one error that lists each problem as ``FILE:LINE: key: what is wrong``, in the file's order."""
    placed = [(line_of(lines, problem.path), problem) for problem in problems]
    placed.sort(key=lambda entry: (entry[0] or 0, [str(part) for part in entry[1].path]))
    rows = [_row(label, line, problem) for line, problem in placed]
    hidden = len(rows) - _MOST_LINES
    if hidden > 0:
        rows[_MOST_LINES:] = [f"{printable(label)}: and {hidden} more like these"]
    return CampaignError("\n".join(rows))


def _row(label: str, line: int | None, problem: Problem) -> str:
    place = printable(label) + (f":{line}" if line else "")
    key = key_text(problem.path)
    return f"{place}: {key}: {problem.text}" if key else f"{place}: {problem.text}"


def key_text(path: Path) -> str:
    """``("environment", 0, "name")`` → ``environment[1].name``, counted from 1."""
    text = ""
    for part in path:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{printable(part)}"
    return text.removeprefix(".")


def printable(text: str) -> str:
    """Escape everything that could disturb a terminal, and shorten a long text."""
    escaped = "".join(
        part if part.isprintable() else part.encode("unicode_escape").decode("ascii") for part in text
    )
    return escaped if len(escaped) <= 4 * _LONGEST_VALUE else escaped[: 4 * _LONGEST_VALUE] + "..."


def shown(value: object) -> str:
    """Show a value so that the user recognises it, in few characters."""
    if isinstance(value, bool):
        return str(value).lower()
    try:
        text = repr(value) if isinstance(value, str | int | float) else reprlib.repr(value)
    except ValueError:  # Python refuses to print an integer of more than 4300 digits
        return "a number of thousands of digits"
    text = printable(text)
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "..."


def nearest(name: str, allowed: Iterable[str]) -> str:
    """``; did you mean 'x'? allowed: x, y``, ready to append."""
    names = sorted(allowed)
    if not names:
        return "; none is allowed here"
    close = difflib.get_close_matches(name[:_LONGEST_VALUE].lower(), names, n=1)
    question = f"; did you mean {close[0]!r}?" if close else ";"
    return f"{question} allowed: {', '.join(names)}"


def from_validation(
    errors: Iterable[ErrorDetails], base: Path, model: type[BaseModel], data: object
) -> list[Problem]:
    """Turn pydantic's errors in ``data``, validated as ``model``, into problems below ``base``."""
    return [Problem((*base, *_real_path(entry["loc"], data)), _text(entry, model)) for entry in errors]


def _real_path(location: Path, data: Any) -> Path:
    """The steps that exist in the data, and a missing last key: pydantic adds steps of its own."""
    path: list[str | int] = []
    for part in location:
        if isinstance(data, Mapping) and isinstance(part, str):
            path.append(part)
            data = data.get(part)
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            path.append(part)
            data = data[part]
    return tuple(path)


def _text(entry: ErrorDetails, model: type[BaseModel]) -> str:
    kind, value = entry["type"], entry["input"]
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        *tables, name = entry["loc"]
        return f"unknown key{nearest(str(name), _keys(model, tables))}"
    if kind == "value_error":
        return printable(str(entry["ctx"]["error"]))
    wanted = _TYPE_NAMES.get(kind)
    text = f"must be {wanted}" if wanted else _reworded(entry["msg"])
    return f"{text}, but is {shown(value)}"


def _keys(model: type[BaseModel], tables: Iterable[str | int]) -> Iterable[str]:
    for table in tables:
        field = model.model_fields.get(str(table))
        inner = field and field.annotation
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return ()
        model = inner
    return model.model_fields


def _reworded(message: str) -> str:
    return message.replace("Input should", "must").replace(" should ", " must ")


def number_problems(data: Any) -> list[Problem]:
    """Find every integer beyond 64 bits and every float that is not finite.

    TOML 1.0.0 requires 64 bits, ``tomllib`` accepts any size, and Python refuses to print the largest.
    """
    problems = []
    left: list[tuple[Path, Any]] = [((), data)]
    while left:
        path, value = left.pop()
        if isinstance(value, dict):
            left += [((*path, key), part) for key, part in value.items()]
        elif isinstance(value, list):
            left += [((*path, position), part) for position, part in enumerate(value)]
        elif _is_strange(value):
            text = f"must be a finite number of at most 64 bits, but is {shown(value)}"
            problems.append(Problem(path, text))
    return problems


def _is_strange(value: object) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    return isinstance(value, int) and abs(value) > _LARGEST_WHOLE
