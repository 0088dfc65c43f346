# SPDX-License-Identifier: Apache-2.0
"""The choices of scans on this host, in ``scans.json`` of the state folder.

Each stands beside everything that it depends on, and is found again only where all of that is the same.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from tare.host.own_files import read_plain
from tare.host.paths import state_directory
from tare.journal.whole import write_whole
from tare.records import SCHEMA, ScanChoice

FILE = "scans.json"
_MOST_KEPT = 200


@cache
def _adapter() -> TypeAdapter[ScanChoice]:
    """Built on demand, as few results have a choice."""
    return TypeAdapter(ScanChoice)


def kept_choice(depends: Mapping[str, Any]) -> ScanChoice | None:
    """The newest choice with these dependences, as JSON compares them; ``None`` also if it cannot be read."""
    wanted = _plain(depends)
    for entry in reversed(_entries()):
        if entry.get("depends") == wanted:
            with suppress(ValidationError):
                return _adapter().validate_python(entry.get("choice"))
    return None


def keep_choice(depends: Mapping[str, Any], choice: ScanChoice) -> None:
    """Keep it instead of an older one; the oldest go when there are too many. A full disk stops no run."""
    own = _plain(depends)
    others = [entry for entry in _entries() if entry.get("depends") != own]
    entries = [*others, {"depends": own, "choice": asdict(choice)}][-_MOST_KEPT:]
    with suppress(OSError):
        write_whole(
            state_directory() / FILE, json.dumps({"schema": SCHEMA, "scans": entries}, indent=1) + "\n"
        )


def _plain(depends: Mapping[str, Any]) -> Any:
    return json.loads(json.dumps(depends))


def _entries() -> list[dict[str, Any]]:
    try:
        document = json.loads(read_plain(state_directory() / FILE))
        entries = document["scans"] if document["schema"] == SCHEMA else []
        return [entry for entry in entries if isinstance(entry, dict)]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []
