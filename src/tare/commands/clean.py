# SPDX-License-Identifier: Apache-2.0
"""``tare clean``: remove what a killed run left behind."""

import json
import sys
from dataclasses import asdict

from tare.errors import ExitCode
from tare.measure.clean import clean_up, remove_quarantined
from tare.measure.lock import host_lock
from tare.records import SCHEMA


def run_clean(as_json: bool) -> ExitCode:
    """Print the names of removed things, and those that stay to stderr; returns the exit code."""
    with host_lock("clean"):
        again, cleaned = remove_quarantined(), clean_up()
    removed, kept = [*again.removed, *cleaned.removed], [*again.kept, *cleaned.kept]
    if as_json:
        print(
            json.dumps({"schema": SCHEMA, "removed": removed, "kept": list(map(asdict, kept))}, default=str)
        )
    elif removed or not kept:
        print("\n".join(f"removed {name}" for name in removed) or "nothing was left behind")
    for leftover in kept:
        print(leftover.sentence, file=sys.stderr)
    return ExitCode.CANNOT if kept else ExitCode.DONE
