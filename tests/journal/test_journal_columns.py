# SPDX-License-Identifier: Apache-2.0
"""A large journal read from columns is the journal, field by field, and they are believed for their content alone."""

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, make_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow.parquet import ParquetFile
from tests.journal import journal_example
from tests.journal.journal_example import (
    a_session,
    an_outcome,
    counts,
    facts,
    measured_again,
    numbers,
    records_read,
    words,
)
from tests.journal.one_fault import trials, written

from tare.errors import JournalError
from tare.journal import column_state, columns, large, light, outcome_columns
from tare.journal.large import read_result
from tare.journal.reader import Journal, read_journal
from tare.journal.result import ResultFolder
from tare.journal.writer import JournalWriter
from tare.records import (
    BusyProgram,
    Clocks,
    Coordinate,
    Direction,
    HostLoad,
    InstanceRun,
    Outcome,
    Parity,
    Sample,
    Scope,
    Session,
    Signal,
    Skipped,
    TurnsTaken,
    Way,
)

NAME = "20260101T000000.000000Z-a.jsonl"
small = st.integers(0, 2**31 - 1)
samples = st.builds(
    Sample,
    name=words,
    value=numbers,
    unit=words,
    direction=st.sampled_from(Direction),
    instance=st.none() | small,
    coordinates=st.lists(st.builds(Coordinate, words, numbers, st.none() | words), max_size=2).map(tuple),
    iteration=st.none() | st.integers(0, 3),
    round=st.none() | small,
    process=st.none() | small,
)
signals = st.builds(
    Signal, name=words, unit=words, scope=st.sampled_from(Scope), value=numbers, lost_time=st.booleans()
)
loads = st.builds(
    HostLoad,
    processors=st.integers(1, 99),
    foreign=st.floats(0, 9),
    others=st.lists(
        st.builds(
            BusyProgram, name=words, user=st.none() | words, pid=st.none() | counts, processors=numbers
        ),
        max_size=2,
    ).map(tuple),
)
turns = st.builds(TurnsTaken, way=st.sampled_from(Way), together=words, arms=counts, turns=counts)
outcomes = st.builds(
    replace,
    journal_example.outcomes,
    samples=st.lists(samples, max_size=6).map(tuple),
    signals=st.lists(signals, max_size=3).map(tuple),
    missing_signals=facts,
    parity=st.builds(Parity, own=facts, host=facts),
    load=st.none() | loads,
    turns=st.none() | turns,
)
lines = st.lists(st.one_of(journal_example.sessions, outcomes), max_size=8)


def write(folder: Path, *records: Session | Outcome) -> ResultFolder:
    """A new journal."""
    for path in folder.glob("journal/*"):
        path.unlink()
    with JournalWriter(folder / "journal" / NAME) as writer:
        for record in records:
            writer.append(record)
    return ResultFolder(folder)


def plain(outcome: Outcome) -> Outcome:
    return Outcome(**{field.name: getattr(outcome, field.name) for field in fields(Outcome)})


def same(left: Journal, right: Journal) -> bool:
    """In all that can be asked of them; 0 and minus 0 differ."""
    both = [replace(journal, outcomes=tuple(map(plain, journal.outcomes))) for journal in (left, right)]
    return both[0] == both[1] and repr(both[0]) == repr(both[1])


@pytest.fixture(autouse=True)
def all_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "LARGE_JOURNAL_BYTE", 0)


