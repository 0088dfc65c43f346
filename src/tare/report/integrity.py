# SPDX-License-Identifier: Apache-2.0
"""Whether the journal is as it was written, said before any figure."""

from typing import Any

from rich.console import Console
from rich.text import Text

from tare.foreign import one_line
from tare.records import Analysis, Integrity

_MOST_PLACES = 5


def integrity_said(integrity: Integrity) -> tuple[str, ...]:
    """What is wrong, the first places of many; empty when nothing is."""
    said = tuple(map(one_line, integrity.warnings))
    rest = len(said) - 1 - _MOST_PLACES
    return (
        *said[: _MOST_PLACES + 1],
        *([f"and {rest} more places; --json has them all"] if rest > 0 else []),
    )


def table(analysis: Analysis, console: Console) -> None:
    """Print nothing where nothing is wrong."""
    for number, words in enumerate(integrity_said(analysis.integrity)):
        console.print(Text(words if number else f"Warning: {words}:", style="red"))


def json(integrity: Integrity) -> dict[str, Any]:
    """As ``docs/json.md`` describes it."""
    return {
        "checked": not integrity.unchecked,
        "unchecked": list(integrity.unchecked),
        "unended": list(integrity.unended),
        "damage": [
            {
                "file": damage.file,
                "fault": damage.fault.value,
                "line": damage.line,
                "lines": damage.lines,
                "sentence": damage.sentence,
            }
            for damage in integrity.damage
        ],
    }
