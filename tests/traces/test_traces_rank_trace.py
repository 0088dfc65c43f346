# SPDX-License-Identifier: Apache-2.0
"""Files of a trace are read as they were written, and damaged ones are refused with their name."""

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tare.commands.export import run_export
from tare.errors import InputError
from tare.traces import rank_trace
from tare.traces.messages import UNMATCHED, match
from tare.traces.otf2_archive import Times
from tare.traces.rank_trace import RankTrace, RecordFlag, RecordKind, is_trace, read_rank, read_trace

CALLS = [
    {"name": "MPI_Send", "share": "communication", "begun": False},
    {"name": "MPI_Recv", "share": "communication", "begun": False},
    {"name": "MPI_Put", "share": "communication", "begun": False},
    {"name": "MPI_File_write", "share": "io", "begun": False},
]
Row = tuple[int, ...]


def head(rank: int = 0, ranks: int = 1, **other: object) -> dict[str, object]:
    return {
        "tare_trace": 1,
        "run": "run",
        "rank": rank,
        "ranks": ranks,
        "host": "host",
        "program": "/program",
        "library": "Open MPI",
        "started_unix_ns": 1,
        "clock": "7",
        "ns_per_tick": 2.0,
        "record_byte": 56,
        "calls": CALLS,
        **other,
    }


def call(kind: RecordKind, number: int, begin: int, end: int, **fields: int) -> Row:
    values = {"sent": 0, "received": 0, "stream": 0, "peer": 0, "tag": 0, "request": 0, **fields}
    return (
        *(
            begin,
            end,
            values["sent"],
            values["received"],
            values["stream"],
            values["peer"],
            values["tag"],
            values["request"],
        ),
        *(number, kind, RecordFlag.IS_CALL | RecordFlag.ON_MAIN),
    )


def closing() -> Row:
    bits = int(np.float64(2.0).view(np.uint64))
    return (0, 0, bits, 0, 1, 0, 0, 0, -1, RecordKind.CLOSED, 0)


def write(folder: Path, rows: Sequence[Row], rank: int = 0, ranks: int = 1, **other: object) -> Path:
    path = folder / f"run.rank-{rank}"
    records = np.array(list(rows), dtype=rank_trace._RECORD)
    path.write_bytes(json.dumps(head(rank, ranks, **other)).encode() + b"\n" + records.tobytes())
    return path


def exported(folder: Path, rank: int = 0) -> list[str]:
    run_export([folder / "run"], folder / "out", "verdicts", "simgrid")
    return (folder / "out" / f"rank-{rank}.txt").read_text().splitlines()


def test_the_time_between_calls_is_work_but_for_that_of_the_trace_itself(tmp_path: Path) -> None:
    own = (130, 150, 0, 0, 0, 0, 0, 0, -1, RecordKind.OWN, 0)
    rows = [
        call(RecordKind.CALL, 0, 0, 100),
        own,
        call(RecordKind.CALL, 3, 200, 300),
        call(RecordKind.CALL, 0, 300, 301),
        closing(),
    ]
    write(tmp_path, rows)
    assert exported(tmp_path) == ["0 init", "0 compute 160", "0 sleep 0.000000200", "0 finalize"]


def test_what_simgrid_has_no_word_for_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, [call(RecordKind.MOVED, 2, 0, 1, sent=8), closing()])
    assert exported(tmp_path) == ["0 init", "0 finalize"]
    assert "1 MPI_Put: SimGrid has nothing for them" in capsys.readouterr().out


def traces(path: Path, streams: Iterable[tuple[list[int], list[int]]]) -> list[RankTrace]:
    """Rank 0 sends to rank 1: the streams of what is sent, and of what is received in its order."""
    sent, received = next(iter(streams))
    sends = [
        call(RecordKind.SENT, 0, place, place, stream=stream, peer=1) for place, stream in enumerate(sent)
    ]
    receives = [
        call(RecordKind.RECEIVED, 1, place, place, stream=stream, peer=0)
        for place, stream in enumerate(received)
    ]
    return [
        read_rank(write(path, [*rows, closing()], rank, 2)) for rank, rows in enumerate((sends, receives))
    ]


