# SPDX-License-Identifier: Apache-2.0
"""The operations of an operating system in slices: equal turns say the same, and nothing is left behind."""

import subprocess
from pathlib import Path

import pytest

from tests.native.conversation import eventually, process_lives
from tests.native.test_native_slices import Resident, resident

COUNTS = {
    "fork-exit": 2,
    "fork-exec": 2,
    "fork-shell": 2,
    "context-switch:3:4096": 20,
    "pipe": 20,
    "unix-socket": 20,
    "tcp": 20,
    "futex": 20,
    "thread": 10,
    "filtered-calls": 100,
    "open-close": 100,
    "signal-install": 100,
    "signal-deliver": 100,
    "page-fault": 2000,
    "mmap": 100,
    "file-create:10240": 5,
    "file-delete:0": 5,
    "sleep": 5,
    "clock": 1000,
}


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def check(program: Resident, piece: str, count: int) -> None:
    answers = [program.turn(f"{piece} {count}") for _ in range(3)]
    other = program.turn(f"{piece} {count + 1}")
    assert len({answer[4] for answer in answers}) == 1, piece
    assert other[4] != answers[0][4], piece
    assert all(int(answer[1]) > 0 for answer in answers), piece


def test_each_operation_says_the_same_of_the_same_work_and_leaves_nothing(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with resident(programs / "slices") as program:
        for piece, count in COUNTS.items():
            check(program, piece, count)
        partners = children_of(program.process.pid)
        assert len(partners) == 3 + 3, "of the ring, the pipe and the two sockets"
        assert program.end() == (0, "", "")
    assert not any(map(process_lives, partners))
    assert not list(tmp_path.iterdir())


def test_partners_die_with_a_killed_program(programs: Path) -> None:
    with resident(programs / "slices") as program:
        for turn in ("context-switch:8:0 20", "tcp 5"):
            program.turn(turn)
        partners = children_of(program.process.pid)
        assert len(partners) == 9
        program.process.kill()
        eventually(lambda: not any(map(process_lives, partners)), "the partners ended")


def test_a_ring_that_lost_a_member_is_an_error_and_not_a_wait(programs: Path) -> None:
    with resident(programs / "slices") as program:
        program.turn("context-switch:2:0 20")
        subprocess.run(["kill", "-9", str(children_of(program.process.pid)[1])], check=True)
        assert program.process.stdin is not None
        program.process.stdin.write("context-switch:2:0 20\n")
        program.process.stdin.flush()
        code, stdout, stderr = program.end()
    assert (code, stdout) == (1, "")
    # Its neighbour has followed it by then, or has had no processor yet.
    assert "the token did not come round the ring" in stderr or "a partner process has ended" in stderr


def test_where_huge_pages_are_refused_their_operation_says_so(programs: Path) -> None:
    argv = [str(programs / "hinder"), "--no-huge-pages", str(programs / "slices")]
    turn = "huge-page-fault 2\n"
    done = subprocess.run(argv, input=turn, capture_output=True, text=True, check=False, timeout=20)
    assert (done.returncode, done.stdout) == (1, "")
    assert "huge pages" in done.stderr
    assert "leave out the piece huge-page-fault" in done.stderr
