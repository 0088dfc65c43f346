# SPDX-License-Identifier: Apache-2.0
"""A journal with one fault anywhere: no lost, doubled or altered record passes for a good one, and it is told."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import pytest
from tests.journal.journal_example import a_session, an_outcome
from tests.journal.one_fault import (
    CAMPAIGN,
    FIRST,
    SECOND,
    Result,
    faults,
    judged,
    put,
    trials,
    written,
)

from tare.errors import JournalError
from tare.journal.lines import encode
from tare.journal.reader import Journal, campaign_digest, read_journal
from tare.journal.writer import JournalWriter
from tare.records import Fault, Integrity


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return written(tmp_path_factory.mktemp("mine"))


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Result:
    names = ("journal/20250101-o.jsonl", "journal/20250102-p.jsonl")
    return written(tmp_path_factory.mktemp("other"), "other", names)


@pytest.mark.parametrize("killed", [False, True])
def test_one_fault_anywhere_never_passes_in_silence(
    killed: bool, result: Result, other: Result, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """In full, with thousands of them: ``tests/hostile/journals.py``."""
    mine = written(tmp_path_factory.mktemp("killed"), killed=True) if killed else result
    seen = Counter(trials(7, 160, mine, other, tmp_path))
    assert len({name for name, _ in seen}) == len(faults(other))
    assert not any(became == "changed nothing" for _, became in seen)


def test_what_has_no_fault_is_checked_and_nothing_is_told(result: Result, tmp_path: Path) -> None:
    put(tmp_path, result.files)
    assert judged(tmp_path, result, result.files) == "changed nothing"
    assert read_journal(tmp_path / "journal").integrity == Integrity()


def faulty(folder: Path, result: Result, name: str, change: object) -> Journal:
    lines = result.files[name].splitlines(keepends=True)
    assert callable(change)
    change(lines)
    put(folder, {**result.files, name: b"".join(lines)})
    return read_journal(folder / "journal")


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        (lambda lines: lines.pop(4), [(Fault.REMOVED, 4, 1)]),
        (lambda lines: lines.__delitem__(slice(3, 6)), [(Fault.REMOVED, 3, 3)]),
        (lambda lines: lines.pop(), [(Fault.REMOVED, None, 1)]),
        (lambda lines: lines.__delitem__(slice(5, None)), [(Fault.REMOVED, None, 4)]),
        (lambda lines: lines.insert(6, lines[4]), [(Fault.DOUBLED, 7, 1)]),
        (lambda lines: lines.insert(4, lines.pop(3)), [(Fault.MOVED, 5, 1)]),
        (lambda lines: lines.__setitem__(4, lines[4].replace(b"1.25", b"1.35")), [(Fault.ALTERED, 5, 1)]),
        (lambda lines: lines.__setitem__(4, lines[4][:99] + b"\n"), [(Fault.DAMAGED, 5, 1)]),
        (lambda lines: lines.__setitem__(slice(3, 6), [b"x\n"] * 3), [(Fault.DAMAGED, 4, 3)]),
        (lambda lines: lines.__setitem__(4, lines[4][:-1]), [(Fault.REMOVED, 4, 1), (Fault.DAMAGED, 5, 1)]),
        (lambda lines: lines.insert(4, b"{}\n"), [(Fault.ALTERED, 5, 1)]),
        (lambda lines: lines.pop(0), [(Fault.REMOVED, 0, 1)]),
    ],
)
def test_it_is_told_which_lines_and_what_is_wrong_with_them(
    change: object, faults: list[object], result: Result, tmp_path: Path
) -> None:
    damage = faulty(tmp_path, result, FIRST, change).integrity.damage
    assert [(damage.fault, damage.line, damage.lines) for damage in damage] == faults
    assert all(damage.file == FIRST and damage.sentence.startswith(FIRST) for damage in damage)


def test_a_session_whose_line_is_damaged_keeps_its_trials_as_the_line_is_there_twice(
    result: Result, tmp_path: Path
) -> None:
    journal = faulty(tmp_path, result, FIRST, lambda lines: lines.__setitem__(0, b"gone\n"))
    assert len(journal.outcomes) == 12
    assert len(journal.sessions) == 2


def test_outcomes_of_which_no_session_is_known_are_not_used(result: Result, tmp_path: Path) -> None:
    journal = faulty(tmp_path, result, FIRST, lambda lines: lines.__setitem__(slice(0, 2), [b"gone\n"] * 2))
    assert len(journal.outcomes) == 6
    assert len(journal.sessions) == 1
    assert {damage.fault for damage in journal.integrity.damage} == {Fault.DAMAGED, Fault.ORPHANED}


def test_a_line_whose_own_crc_was_made_to_fit_is_denied_by_the_next(result: Result, tmp_path: Path) -> None:
    def forge(lines: list[bytes]) -> None:
        rest = lines[4].rstrip(b"\n").replace(b"1.25", b"9.25").partition(b'",')[2]
        lines[4] = b'{"crc":"%08x",%s\n' % (crc32(rest), rest)

    journal = faulty(tmp_path, result, FIRST, forge)
    assert [(damage.fault, damage.line) for damage in journal.integrity.damage] == [(Fault.ALTERED, 5)]
    assert len(journal.outcomes) == 11


def test_a_journal_of_which_nothing_is_whole_is_an_error_in_words(result: Result, tmp_path: Path) -> None:
    files = {name: re.sub(rb'"crc":"', b'"crc":"0', content) for name, content in result.files.items()}
    put(tmp_path, files)
    with pytest.raises(JournalError, match=r"not one record can be read .*restore it from a copy"):
        read_journal(tmp_path / "journal")


def test_a_changed_campaign_is_told(result: Result, tmp_path: Path) -> None:
    put(tmp_path, {**result.files, CAMPAIGN: result.files[CAMPAIGN].replace(b"0.01", b"0.05")})
    journal = read_journal(tmp_path / "journal")
    assert [(damage.file, damage.fault) for damage in journal.integrity.damage] == [(CAMPAIGN, Fault.ALTERED)]


def test_a_file_of_another_campaign_is_not_used(result: Result, other: Result, tmp_path: Path) -> None:
    put(tmp_path, {**other.files, **result.files})
    journal = read_journal(tmp_path / "journal")
    assert [damage.fault for damage in journal.integrity.damage] == [Fault.FOREIGN] * 2
    assert {outcome.excerpt for outcome in journal.outcomes} == {"mine"}


class TestEarlierVersions:
    """Their lines have no CRC."""

    def old(self, folder: Path) -> Path:
        path = folder / "journal" / "20250101-old.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(encode(a_session("old")) + b"".join(encode(an_outcome()) for _ in range(4)))
        return path

    def test_they_read_as_not_checked(self, tmp_path: Path) -> None:
        self.old(tmp_path)
        journal = read_journal(tmp_path / "journal")
        assert len(journal.outcomes) == 4
        assert journal.integrity == Integrity(unchecked=("journal/20250101-old.jsonl",))
        assert journal.integrity.remarks[0].startswith("not checked: journal/20250101-old.jsonl")

    def test_what_happens_to_them_after_they_were_continued_is_told(self, tmp_path: Path) -> None:
        old = self.old(tmp_path)
        seen = read_journal(old.parent).seen
        with JournalWriter(old.parent / "20260101-new.jsonl") as writer:
            writer.append(replace(a_session("new"), earlier=seen))
            writer.append(an_outcome())
        assert read_journal(old.parent).integrity.damage == ()
        whole = old.read_bytes()
        old.write_bytes(whole.replace(b"1.25", b"1.35", 1))
        assert [damage.fault for damage in read_journal(old.parent).integrity.damage] == [Fault.ALTERED]
        old.write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 1])
        (damage,) = read_journal(old.parent).integrity.damage
        assert (damage.fault, damage.lines) == (Fault.REMOVED, 1)
        old.unlink()
        (damage,) = read_journal(old.parent).integrity.damage
        assert damage.sentence == (
            "journal/20250101-old.jsonl: missing, with the 5 lines that a later session saw"
        )

    @pytest.mark.parametrize(
        ("good", "bad"),
        [
            ('"value":1.25', '"value":1.25,"value":2.5'),
            ('"value":1.25', '"value":NaN'),
            ('"value":1.25', '"value":1e999'),
            ('"value":1.25', f'"value":{"9" * 400}'),
            ('"block":0', f'"block":{"9" * 400}'),
            ('"block":0', '"block":"first"'),
            ('"excerpt":null', '"excerpt":"\\ud800"'),
            ('"facts":{}', '"facts":{"a":' + "[" * 900 + "]" * 900 + "}"),
        ],
        ids=range(8),
    )
    def test_what_is_no_bounded_value_is_a_damaged_line(self, good: str, bad: str, tmp_path: Path) -> None:
        old = self.old(tmp_path)
        text = old.read_text()
        assert good in text
        old.write_text(text.replace(good, bad, 1))
        journal = read_journal(old.parent)
        assert len(journal.outcomes) == 3
        assert [(damage.fault, damage.line) for damage in journal.integrity.damage] == [(Fault.DAMAGED, 2)]


def test_a_line_that_is_too_long_is_passed_over(
    result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("one_file", "lines"):
        monkeypatch.setattr(f"tare.journal.{module}.MOST_LINE_BYTE", 4000)
    journal = faulty(tmp_path, result, FIRST, lambda lines: lines.insert(4, b"x" * 7900 + b"\n"))
    assert [(damage.fault, damage.line) for damage in journal.integrity.damage] == [(Fault.DAMAGED, 5)]
    assert len(journal.outcomes) == 12
    with (
        JournalWriter(tmp_path / "long.jsonl") as writer,
        pytest.raises(JournalError, match="print fewer values"),
    ):
        writer.append(an_outcome(excerpt="x" * 4000))


def test_what_is_no_file_does_not_stop_the_reader(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").symlink_to("/dev/zero")
    with pytest.raises(JournalError, match="is no file"):
        read_journal(tmp_path)


def test_a_later_version_is_named_with_the_way_out(result: Result, tmp_path: Path) -> None:
    rest = b'"schema":3,"new":{}}'
    put(tmp_path, {**result.files, SECOND: b'{"crc":"%08x",%s\n' % (crc32(rest), rest)})
    with pytest.raises(JournalError, match=r"later Tare \(schema 3\)"):
        read_journal(tmp_path / "journal")


def test_a_line_still_is_json_that_holds_the_record_where_it_was(result: Result) -> None:
    for line in result.files[FIRST].splitlines()[:-1]:
        document = json.loads(line)
        assert document["kind"] in {"session", "outcome"}
        assert isinstance(document["record"], dict)


def test_sessions_say_what_campaign_they_ran(result: Result, tmp_path: Path) -> None:
    put(tmp_path, result.files)
    sessions = read_journal(tmp_path / "journal").sessions
    assert {session.campaign_digest for session in sessions} == {campaign_digest(tmp_path)}
    assert list(sessions[1].earlier) == [Path(FIRST).name]
