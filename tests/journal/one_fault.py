# SPDX-License-Identifier: Apache-2.0
"""A small result, one fault in it, and what must then be true of what is read: nothing wrong, nothing in silence."""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tests.fake_campaign import fake_campaign
from tests.journal.journal_example import a_session, an_outcome

from tare.errors import JournalError
from tare.journal.reader import campaign_digest, read_journal
from tare.journal.writer import JournalWriter
from tare.plan.trials import plan_trials
from tare.records import Outcome

Files = dict[str, bytes]
"""Name in the result folder → content."""
FIRST, SECOND = "journal/20260101-a.jsonl", "journal/20260102-b.jsonl"
CAMPAIGN = "campaign.json"
Fault = Callable[[random.Random, Files], None]


@dataclass(frozen=True)
class Result:
    """As it was written, and whose it is."""

    files: Files
    outcomes: dict[str, Outcome]
    """By trial."""


def written(
    folder: Path, name: str = "mine", files: tuple[str, str] = (FIRST, SECOND), *, killed: bool = False
) -> Result:
    """Two sessions of six trials, in ``files``; if ``killed``, the second has no end."""
    campaign = replace(fake_campaign(blocks=4), name=name)
    (folder / CAMPAIGN).write_text(json.dumps(campaign.to_json()))
    outcomes = [replace(an_outcome(), trial=trial, excerpt=name) for trial in plan_trials(campaign, 1)]
    for file, own in zip(files, (outcomes[:6], outcomes[6:]), strict=True):
        known = read_journal(folder / "journal")
        session = replace(
            a_session(f"{name}-{file[-7]}"),
            campaign_digest=campaign_digest(folder),
            earlier=known.seen,
        )
        with JournalWriter(folder / file) as writer:
            writer.append(session)
            for outcome in own:
                writer.append(outcome)
    kept = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.json*")}
    if killed:
        kept[SECOND] = kept[SECOND][: kept[SECOND].rindex(b"\n", 0, -1) + 1]
    return Result(kept, {outcome.trial.identity: outcome for outcome in outcomes})


def _any_file(chance: random.Random) -> str:
    return chance.choice([FIRST, SECOND] * 5 + [CAMPAIGN])


def _lines(files: Files, name: str) -> list[bytes]:
    return files[name].splitlines(keepends=True)


def flip_a_bit(chance: random.Random, files: Files) -> None:
    name = _any_file(chance)
    content = bytearray(files[name])
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    files[name] = bytes(content)


def remove_bytes(chance: random.Random, files: Files) -> None:
    name = _any_file(chance)
    place = chance.randrange(len(files[name]))
    files[name] = files[name][:place] + files[name][place + chance.choice([1, 1, 7, 512]) :]


def insert_bytes(chance: random.Random, files: Files) -> None:
    name = _any_file(chance)
    place = chance.randrange(len(files[name]))
    more = chance.choice([b"\n", b"}", b"\n{}\n", b"\0", bytes(chance.randbytes(30)), b'\n{"a":' * 3])
    files[name] = files[name][:place] + more + files[name][place:]


def blank_a_piece(chance: random.Random, files: Files) -> None:
    """As of a sector that was never written."""
    name = chance.choice([FIRST, SECOND])
    place = chance.randrange(len(files[name]))
    piece = files[name][place : place + 512]
    files[name] = files[name][:place] + bytes(len(piece)) + files[name][place + len(piece) :]


def change_a_digit(chance: random.Random, files: Files) -> None:
    """It still is JSON, and of the right kinds."""
    name = _any_file(chance)
    content = bytearray(files[name])
    digits = [place for place, byte in enumerate(content) if 0x30 <= byte <= 0x39]
    if digits:
        place = chance.choice(digits)
        content[place] = chance.choice([byte for byte in range(0x30, 0x3A) if byte != content[place]])
    else:
        content.append(0x20)
    files[name] = bytes(content)


def remove_lines(chance: random.Random, files: Files) -> None:
    name = chance.choice([FIRST, SECOND])
    lines = _lines(files, name)
    place = chance.randrange(len(lines))
    files[name] = b"".join(lines[:place] + lines[place + chance.randint(1, 3) :])


def double_a_line(chance: random.Random, files: Files) -> None:
    name = chance.choice([FIRST, SECOND])
    lines = _lines(files, name)
    lines.insert(chance.randrange(len(lines) + 1), chance.choice(lines))
    files[name] = b"".join(lines)


def swap_lines(chance: random.Random, files: Files) -> None:
    name = chance.choice([FIRST, SECOND])
    lines = _lines(files, name)
    value, other = chance.sample(range(len(lines)), 2)
    lines[value], lines[other] = lines[other], lines[value]
    files[name] = b"".join(lines)


