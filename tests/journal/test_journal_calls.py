# SPDX-License-Identifier: Apache-2.0
"""Counted system calls are read again as they were kept."""

import json
from pathlib import Path

import pytest

from tare.errors import JournalError
from tare.journal.calls import CALLS_FILE, keep_calls, read_calls
from tare.records import CallCounts, Cell, TracedCalls

MESSAGES = Cell(workload="messages", layout="1c2p1i")
COMPUTE = Cell(workload="compute", layout="1c2p1i")
TRACED = TracedCalls(
    counts={
        MESSAGES: {
            "native": CallCounts(made={"read": 3, "futex": 2}, failed={"futex": 1}, traced_s=0.25),
            "docker": CallCounts(made={"read": 3}, failed={}, traced_s=3.0, whole=False),
        },
        COMPUTE: {"native": CallCounts(made={"write": 1}, failed={}, traced_s=0.5)},
    },
    untraced={COMPUTE: {"qemu": "its nodes have a kernel of their own"}},
)


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    path = keep_calls(tmp_path / "kept", TRACED)
    assert read_calls(tmp_path / "kept") == TRACED
    assert [entry.name for entry in path.parent.iterdir()] == [CALLS_FILE]


def test_where_nothing_was_counted_there_is_nothing(tmp_path: Path) -> None:
    assert read_calls(tmp_path) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[]", "is not of schema 1"),
        ('{"schema": 99, "calls": []}', "is not of schema 1"),
        ('{"schema": 1}', "does not hold counted system calls"),
        ('{"schema": 1, "calls": [3]}', "does not hold counted system calls"),
        ('{"schema": 1, "calls": [{"workload": "w", "layout": "1c1p1i"}]}', "does not hold"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_in_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / CALLS_FILE).write_text(text)
    with pytest.raises(JournalError, match=f"calls.json .*{said}"):
        read_calls(tmp_path)


def test_counts_that_are_none_are_refused(tmp_path: Path) -> None:
    path = keep_calls(tmp_path, TRACED)
    kept = json.loads(path.read_text())
    kept["calls"][0]["counts"]["made"] = {"read": "many"}
    path.write_text(json.dumps(kept))
    with pytest.raises(JournalError, match="have the calls counted again"):
        read_calls(tmp_path)


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match="cannot keep the counted system calls"):
        keep_calls(tmp_path / "file", TRACED)
