# SPDX-License-Identifier: Apache-2.0
"""Whether the journal is as it was written, said before any figure."""

from rich.console import Console
from rich.text import Text

from tare.foreign import one_line
from tare.records import Analysis, Fault, Integrity
from tare.report.shape import JsonShape, key

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


class DamageShape(JsonShape):
    """One place where the journal is not as it was written."""

    file: str = key("its name in the result folder")
    fault: Fault = key(
        "damaged: no record; altered: not as it was written; foreign: of another file or campaign; orphaned: its "
        "session's record is lost. A moved or duplicated line counts once, all others do not count"
    )
    line: int | None = key(
        "the first line, from 1, as the file is now; for removed lines the line before them; `null`: the file's end, "
        "or the file as a whole"
    )
    lines: int | None = key("how many; for removed lines how many are missing; `null`: the file as a whole")
    sentence: str = key("the same in words")


class JournalShape(JsonShape):
    """Whether the journal is as it was written ([results.md](results.md))."""

    checked: bool = key(
        "false when some file is of an earlier version, whose lines have no CRC", lambda of: not of.unchecked
    )
    unchecked: list[str] = key("the names of those files")
    unended: list[str] = key("the files without the end of their session")
    damage: list[DamageShape] = key("one object for each place; empty if nothing is wrong")