def cut_off(chance: random.Random, files: Files) -> None:
    name = chance.choice([FIRST, SECOND])
    files[name] = files[name][: chance.randrange(len(files[name]))]


def move_a_line_to_another_file(chance: random.Random, files: Files) -> None:
    source, target = chance.sample([FIRST, SECOND], 2)
    lines, others = _lines(files, source), _lines(files, target)
    others.insert(chance.randrange(len(others) + 1), lines.pop(chance.randrange(len(lines))))
    files[source], files[target] = b"".join(lines), b"".join(others)


def strip_a_seal(chance: random.Random, files: Files) -> None:
    """As if an earlier version had written it, with another value."""
    name = chance.choice([FIRST, SECOND])
    lines = _lines(files, name)
    place = chance.randrange(len(lines))
    kind, _, record = lines[place].partition(b'"kind":')[2].partition(b",")
    bare = b'{"schema":1,"kind":' + kind + b"," + record.replace(b"1.25", b"1.75")
    lines[place] = bare
    files[name] = b"".join(lines)


def lose_the_first_file(_: random.Random, files: Files) -> None:
    del files[FIRST]


def rename_a_file(chance: random.Random, files: Files) -> None:
    files["journal/20260101-c.jsonl"] = files.pop(chance.choice([FIRST, SECOND]))


def copy_a_file(chance: random.Random, files: Files) -> None:
    files["journal/20250101-c.jsonl"] = files[chance.choice([FIRST, SECOND])]


def lines_of(other: Result) -> Fault:
    """Lines that another result's sessions wrote."""

    def mix(chance: random.Random, files: Files) -> None:
        name = chance.choice([FIRST, SECOND])
        lines, others = _lines(files, name), _lines(other.files, chance.choice(_journal_of(other)))
        place = chance.randrange(len(lines))
        lines[place : place + chance.randint(0, 1)] = [chance.choice(others)]
        files[name] = b"".join(lines)

    return mix


def a_file_of(other: Result) -> Fault:
    """In the place of an own one, or beside them and earlier."""

    def mix(chance: random.Random, files: Files) -> None:
        strange = chance.choice(_journal_of(other))
        files[chance.choice([FIRST, SECOND, strange])] = other.files[strange]

    return mix


def _journal_of(other: Result) -> list[str]:
    return [name for name in other.files if name != CAMPAIGN]


def faults(other: Result) -> dict[str, Fault]:
    """Every kind by its name; ``other`` is a result of another campaign with trials of the same names."""
    kinds = [
        flip_a_bit,
        remove_bytes,
        insert_bytes,
        blank_a_piece,
        change_a_digit,
        remove_lines,
        double_a_line,
        swap_lines,
        cut_off,
        move_a_line_to_another_file,
        strip_a_seal,
        lose_the_first_file,
        rename_a_file,
        copy_a_file,
    ]
    named: dict[str, Fault] = {kind.__name__: kind for kind in kinds}
    return {**named, "lines_of_another": lines_of(other), "a_file_of_another": a_file_of(other)}


def put(folder: Path, files: Files) -> None:
    """In the place of what is there."""
    (folder / "journal").mkdir(parents=True, exist_ok=True)
    for path in folder.rglob("*.json*"):
        path.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)


def judged(folder: Path, result: Result, files: Files) -> str:
    """What became of the fault: "refused", "said", or "changed nothing"; ``AssertionError`` where it passed."""
    try:
        journal = read_journal(folder / "journal")
    except JournalError:
        return "refused"
    for outcome in journal.outcomes:
        assert outcome == result.outcomes.get(outcome.trial.identity), "a wrong record passes for a good one"
    count = Counter(outcome.trial.identity for outcome in journal.outcomes)
    assert set(count.values()) <= {1}, "a trial counts twice"
    assert {session.tare_version for session in journal.sessions} <= {"0"}
    said = bool(journal.integrity.damage or journal.integrity.unended)
    if len(count) < len(result.outcomes):
        assert said, "a lost record is not told"
    if files != result.files:
        assert said, "a fault is not told"
    return "said" if said else "changed nothing"


def trials(seed: int, count: int, result: Result, other: Result, folder: Path) -> Iterator[tuple[str, str]]:
    """One fault after the other, every kind in its turn: its name and what became of it."""
    chance = random.Random(seed)  # noqa: S311 - nothing secret
    kinds = list(faults(other).items())
    for number in range(count):
        name, fault = kinds[number % len(kinds)]
        files = dict(result.files)
        fault(chance, files)
        put(folder, files)
        try:
            yield name, judged(folder, result, files)
        except AssertionError as error:
            raise AssertionError(f"fault {number} of seed {seed}, {name}: {error}") from error