@settings(max_examples=20, deadline=None)
@given(sent=st.lists(st.integers(1, 4), max_size=30), order=st.randoms(use_true_random=False))
def test_the_nth_receive_of_a_stream_takes_its_nth_send(
    tmp_path_factory: pytest.TempPathFactory, sent: list[int], order: object
) -> None:
    received = sent.copy()
    order.shuffle(received)  # type: ignore[attr-defined]
    own = match(traces(tmp_path_factory.mktemp("matched"), [(sent, [*received, 9])]))
    assert own[0].number[:-1].tolist() == list(range(len(sent)))
    numbers = own[1].number[:-1].tolist()
    assert numbers[-1] == UNMATCHED  # nobody sent it
    for stream in set(sent):
        of_stream = [number for number, each in zip(numbers, received, strict=False) if each == stream]
        assert of_stream == [place for place, each in enumerate(sent) if each == stream]


def test_messages_of_unknown_streams_are_told_apart_by_their_tags(tmp_path: Path) -> None:
    sends = [call(RecordKind.SENT, 0, place, place, peer=1, tag=tag) for place, tag in enumerate((7, 8))]
    receives = [call(RecordKind.RECEIVED, 1, place, place, tag=tag) for place, tag in enumerate((8, 7))]
    ranks = [
        read_rank(write(tmp_path, [*rows, closing()], rank, 2)) for rank, rows in enumerate((sends, receives))
    ]
    assert match(ranks)[1].number.tolist() == [1, 0, UNMATCHED]


def test_a_trace_is_named_by_its_name_or_by_any_of_its_files(tmp_path: Path) -> None:
    for rank in range(2):
        write(tmp_path, [closing()], rank, 2)
    assert [len(read_trace(tmp_path / name)) for name in ("run", "run.rank-1")] == [2, 2]
    assert is_trace(tmp_path / "run")
    assert not is_trace(tmp_path / "other")


def test_a_trace_with_a_rank_missing_or_of_another_run_is_refused(tmp_path: Path) -> None:
    write(tmp_path, [closing()], 0, 2)
    with pytest.raises(InputError, match=r"run.rank-1 cannot be read"):
        read_trace(tmp_path / "run")
    write(tmp_path, [closing()], 1, 2, run="another")
    with pytest.raises(InputError, match=r"run.rank-1 is of another run"):
        read_trace(tmp_path / "run")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is no trace of the profiler"),
        (b"\n", "is no trace of the profiler"),
        (b"text\n" * 100, "is no trace of the profiler"),
        (json.dumps(head(record_byte=8)).encode() + b"\n", "is a trace of another version"),
        (json.dumps(head()).encode() + b"\n" + b"\x7f" * 56, "is damaged"),
    ],
)
def test_what_is_no_trace_is_refused_by_its_name(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "run.rank-0"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        read_rank(path)


def test_a_trace_ends_with_its_last_whole_record(tmp_path: Path) -> None:
    path = write(tmp_path, [call(RecordKind.CALL, 0, 0, 1), closing()])
    assert not read_rank(path).cut
    path.write_bytes(path.read_bytes()[:-1])
    trace = read_rank(path)
    assert (trace.cut, len(trace.records), trace.ns_per_tick, trace.line) == (True, 1, 2.0, None)


def test_a_trace_needs_a_format_and_a_new_folder(tmp_path: Path) -> None:
    write(tmp_path, [closing()])
    with pytest.raises(InputError, match="--format simgrid or otf2"):
        run_export([tmp_path / "run"], tmp_path / "out", "verdicts", None)
    with pytest.raises(InputError, match="is there already"):
        run_export([tmp_path / "run"], tmp_path, "verdicts", "simgrid")


def test_an_archive_without_its_library_is_refused_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "otf2", None)
    write(tmp_path, [closing()])
    with pytest.raises(InputError, match="pip install otf2"):
        run_export([tmp_path / "run"], tmp_path / "out", "verdicts", "otf2")
    assert not (tmp_path / "out").exists()


def of_two_clocks(folder: Path, realm: int) -> list[RankTrace]:
    """Rank 1's clock is 1000 ticks ahead and runs twice as fast."""
    first = [call(RecordKind.CALL, 0, 100, 110), closing()]
    ahead = (1000, 0, closing()[2], int(np.float64(-0.5).view(np.uint64)), realm, *closing()[5:])
    second = [call(RecordKind.CALL, 0, 1400, 1440), ahead]
    return [read_rank(write(folder, first, 0, 2)), read_rank(write(folder, second, 1, 2, clock="8"))]


def test_moments_of_several_clocks_are_told_by_the_first_ranks(tmp_path: Path) -> None:
    times = Times(of_two_clocks(tmp_path, realm=1))
    assert [times.ns(0, 100), times.ns(0, 110), times.ns(1, 1400), times.ns(1, 1440)] == [0, 20, 200, 240]


def test_clocks_that_could_not_be_compared_make_no_archive(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="several clocks that could not be compared"):
        Times(of_two_clocks(tmp_path, realm=2))