@pytest.fixture
def condensing(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Filled with each journal that is condensed."""
    done: list[Path] = []
    original = columns._condense

    def counted(journal: Path, *others: Any) -> Any:
        done.append(journal)
        return original(journal, *others)

    monkeypatch.setattr(columns, "_condense", counted)
    return done


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
    max_examples=25,
)
@given(records=lines, at_once=st.integers(1, 4))
def test_columns_hold_all_that_the_journal_holds(
    records: list[Session | Outcome], at_once: int, tmp_path: Path
) -> None:
    folder = write(tmp_path, a_session(), *records)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "ROWS_AT_ONCE", at_once)
        patch.setattr(columns, "OUTCOMES_AT_ONCE", at_once)
        first = read_result(folder)
    assert (tmp_path / "derived" / "state.json").is_file()
    expected = read_journal(folder.journal)
    assert same(first, expected)
    assert same(read_result(folder), expected)
    assert first.done == expected.done


@pytest.mark.parametrize("number", [-1, 2**31, 2**53 + 1, 2**64 - 1])
@pytest.mark.parametrize("field", ["instance", "iteration", "round"])
def test_a_sample_that_no_column_holds_is_read_from_the_journal(
    field: str, number: int, tmp_path: Path
) -> None:
    outcome = an_outcome()
    changed: dict[str, Any] = {field: number}
    odd = replace(outcome, samples=(replace(outcome.samples[0], **changed),))
    folder = write(tmp_path, a_session(), odd)
    assert same(read_result(folder), read_journal(folder.journal))


@pytest.mark.parametrize("faults", [2**53, 2**53 + 1, 2**64 - 1])
def test_a_count_that_no_double_holds_is_read_from_the_journal(faults: int, tmp_path: Path) -> None:
    folder = write(tmp_path, a_session(), replace(an_outcome(), instances=(a_run(faults),)))
    assert read_result(folder).outcomes[0].instances[0].minor_faults == faults


def a_run(minor_faults: int) -> InstanceRun:
    return InstanceRun(
        instance=0,
        clocks=Clocks(wall_s=1.0, host_wall_s=1.0, round_trip_s=0.1),
        start_offset_s=0.0,
        user_s=0.0,
        system_s=0.0,
        maximum_rss_byte=1,
        minor_faults=minor_faults,
        major_faults=0,
        voluntary_switches=0,
        involuntary_switches=0,
        exit_code=0,
        signal=None,
        timed_out=False,
    )


def test_outcomes_with_many_runs_or_signals_wait_for_few_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "ROWS_AT_ONCE", 5)
    signal = Signal(name="n", unit="s", scope=Scope.HOST, value=0.0)
    long: dict[str, Any] = {"samples": (), "instances": (a_run(1),) * 2, "signals": (signal,)}
    folder = write(tmp_path, a_session(), *(replace(an_outcome(), **long) for _ in range(4)))
    assert same(read_result(folder), read_journal(folder.journal))
    assert ParquetFile(folder.derived / "outcomes.parquet").num_row_groups == 2


def test_a_trial_measured_twice_and_sessions_with_others_missing_read_as_from_the_journal(
    tmp_path: Path,
) -> None:
    skipped = Skipped(environment="e", reason="r", remedy="m")
    folder = write(
        tmp_path, a_session(), an_outcome(), replace(a_session("0b"), skipped=(skipped,)), an_outcome()
    )
    measured_again(folder.journal)
    journal = read_result(folder)
    assert same(journal, read_journal(folder.journal))
    assert len(journal.repeated) == 2
    assert journal.without == (frozenset(), frozenset({"e"}))


def test_a_damaged_journal_says_the_same_from_columns(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "other").mkdir()
    mine = written(tmp_path / "mine")
    other = written(tmp_path / "other", "other")
    differing = 0
    for _ in trials(5, 30, mine, other, tmp_path / "damaged"):
        folder = ResultFolder(tmp_path / "damaged")
        expected = read_journal(folder.journal)
        assert same(read_result(folder), expected)
        assert same(read_result(folder), expected)
        differing += bool(expected.integrity.damage)
    assert differing > 10


def test_a_later_command_reads_no_record_and_no_sample_of_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path, a_session(), *(an_outcome() for _ in range(3)))
    kinds = records_read(monkeypatch)
    read_result(folder)
    assert kinds.count("outcome") == 3
    kinds.clear()
    long_fields: list[str] = []
    value = light.LightOutcomes.value

    def counted(own: light.LightOutcomes, name: str, place: int) -> Any:
        long_fields.append(name)
        return value(own, name, place)

    monkeypatch.setattr(light.LightOutcomes, "value", counted)
    journal = read_result(folder)
    assert kinds == []
    assert long_fields == [], "read before anybody asked"
    assert [outcome.facts for outcome in journal.outcomes] == [{}] * 3
    assert long_fields == ["facts"] * 3


def test_a_command_that_condenses_meanwhile_does_not_change_what_this_one_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "ROWS_AT_ONCE", 1)
    folder = write(tmp_path, a_session(), an_outcome())
    short = read_journal(folder.journal)
    finish = columns.ColumnWriter.finish
    others: list[Any] = []

    def with_another(own: columns.ColumnWriter, *arguments: Any) -> Any:
        state = finish(own, *arguments)
        if not others:
            others.append(write(tmp_path, a_session(), *(an_outcome() for _ in range(9))))
            others.append(read_result(folder))
        return state

    monkeypatch.setattr(columns.ColumnWriter, "finish", with_another)
    assert same(read_result(folder), short)
    expected = read_journal(folder.journal)
    assert len(expected.outcomes) == 9
    assert same(others[1], expected)
    assert same(read_result(folder), expected)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    status = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


def lengthen(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def lend(path: Path) -> None:
    """Everybody may have written it."""
    path.chmod(0o666)


def give_away(path: Path) -> None:
    os.chown(path, 65534, -1)


def link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


ALTERING = (flip, cut, lengthen, Path.unlink, lend, link, *([give_away] if os.geteuid() == 0 else []))


@pytest.mark.parametrize("name", ["outcomes.parquet", "samples.parquet", "state.json"])
@pytest.mark.parametrize("alter", ALTERING)
def test_columns_that_were_altered_or_are_not_ones_own_are_made_anew(
    alter: Callable[[Path], None], name: str, tmp_path: Path, condensing: list[Path]
) -> None:
    folder = write(tmp_path, a_session(), *(an_outcome() for _ in range(3)))
    expected = read_result(folder)
    read_result(folder)
    assert len(condensing) == 1
    alter(folder.derived / name)
    assert same(read_result(folder), expected)
    assert len(condensing) == 2
    read_result(folder)
    assert len(condensing) == 2


def test_columns_that_were_copied_with_their_result_are_made_anew(
    tmp_path: Path, condensing: list[Path]
) -> None:
    """Somebody else may have written them, and whoever copied them owns them now."""
    folder = write(tmp_path / "theirs", a_session(), an_outcome())
    read_result(folder)
    shutil.copytree(folder.path, tmp_path / "copy")
    copy = ResultFolder(tmp_path / "copy")
    for _ in range(2):
        assert same(read_result(copy), read_journal(folder.journal))
    assert condensing == [folder.journal, copy.journal]


def test_columns_of_a_journal_that_changed_in_a_byte_are_made_anew(
    tmp_path: Path, condensing: list[Path]
) -> None:
    folder = write(tmp_path, a_session(), *(an_outcome() for _ in range(3)))
    read_result(folder)
    path = folder.journal / NAME
    for place in range(7, path.stat().st_size, path.stat().st_size // 20):
        content = bytearray(path.read_bytes())
        content[place] ^= 4
        path.write_bytes(content)
        before = len(condensing)
        with suppress(JournalError):
            assert same(read_result(folder), read_journal(folder.journal))
        assert len(condensing) == before + 1


def test_columns_of_records_of_another_shape_are_made_anew(
    tmp_path: Path, condensing: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path, a_session(), an_outcome())
    read_result(folder)
    monkeypatch.setattr(column_state, "SHAPE", "another")
    read_result(folder)
    assert len(condensing) == 2


def test_fields_in_another_order_or_of_another_kind_have_another_shape() -> None:
    fields_of = (
        [("name", str), ("user_s", float), ("system_s", float)],
        [("name", str), ("system_s", float), ("user_s", float)],
        [("name", str), ("user_s", float), ("system_s", float | None)],
        [("name", int), ("user_s", float), ("system_s", float)],
    )
    shapes = {outcome_columns._Rows(make_dataclass("Run", names), ("name",)).shape for names in fields_of}
    assert len(shapes) == 4
    assert all(rows.shape in outcome_columns.OUTCOME_SHAPE for rows in outcome_columns._ROWS.values())


def test_of_a_light_outcome_a_whole_one_can_be_made(tmp_path: Path) -> None:
    outcome = an_outcome()
    light_one = read_result(write(tmp_path, a_session(), outcome)).outcomes[0]
    assert plain(replace(light_one, reason="why")) == replace(outcome, reason="why")
    assert not hasattr(light_one, "nothing")
