# SPDX-License-Identifier: Apache-2.0
"""Counted system calls, stored as one file in a folder."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from tare.errors import JournalError
from tare.host.own_files import read_plain
from tare.journal.whole import write_whole
from tare.records import SCHEMA, CallCounts, Cell, TracedCalls

CALLS_FILE = "calls.json"
_DAMAGED = "the file is damaged; remove it and have the calls counted again"


def keep_calls(folder: Path, traced: TracedCalls) -> Path:
    """Write them atomically; ``JournalError`` if that is not possible."""
    text = json.dumps({"schema": SCHEMA, "calls": list(_entries(traced))}, indent=1) + "\n"
    try:
        write_whole(folder / CALLS_FILE, text)
    except OSError as error:
        raise JournalError(f"cannot keep the counted system calls in {folder}: {error.strerror}") from error
    return folder / CALLS_FILE


def read_calls(folder: Path) -> TracedCalls | None:
    """``None`` if none were counted; ``JournalError`` if the file is damaged or of another version."""
    path = folder / CALLS_FILE
    try:
        kept = json.loads(read_plain(path))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise JournalError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError):
        raise JournalError(f"{path} is not JSON: {_DAMAGED}") from None
    if not isinstance(kept, dict) or kept.get("schema") != SCHEMA:
        raise JournalError(f"{path} is not of schema {SCHEMA}: remove it and have the calls counted again")
    try:
        return _decoded(kept["calls"])
    except (KeyError, TypeError, AttributeError, ValidationError):
        raise JournalError(f"{path} does not hold counted system calls: {_DAMAGED}") from None


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    """Built on demand, as few results have counted calls."""
    return TypeAdapter(kind)


def _entries(traced: TracedCalls) -> Iterator[Mapping[str, Any]]:
    """One for each cell and environment, with its counts or the reason for their absence."""
    for cell, counted in traced.counts.items():
        for environment, counts in counted.items():
            yield {
                **_where(cell, environment),
                "counts": _adapter(CallCounts).dump_python(counts, mode="json"),
            }
    for cell, left in traced.untraced.items():
        for environment, reason in left.items():
            yield {**_where(cell, environment), "untraced": reason}


def _where(cell: Cell, environment: str) -> Mapping[str, str]:
    return {"workload": cell.workload, "layout": cell.layout, "environment": environment}


def _decoded(entries: Sequence[Mapping[str, Any]]) -> TracedCalls:
    counts: dict[Cell, dict[str, CallCounts]] = {}
    untraced: dict[Cell, dict[str, str]] = {}
    for entry in entries:
        cell = _adapter(Cell).validate_python({"workload": entry["workload"], "layout": entry["layout"]})
        if "untraced" in entry:
            untraced.setdefault(cell, {})[str(entry["environment"])] = str(entry["untraced"])
        else:
            counted = _adapter(CallCounts).validate_python(entry["counts"])
            counts.setdefault(cell, {})[str(entry["environment"])] = counted
    return TracedCalls(counts=counts, untraced=untraced)
