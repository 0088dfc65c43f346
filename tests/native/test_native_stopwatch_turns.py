# SPDX-License-Identifier: Apache-2.0
"""The stopwatch gives a command its turns: each answer with its time, and nothing hangs when none comes."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.native.conversation import Conversation, conversation, effort, eventually

ECHO = 'while read line; do echo "did $line"; done'


@contextmanager
def turns(programs: Path, folder: Path, script: str, *options: str) -> Iterator[Conversation]:
    files: list[object] = ["--directory", folder, "--stdout", "out", "--stderr", "err", "--turns", "yes"]
    path = f"PATH={os.environ['PATH']}"
    argv = [programs / "stopwatch", *files, "--env", path, *options, "--", "sh", "-c", script]
    with conversation(argv) as talk:
        talk.expect("READY")
        yield talk


def test_each_turn_is_answered_with_its_line_and_its_time(programs: Path, tmp_path: Path) -> None:
    script = 'while read line; do sleep 0.05; echo "did $line"; done'
    with turns(programs, tmp_path, script) as talk:
        talk.send("GO")
        before_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        for text in ("compute 12", "x  y", "1"):
            talk.send(f"TURN {text}")
            took = talk.expect("TOOK")
            assert took["line"] == f"did {text}"
            assert took["wall_ns"] == took["end_ns"] - took["begin_ns"] >= 50_000_000
            assert before_ns <= took["begin_ns"]
            before_ns = took["end_ns"]
        assert before_ns <= time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


def test_the_end_of_turns_ends_the_command_and_its_whole_output_is_kept(
    programs: Path, tmp_path: Path
) -> None:
    with turns(programs, tmp_path, f"echo hello; echo oops >&2; : >ready; {ECHO}; printf bye") as talk:
        talk.send("GO")
        eventually((tmp_path / "ready").exists, "the command has printed")
        talk.send("TURN a")
        talk.line()
        talk.send("TURN b")
        talk.line()
        talk.send("END")
        assert talk.expect("DONE")["exit_code"] == 0
    assert (tmp_path / "out").read_text() == "hello\ndid a\ndid b\nbye"
    assert (tmp_path / "err").read_text() == "oops\n"


def test_what_was_printed_before_a_turn_is_no_answer(programs: Path, tmp_path: Path) -> None:
    with turns(programs, tmp_path, f"echo early; printf half; : >ready; {ECHO}") as talk:
        talk.send("GO")
        eventually((tmp_path / "ready").exists, "the command has printed")
        talk.send("TURN a")
        assert talk.expect("TOOK")["line"] == "did a"


@pytest.mark.parametrize(
    "between", ["echo did; echo more", "echo did; sleep 0.05; echo more", "printf 'did\\nmore'"]
)
def test_an_answer_of_two_lines_is_an_error_as_it_would_answer_the_next_turn_as_well(
    programs: Path, tmp_path: Path, between: str
) -> None:
    with turns(programs, tmp_path, f"while read line; do {between}; done") as talk:
        talk.send("GO", "TURN a")
        words = talk.line()
        if words.startswith("TOOK "):
            words = talk.line()
    assert words.startswith("ERROR ")
    assert "more than a line to a turn" in words


def test_an_answer_in_pieces_is_put_together(programs: Path, tmp_path: Path) -> None:
    with turns(programs, tmp_path, "read line; printf one; sleep 0.1; echo two; cat") as talk:
        talk.send("GO", "TURN a")
        assert talk.expect("TOOK")["line"] == "onetwo"


def test_a_command_that_ends_in_its_turn_is_done(programs: Path, tmp_path: Path) -> None:
    with turns(programs, tmp_path, "read line; printf half; exit 7") as talk:
        talk.send("GO", "TURN a")
        assert talk.expect("DONE")["exit_code"] == 7
    assert (tmp_path / "out").read_text() == "half"


def test_an_answer_given_with_the_last_breath_counts(programs: Path, tmp_path: Path) -> None:
    with turns(programs, tmp_path, "read line; echo last; kill -9 $$") as talk:
        talk.send("GO", "TURN a")
        assert talk.expect("TOOK")["line"] == "last"
        assert talk.expect("DONE")["signal"] == 9


def test_it_answers_others_and_keeps_the_time_limit_during_a_turn(programs: Path, tmp_path: Path) -> None:
    with turns(programs, tmp_path, "read line; sleep 300", "--limit-s", "0.4") as talk:
        talk.send("GO", "TURN a", "PING")
        assert talk.line().startswith("PONG ")
        assert talk.expect("DONE")["timed_out"] is True


def test_quit_ends_it_during_a_turn(programs: Path, tmp_path: Path) -> None:
    with turns(programs, tmp_path, "read line; sleep 300") as talk:
        talk.send("GO", "TURN a", "QUIT")
        assert talk.expect("DONE")["signal"] == 15
        assert talk.exit_code() == 0


@pytest.mark.parametrize("script", ["read line; sleep 300", "exec >&-; read line; sleep 300"])
def test_a_turn_under_way_costs_nothing(programs: Path, tmp_path: Path, script: str) -> None:
    with turns(programs, tmp_path, script) as talk:
        talk.send("GO", "TURN a", "PING")
        assert talk.line().startswith("PONG ")
        time.sleep(0.2)
        ticks, sleeps = effort(talk.process.pid)
        time.sleep(0.5)
        ticks_after, sleeps_after = effort(talk.process.pid)
    assert ticks_after - ticks <= 1
    assert sleeps_after - sleeps <= 1


@pytest.mark.parametrize(
    ("script", "lines", "said"),
    [
        (ECHO, ["TURN a"], "TURN needs a command"),
        (ECHO, ["END"], "END needs a command"),
        ("read line; sleep 300", ["GO", "TURN a", "TURN b"], "while a turn is under way"),
        (f"trap '' TERM; {ECHO}; sleep 1", ["GO", "END", "TURN a"], "after END"),
        ("read line; head -c 5000 /dev/zero | tr '\\0' x; sleep 300", ["GO", "TURN a"], "longer than 4096"),
        ("read line; head -c 5000 /dev/zero | tr '\\0' x; echo", ["GO", "TURN a"], "longer than 4096"),
        (ECHO, ["GO", f"TURN {'x' * 4096}"], "longer than 4096 byte"),
    ],
)
def test_what_is_no_turn_is_an_error(
    programs: Path, tmp_path: Path, script: str, lines: list[str], said: str
) -> None:
    with turns(programs, tmp_path, script, "--grace-s", "0.1") as talk:
        talk.send(*lines)
        assert said in talk.expect("ERROR")["message"]
        assert talk.exit_code() == 2


def test_a_command_that_takes_no_turns_refuses_them(programs: Path) -> None:
    with conversation([programs / "stopwatch", "--", "sleep", "300"]) as talk:
        talk.expect("READY")
        talk.send("GO", "TURN a")
        assert "--turns yes" in talk.expect("ERROR")["message"]


def test_a_flood_is_an_error_said_once_and_fills_no_disk(programs: Path, tmp_path: Path) -> None:
    with turns(
        programs, tmp_path, "trap '' TERM; yes", "--file-limit-byte", "100000", "--grace-s", "0.2"
    ) as talk:
        talk.send("GO")
        assert "more than its output file may hold" in talk.expect("ERROR")["message"]
        assert talk.expect("DONE")["signal"] == 9
    assert (tmp_path / "out").stat().st_size <= 100_000


def test_a_command_that_cannot_start_is_done(programs: Path) -> None:
    with conversation([programs / "stopwatch", "--turns", "yes", "--", "/no/such"]) as talk:
        talk.expect("READY")
        talk.send("GO")
        assert "cannot execute" in talk.expect("DONE")["error"]
        talk.send("END", "PING")
        assert talk.line().startswith("PONG ")
