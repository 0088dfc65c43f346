# SPDX-License-Identifier: Apache-2.0
"""Journals with one fault each, read and shown: no wrong record, nothing in silence, no traceback, no long wait.

Bits flipped, bytes and lines removed, doubled, swapped, moved, altered, cut off, of another result; whole files lost,
renamed, copied or of another campaign. Each is read; of every tenth the tables, the JSON and the report are made too.
"""

import argparse
import io
import json
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from rich.console import Console

from tare.errors import TareError
from tare.pipeline import analyse_result
from tare.report.document import render_report
from tare.report.machine import to_json
from tare.report.table import print_tables
from tests.journal.one_fault import Result, trials, written

SHOWN_EVERY = 10
MOST_S = 5.0
MOST_BYTE = 1 << 30
OTHER_FILES = ("journal/20250101-o.jsonl", "journal/20250102-p.jsonl")


def show(folder: Path) -> str:
    """All that a user can see of it, as `tare show` and `tare report` make it."""
    try:
        analysis = analyse_result(folder)
    except TareError as error:
        return str(error)
    shown = io.StringIO()
    print_tables(analysis, Console(file=shown, width=100, highlight=False), show_all=True)
    json.dumps(to_json(analysis), allow_nan=False)
    render_report(analysis)
    said = " ".join(shown.getvalue().split())
    assert all(" ".join(words.split()) in said for words in analysis.integrity.remarks)
    assert ("Warning: the journal is not as it was written" in said) == bool(analysis.integrity.damage)
    return said


def attack(count: int, seed: int, mine: Result, other: Result, folder: Path) -> Counter[tuple[str, str]]:
    """``AssertionError`` names the fault that passed."""
    became: Counter[tuple[str, str]] = Counter()
    begun = time.monotonic()
    for number, fault in enumerate(trials(seed, count, mine, other, folder)):
        became[fault] += 1
        if number % SHOWN_EVERY == 0:
            assert show(folder), f"fault {number} of seed {seed} shows nothing"
        took_s, begun = time.monotonic() - begun, time.monotonic()
        assert took_s < MOST_S, f"fault {number} of seed {seed} took {took_s:.1f} s"
    return became


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    became: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory(prefix="tare-journals-") as made:
        folders = {name: Path(made) / name for name in ("ended", "killed", "other", "faulty")}
        for folder in folders.values():
            folder.mkdir()
        other = written(folders["other"], "other", OTHER_FILES)
        for killed in (False, True):
            mine = written(folders["killed" if killed else "ended"], killed=killed)
            became += attack(asked.count // 2, asked.seed + killed, mine, other, folders["faulty"])
    peak_byte = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    for (name, end), number in sorted(became.items()):
        print(f"{number:6d} {name}: {end}")
    print(
        f"journals: {became.total()} with one fault each (seed {asked.seed}), 0 passed in silence, "
        f"{peak_byte >> 20} MiB at most"
    )
    return 0 if peak_byte < MOST_BYTE else 1


if __name__ == "__main__":
    sys.exit(main())
