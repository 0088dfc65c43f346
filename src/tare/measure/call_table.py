# SPDX-License-Identifier: Apache-2.0
"""The table that ``strace -c -U name,calls,errors`` prints, as two counts for each system call."""

from collections import Counter
from collections.abc import Iterator, Mapping

from tare.errors import NodeError
from tare.untrusted import whole

COLUMNS = "name,calls,errors"
"""The requested columns of the table (strace(1), --summary-columns)."""
_HEAD = ["syscall", "calls", "errors"]
_TOTAL = "total"
_TITLE = "System call usage summary"
"""Title of a second table, for 32-bit programs."""


def parse_calls(text: str) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """Number of calls by name, and number of failures; ``NodeError`` if a table is incomplete."""
    made: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    summed: tuple[int, int] | None = None
    for name, calls, errors in _rows(text):
        if name != _TOTAL:
            made[name] += calls
            failed[name] += errors
        else:
            summed = _whole(calls, errors, summed)
    if summed != (made.total(), failed.total()):
        raise NodeError("strace's table of system calls is cut short", text[-400:])
    return dict(made), {name: errors for name, errors in failed.items() if errors}


def _whole(calls: int, errors: int, before: tuple[int, int] | None) -> tuple[int, int]:
    """The total of this table and the previous one."""
    return (calls, errors) if before is None else (calls + before[0], errors + before[1])


def _rows(text: str) -> Iterator[tuple[str, int, int]]:
    """Name, calls and errors; without errors the cell is empty."""
    for line in text.splitlines():
        words = line.split()
        if not words or words == _HEAD or line.startswith(("-", _TITLE)):
            continue
        name, *numbers = words
        yield name, *_counts(numbers, line)


def _counts(numbers: list[str], line: str) -> tuple[int, int]:
    try:
        calls, errors = map(whole, numbers if len(numbers) > 1 else (*numbers, "0"))
    except ValueError:
        calls = errors = -1
    if min(calls, errors) < 0:
        raise NodeError(f"strace's table of system calls has a line that is none: {line[:80]!r}")
    return calls, errors
