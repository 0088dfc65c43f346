# SPDX-License-Identifier: Apache-2.0
import os
import signal
from pathlib import Path

import pytest

from tests.native.conversation import (
    Conversation,
    conversation,
    eventually,
    pid_in,
    process_exists,
    process_lives,
)

PATH = f"PATH={os.environ['PATH']}"
STUBBORN = """
trap "" TERM
setsid sh -c 'echo $$ > grandchild; while :; do sleep 300; done' &
echo $$ > child
while :; do sleep 300; done
"""


def start(programs: Path, folder: Path, script: str, *options: str) -> Conversation:
    fixed: list[object] = [programs / "stopwatch", "--directory", folder, "--env", PATH, "--stderr", "err"]
    talk = Conversation([*fixed, *options, "--", "sh", "-c", script])
    talk.expect("READY")
    talk.send("GO")
    return talk


def gone(folder: Path, *names: str) -> bool:
    return not any(process_exists(pid_in(folder / name)) for name in names)


def test_the_time_limit_ends_a_command_that_ends_on_sigterm(programs: Path) -> None:
    with conversation([programs / "stopwatch", "--limit-s", "0.2", "--", "sleep", "300"]) as talk:
        talk.expect("READY")
        done = talk.run()
    assert done["timed_out"]
    assert (done["exit_code"], done["signal"]) == (None, signal.SIGTERM)
    assert done["leftover_processes"] == 0
    assert done["wall_s"] >= 0.2


def test_the_time_limit_kills_a_command_that_ignores_sigterm_and_all_that_it_started(
    programs: Path, tmp_path: Path
) -> None:
    talk = start(programs, tmp_path, STUBBORN, "--limit-s", "0.5", "--grace-s", "0.3")
    try:
        done = talk.expect("DONE")
    finally:
        talk.close()
    assert done["timed_out"]
    assert done["signal"] == signal.SIGKILL
    assert done["wall_s"] >= 0.8
    assert done["leftover_processes"] >= 2
    assert gone(tmp_path, "child", "grandchild")


def test_a_command_may_use_its_grace_to_end_well(programs: Path, tmp_path: Path) -> None:
    script = 'trap "echo saved > state; exit 5" TERM; sleep 300 & wait'
    talk = start(programs, tmp_path, script, "--limit-s", "0.5", "--grace-s", "20")
    try:
        done = talk.expect("DONE")
    finally:
        talk.close()
    assert (done["exit_code"], done["timed_out"]) == (5, True)
    assert (tmp_path / "state").read_text(encoding="utf-8") == "saved\n"


def test_a_command_within_its_limit_is_left_alone(programs: Path) -> None:
    with conversation([programs / "stopwatch", "--limit-s", "20", "--", "sleep", "0.1"]) as talk:
        talk.expect("READY")
        done = talk.run()
    assert (done["exit_code"], done["timed_out"]) == (0, False)


@pytest.mark.parametrize("end", ["input ends", "QUIT", "unknown line", "output closes"])
def test_whatever_ends_the_talk_ends_the_command_too(programs: Path, tmp_path: Path, end: str) -> None:
    talk = start(programs, tmp_path, STUBBORN, "--grace-s", "0.1")
    pids = [pid_in(tmp_path / name) for name in ("child", "grandchild")]
    assert all(map(process_lives, pids))
    if end == "input ends":
        talk.stdin.close()
    elif end == "output closes":
        talk.stdout.close()
        talk.send("PING")
    else:
        talk.send(end)
    assert talk.exit_code() == (2 if end == "unknown line" else 0)
    assert not any(map(process_exists, pids))
    talk.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_ends_the_command_and_still_reports_it(
    programs: Path, tmp_path: Path, number: signal.Signals
) -> None:
    talk = start(programs, tmp_path, "echo $$ > child; exec sleep 300")
    try:
        pid = pid_in(tmp_path / "child")
        talk.process.send_signal(number)
        done = talk.expect("DONE")
        assert (done["signal"], done["timed_out"]) == (signal.SIGTERM, False), done
        assert talk.exit_code() == 128 + number
        assert not process_exists(pid)
    finally:
        talk.close()


def test_a_command_that_dies_while_a_signal_is_handled_is_not_missed(programs: Path) -> None:
    for _ in range(200):
        with conversation([programs / "stopwatch", "--grace-s", "600", "--", "sleep", "600"]) as talk:
            talk.expect("READY")
            talk.send("GO", "PING")
            assert talk.line().startswith("PONG")
            talk.process.send_signal(signal.SIGHUP)
            done = talk.expect("DONE")  # one that was missed would be waited for to the end of its grace
        assert done["signal"] == signal.SIGTERM


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_a_stopwatch_that_has_not_started(programs: Path, number: signal.Signals) -> None:
    with conversation([programs / "stopwatch", "--", "true"]) as talk:
        talk.expect("READY")
        talk.process.send_signal(number)
        assert talk.exit_code() == 128 + number


def test_a_killed_stopwatch_takes_its_command_along(programs: Path, tmp_path: Path) -> None:
    talk = start(programs, tmp_path, "echo $$ > child; exec sleep 300")
    pid = pid_in(tmp_path / "child")
    talk.process.kill()
    talk.close()
    eventually(lambda: not process_lives(pid), "the command died")


def test_a_stopped_command_is_ended_too(programs: Path, tmp_path: Path) -> None:
    talk = start(programs, tmp_path, "echo $$ > child; kill -STOP $$", "--limit-s", "0.3", "--grace-s", "20")
    try:
        done = talk.expect("DONE")
    finally:
        talk.close()
    assert done["signal"] == signal.SIGTERM


def test_processes_left_behind_are_killed_and_counted(programs: Path, tmp_path: Path) -> None:
    script = """
    for name in one two; do setsid sh -c "echo \\$\\$ > $name; exec sleep 300" & done
    while [ ! -s one ] || [ ! -s two ]; do sleep 0.01; done
    """
    talk = start(programs, tmp_path, script)
    try:
        done = talk.expect("DONE")
        assert (done["exit_code"], done["leftover_processes"]) == (0, 2)
        assert gone(tmp_path, "one", "two")
    finally:
        talk.close()


def test_orphans_that_end_by_themselves_are_reaped_and_not_counted(programs: Path, tmp_path: Path) -> None:
    script = "(setsid sh -c 'echo $$ > orphan' &); sleep 0.5"
    talk = start(programs, tmp_path, script)
    try:
        orphan = pid_in(tmp_path / "orphan")
        eventually(lambda: not process_exists(orphan), "the orphan was reaped while the command runs")
        assert talk.expect("DONE")["leftover_processes"] == 0
    finally:
        talk.close()


def test_a_chain_of_escaping_processes_is_caught(programs: Path, tmp_path: Path) -> None:
    escape = 'if [ "$1" -gt 0 ]; then setsid sh "$0" $(($1 - 1)) & fi; sleep 300'
    (tmp_path / "escape").write_text(escape, encoding="utf-8")
    talk = start(programs, tmp_path, "setsid sh ./escape 5 & sleep 0.5", "--stdout", "out")
    try:
        assert talk.expect("DONE")["leftover_processes"] >= 6
    finally:
        talk.close()
    marker = str(tmp_path).encode()
    left = [
        entry
        for entry in Path("/proc").glob("[0-9]*")
        if entry.joinpath("cwd").is_symlink() and marker in _working_directory(entry)
    ]
    assert left == []


def _working_directory(process: Path) -> bytes:
    try:
        return bytes((process / "cwd").readlink())
    except OSError:
        return b""
