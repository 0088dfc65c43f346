# SPDX-License-Identifier: Apache-2.0
"""The journal on disk: nothing that was written is lost, nothing stands twice, and every damage is named."""

import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.journal.journal_example import a_session, an_outcome, outcomes

from tare.errors import InputError, JournalError
from tare.journal.lines import encode
from tare.journal.reader import read_journal
from tare.journal.result import ResultFolder
from tare.journal.writer import JournalWriter
from tare.records import Fault, Outcome


def write(path: Path, *records: Outcome) -> None:
    with JournalWriter(path) as writer:
        writer.append(a_session())
        for record in records:
            writer.append(record)


class TestReading:
    @settings(max_examples=40)
    @given(records=st.lists(outcomes, max_size=4, unique_by=lambda outcome: outcome.trial.identity))
    def test_what_was_written_is_read_in_its_order(
        self, records: list[Outcome], tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        folder = tmp_path_factory.mktemp("journal")
        write(folder / "a.jsonl", *records)
        journal = read_journal(folder)
        assert list(journal.outcomes) == records
        assert journal.sessions == (a_session(),)
        assert journal.done == {record.trial.identity for record in records}

    def test_a_folder_that_is_not_there_yet_is_an_empty_journal(self, tmp_path: Path) -> None:
        journal = read_journal(tmp_path / "absent")
        assert (journal.sessions, journal.outcomes) == ((), ())

    def test_files_are_read_in_the_order_of_their_starts(self, tmp_path: Path) -> None:
        first, second = an_outcome(), an_outcome()
        write(tmp_path / "20250102-b.jsonl", second)
        write(tmp_path / "20250101-a.jsonl", first)
        assert read_journal(tmp_path).outcomes == (first, second)

    @pytest.mark.parametrize("torn", [b"{", b"\0\0\0\0\0\0", b'{"schema":1,"kind":"outcome","record":{}'])
    def test_a_torn_last_line_is_dropped(self, torn: bytes, tmp_path: Path) -> None:
        whole = an_outcome()
        write(tmp_path / "a.jsonl", whole)
        with (tmp_path / "a.jsonl").open("ab") as opened:
            opened.write(torn)
        assert read_journal(tmp_path).outcomes == (whole,)

    def test_a_whole_record_without_its_line_end_counts_as_torn(self, tmp_path: Path) -> None:
        write(tmp_path / "a.jsonl")
        with (tmp_path / "a.jsonl").open("ab") as opened:
            opened.write(encode(an_outcome()).removesuffix(b"\n"))
        assert read_journal(tmp_path).outcomes == ()

    def test_a_broken_line_in_the_middle_is_named_with_file_and_number_and_the_rest_is_read(
        self, tmp_path: Path
    ) -> None:
        before, after = an_outcome(), an_outcome()
        lines = [encode(a_session()), encode(before), b'{"schema":1,"ki\n', encode(after)]
        (tmp_path / "a.jsonl").write_bytes(b"".join(lines))
        journal = read_journal(tmp_path)
        assert journal.outcomes == (before, after)
        (damage,) = journal.integrity.damage
        assert (damage.line, damage.fault) == (3, Fault.DAMAGED)
        assert damage.sentence == f"{tmp_path.name}/a.jsonl, line 3: damaged, not used"

    def test_of_a_trial_that_stands_twice_the_first_outcome_is_kept_and_the_other_named(
        self, tmp_path: Path
    ) -> None:
        """Two runners that measured into one folder at once must not make it unreadable."""
        first, again, other = an_outcome("b000-same"), an_outcome("b000-same", "again"), an_outcome("b001-x")
        write(tmp_path / "20250102-b.jsonl", again, other, again)
        write(tmp_path / "20250101-a.jsonl", first)
        journal = read_journal(tmp_path)
        assert journal.outcomes == (first, other)
        assert journal.repeated == ("b000-same", "b000-same")
        assert len(journal.sessions) == 2

    def test_in_one_file_the_earlier_line_is_the_first(self, tmp_path: Path) -> None:
        first, again = an_outcome("b000-same"), an_outcome("b000-same", "again")
        write(tmp_path / "a.jsonl", first, again)
        assert read_journal(tmp_path).outcomes == (first,)

    def test_other_files_are_not_read(self, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("mine")
        (tmp_path / "a.jsonl.bak").write_text("mine")
        assert read_journal(tmp_path).outcomes == ()

    def test_a_journal_that_cannot_be_read_is_an_error_in_words(self, tmp_path: Path) -> None:
        (tmp_path / "a.jsonl").mkdir()
        with pytest.raises(JournalError, match=r"cannot read the journal .*a\.jsonl: Is a directory"):
            read_journal(tmp_path)


class TestWriting:
    def test_each_line_is_on_disk_before_append_returns(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        synced: list[int] = []
        fsync = os.fsync

        def noting(descriptor: int) -> None:
            synced.append(os.fstat(descriptor).st_size)
            fsync(descriptor)

        monkeypatch.setattr("os.fsync", noting)
        with JournalWriter(tmp_path / "a.jsonl") as writer:
            synced.clear()
            writer.append(a_session())
            first = (tmp_path / "a.jsonl").stat().st_size
            writer.append(an_outcome())
            second = (tmp_path / "a.jsonl").stat().st_size
            assert synced == [first, second]
        assert synced == [first, second, (tmp_path / "a.jsonl").stat().st_size]

    def test_a_new_journal_is_found_again_after_a_power_loss(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        synced: list[str] = []
        fsync = os.fsync

        def noting(descriptor: int) -> None:
            synced.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
            fsync(descriptor)

        monkeypatch.setattr("os.fsync", noting)
        new = tmp_path / "result" / "journal"
        with JournalWriter(new / "a.jsonl"):
            assert synced == [str(tmp_path), str(new.parent), str(new)]

    def test_a_file_of_another_runner_is_never_written_to(self, tmp_path: Path) -> None:
        write(tmp_path / "a.jsonl", an_outcome())
        before = (tmp_path / "a.jsonl").read_bytes()
        with pytest.raises(JournalError, match=r"cannot begin the journal .*: File exists"):
            JournalWriter(tmp_path / "a.jsonl")
        assert (tmp_path / "a.jsonl").read_bytes() == before

    def test_two_runners_in_one_folder_do_not_meet(self, tmp_path: Path) -> None:
        mine = {name: [an_outcome() for _ in range(20)] for name in ("a", "b")}
        threads = [
            threading.Thread(target=write, args=(tmp_path / f"{name}.jsonl", *records))
            for name, records in mine.items()
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert read_journal(tmp_path).outcomes == (*mine["a"], *mine["b"])

    def test_a_line_that_goes_out_in_pieces_is_whole(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_all = os.write
        monkeypatch.setattr("os.write", lambda descriptor, line: write_all(descriptor, line[:100]))
        record = an_outcome()
        write(tmp_path / "a.jsonl", record)
        assert read_journal(tmp_path).outcomes == (record,)

    def test_a_folder_that_cannot_be_made_is_an_error_in_words(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(JournalError, match=r"cannot begin the journal .*: Not a directory"):
            JournalWriter(tmp_path / "file" / "deep" / "a.jsonl")

    def test_a_disk_that_takes_nothing_back_still_gives_words_and_a_readable_journal(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = an_outcome()
        write_some = os.write

        def refuse(*_: object) -> int:
            raise OSError(5, "Input/output error")

        def write_half(descriptor: int, line: bytes) -> int:
            monkeypatch.setattr("os.write", refuse)
            return write_some(descriptor, line[: len(line) // 2])

        def write_and_fail() -> None:
            with JournalWriter(tmp_path / "a.jsonl") as writer:
                writer.append(a_session())
                writer.append(whole)
                monkeypatch.setattr("os.ftruncate", refuse)
                monkeypatch.setattr("os.write", write_half)
                writer.append(an_outcome())

        with pytest.raises(JournalError, match=r"Input/output error\. All earlier lines are safe"):
            write_and_fail()
        assert read_journal(tmp_path).outcomes == (whole,)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """64 KiB."""
    point = tmp_path / "disk"
    point.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tare-test", str(point)], check=True)
    try:
        yield point
    finally:
        subprocess.run(["umount", "--lazy", str(point)], check=True)


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts")
class TestFullDisk:
    def fill(self, path: Path, excerpt: str) -> list[Outcome]:
        """Append until the disk is full, so that the last line may have no room either; what was taken."""
        taken: list[Outcome] = []

        def append_all(writer: JournalWriter) -> None:
            writer.append(a_session())
            for _ in range(1000):
                record = an_outcome(excerpt=excerpt)
                writer.append(record)
                taken.append(record)

        words = r"No space left on device.*make room and run the same command again"
        with pytest.raises(JournalError, match=words), JournalWriter(path) as writer:
            append_all(writer)
        return taken

    @pytest.mark.parametrize("excerpt", ["short", "x" * 20_000])
    def test_earlier_lines_stay_and_the_run_goes_on_when_there_is_room_again(
        self, excerpt: str, small_disk: Path
    ) -> None:
        ballast = small_disk / "ballast"
        ballast.write_bytes(b"\0" * 16_384)
        taken = self.fill(small_disk / "journal" / "1.jsonl", excerpt)
        assert taken
        assert list(read_journal(small_disk / "journal").outcomes) == taken
        ballast.unlink()
        after = an_outcome()
        write(small_disk / "journal" / "2.jsonl", after)
        assert list(read_journal(small_disk / "journal").outcomes) == [*taken, after]

    def test_no_torn_line_is_left_behind(self, small_disk: Path) -> None:
        self.fill(small_disk / "1.jsonl", "x" * 5000)
        assert (small_disk / "1.jsonl").read_bytes().endswith(b"}\n")

    def test_the_same_runner_may_go_on_when_there_is_room_again(self, small_disk: Path) -> None:
        (small_disk / "ballast").write_bytes(b"\0" * 60_000)
        first, second, third = an_outcome(), an_outcome(excerpt="x" * 10_000), an_outcome()
        with JournalWriter(small_disk / "1.jsonl") as writer:
            writer.append(a_session())
            writer.append(first)
            with pytest.raises(JournalError):
                writer.append(second)
            (small_disk / "ballast").unlink()
            writer.append(third)
        assert read_journal(small_disk).outcomes == (first, third)

    def test_a_campaign_that_finds_no_room_leaves_no_half_file(self, small_disk: Path) -> None:
        (small_disk / "ballast").write_bytes(b"\0" * 65_536)
        folder = ResultFolder(small_disk)
        with pytest.raises(JournalError, match=r"cannot write to .*: No space left"):
            folder.write_campaign("{}" * 5000)
        assert not folder.exists()


class TestResultFolder:
    def test_a_campaign_is_kept_as_it_was_given(self, tmp_path: Path) -> None:
        folder = ResultFolder(tmp_path / "deep" / "result")
        assert not folder.exists()
        folder.write_campaign('{"name": "ü"}')
        assert folder.exists()
        assert folder.read_campaign() == '{"name": "ü"}'
        assert [path.name for path in folder.path.iterdir()] == ["campaign.json"]

    def test_no_such_folder_and_no_result_folder_are_told_apart(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="there is no such result folder"):
            ResultFolder(tmp_path / "absent").read_campaign()
        with pytest.raises(InputError, match="is not a result folder of tare"):
            ResultFolder(tmp_path).read_campaign()

    @pytest.mark.parametrize("below", [".", "result"])
    def test_a_folder_that_cannot_be_written_is_an_error_in_words(self, below: str, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(JournalError, match="cannot write to"):
            ResultFolder(tmp_path / "file" / below).write_campaign("{}")

    @pytest.mark.root
    @pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts")
    def test_a_read_only_disk_is_an_error_in_words(self, small_disk: Path) -> None:
        subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
        with pytest.raises(JournalError, match="Read-only file system"):
            ResultFolder(small_disk / "new").write_campaign("{}")
        with pytest.raises(JournalError, match="Read-only file system"):
            JournalWriter(small_disk / "journal" / "a.jsonl")
