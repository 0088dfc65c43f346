# SPDX-License-Identifier: Apache-2.0
"""Journals with hostile content against every command that reads one.

Each case is a real result with one to three changes (``contents.py``). Whatever it says, a command ends with words and
exit code 0 to 3 within its time and memory, and nothing that it prints can do anything to a terminal.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tare.journal.lines import END
from tests.hostile.commands import Ended, ended, fault_of
from tests.hostile.contents import Line, bare, hostile, sealed
from tests.hostile.results import campaigns, install_programs, measured

COMMANDS = (
    *(("show",), ("show", "--all"), ("show", "--json"), ("show", "--treatment", "b16")),
    *(("report",), ("explain", "--dry-run"), ("explain", "--dry-run", "--json"), ("run",)),
)
WEIGHTS = (6, 6, 6, 1, 4, 4, 1, 1)
SEALED, COLUMNS = 0.7, 0.1
"""How often lines have checksums, and how often they are read as a large journal is."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of one case, to see all that it printed")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tare-shown-") as name:
        return attack(Path(name), asked.count, asked.seed, asked.only)


def attack(folder: Path, count: int, seed: int, only: int | None = None) -> int:
    """Print counts and faults; 1 if there was any."""
    install_programs(folder / "state")
    bases = [
        measured(campaign, folder / f"base{number}") for number, campaign in enumerate(campaigns(folder))
    ]
    ends: Counter[str] = Counter()
    faults: dict[str, list[int]] = {}
    slowest, largest_byte, begun = 0.0, 0, time.monotonic()
    for case in range(count) if only is None else [only]:
        result = one(bases, folder / "case", seed, case)
        ends[f"exit {result.code}"] += 1
        slowest, largest_byte = max(slowest, result.cpu_s), max(largest_byte, result.memory_byte)
        if fault := fault_of(result):
            faults.setdefault(fault, []).append(case)
        if only is not None:
            print(result.said, result.errors, sep="\n")
    for fault, cases in sorted(faults.items(), key=lambda item: -len(item[1])):
        print(f"{len(cases)} times, first case {cases[0]}: {fault}")
    print(
        f"show: {count} journals, seed {seed}: {sum(map(len, faults.values()))} faults; {dict(sorted(ends.items()))}; "
        f"slowest {slowest:.1f} s of CPU time, largest {largest_byte >> 20} MiB; {time.monotonic() - begun:.0f} s"
    )
    return 1 if faults else 0


def one(bases: list[Path], folder: Path, seed: int, case: int) -> Ended:
    """The same for the same seed and number, whatever cases came before."""
    chance = random.Random(f"{seed}-{case}")  # noqa: S311 - no secret
    base, command = chance.choice(bases), chance.choices(COMMANDS, WEIGHTS)[0]
    lines = read(base)
    place(base, folder, hostile(lines, chance), checked=chance.random() < SEALED)
    return ended([command[0], str(folder), *command[1:]], columns=chance.random() < COLUMNS)


def read(base: Path) -> list[Line]:
    """The records of a journal, each once."""
    (file,) = (base / "journal").glob("*.jsonl")
    lines = [json.loads(line) for line in file.read_bytes().splitlines()]
    records = [{"kind": line["kind"], "record": line["record"]} for line in lines if line["kind"] != END]
    return [line for number, line in enumerate(records) if number == 0 or line != records[number - 1]]


def place(base: Path, folder: Path, lines: list[Line], *, checked: bool = True) -> None:
    """A result folder with the base's campaign and these lines; the folder of the case before is used again."""
    for path in (*folder.glob("journal/*"), *folder.glob("*.html"), *folder.glob("derived/*")):
        path.unlink()
    (folder / "journal").mkdir(parents=True, exist_ok=True)
    (folder / "campaign.json").write_bytes((base / "campaign.json").read_bytes())
    name = "20260101T000000.000000Z-a.jsonl"
    (folder / "journal" / name).write_bytes(sealed(lines, name) if checked else bare(lines))


if __name__ == "__main__":
    sys.exit(main())
