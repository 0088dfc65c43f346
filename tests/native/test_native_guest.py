# SPDX-License-Identifier: Apache-2.0
"""The guest's end of the channel, as ``init serve`` on this machine: what it runs, and what comes back."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.native import frames
from tests.native.conversation import effort, eventually, process_exists
from tests.native.frames import How, Type
from tests.native.serving import Host, serving

MEBIBYTE = 1 << 20
SERIAL_BYTE_PER_S = 100_000


@pytest.fixture
def host(programs: Path) -> Iterator[Host]:
    with serving(programs / "init") as result:
        yield result


def send_input(host: Host, stream: int, content: bytes) -> None:
    """All of it, as credit comes, and the end."""
    for piece in frames.pieces(content):
        while host.streams[stream].credit_byte < len(piece):
            host.step()
        host.streams[stream].credit_byte -= len(piece)
        host.send(Type.INPUT, stream, piece)
    host.send(Type.END_OF_INPUT, stream)


def test_hello_tells_version_kernel_and_pace_until_the_host_answers(host: Host) -> None:
    deadline = time.monotonic() + 10
    while len(host.hellos) < 2:
        assert time.monotonic() < deadline
        host.step()
    assert host.hellos == [[b"1", os.uname().release.encode(), b"slow"]] * 2
    host.run("true")
    host.settle(1.3)
    assert len(host.hellos) == 2


def test_a_command_has_its_own_outputs_and_exit_code(host: Host) -> None:
    done = host.run("sh", "-c", "echo out; echo error >&2; exit 3")
    assert (done.output, done.error_output) == (b"out\n", b"error\n")
    assert done.exit == (How.CODE, 3, "")


def test_a_command_gets_the_given_directory_and_variables_alone(host: Host, tmp_path: Path) -> None:
    done = host.run("env", variables=[b"PATH=/usr/bin:/bin", b"A=b c"], at=str(tmp_path))
    assert done.output == b"PATH=/usr/bin:/bin\nA=b c\n"
    assert host.run("pwd", at=str(tmp_path)).output == f"{tmp_path}\n".encode()


def test_a_command_is_searched_in_the_given_path(host: Host, tmp_path: Path) -> None:
    script = tmp_path / "planted"
    script.write_text("#!/bin/sh\necho found\n", encoding="utf-8")
    script.chmod(0o755)
    assert host.run("planted", variables=[b"PATH=" + bytes(tmp_path)]).output == b"found\n"
    done = host.run("planted")
    assert done.exit is not None
    assert done.exit[0] is How.FAILED


def test_a_command_has_a_session_of_its_own_default_signals_and_no_other_files(host: Host) -> None:
    script = "grep -E '^Sig(Blk|Ign)' /proc/self/status; ls /proc/self/fd; cut -d' ' -f1,5,6 /proc/$$/stat"
    lines = host.run("sh", "-c", script).output.decode().split("\n")
    # Signals 32 and 33 are the C library's own (nptl(7)), whatever it did with them in this process.
    hidden = 0b11 << 31
    assert [int(line.split()[1], 16) & ~hidden for line in lines[:2]] == [0, 0]
    assert lines[2:5] == ["0", "1", "2"]
    leader, group, session = lines[-2].split()
    assert leader == group == session


@pytest.mark.parametrize(
    ("program", "directory", "number", "words"),
    [
        ("no-such-program", "/", 2, "cannot execute 'no-such-program': No such file or directory"),
        ("/etc/passwd", "/", 13, "cannot execute '/etc/passwd': Permission denied"),
        ("true", "/no/such", 0, "cannot enter the directory '/no/such': No such file or directory"),
    ],
)
def test_a_command_that_cannot_be_executed_says_why(
    host: Host, program: str, directory: str, number: int, words: str
) -> None:
    assert host.run(program, at=directory).exit == (How.FAILED, number, words)


def test_bytes_are_exact_for_several_commands_at_once(host: Host) -> None:
    contents = {stream: os.urandom(MEBIBYTE) for stream in (1, 2, 3)}
    for stream in contents:
        host.execute(stream, "sh", "-c", "tee /dev/stderr")
    for stream, content in contents.items():
        send_input(host, stream, content)
    assert host.until_exit(*contents) == [(How.CODE, 0, "")] * 3
    for stream, content in contents.items():
        assert host.streams[stream].output == content
        assert host.streams[stream].error_output == content
        assert set(host.streams[stream].ends) == {Type.OUTPUT, Type.ERROR_OUTPUT}


def test_a_slow_reader_gets_one_window_and_holds_up_nobody(host: Host) -> None:
    host.silent.add(1)
    host.execute(1, "cat", "/dev/zero")
    assert host.run("echo", "quick", stream=2).output == b"quick\n"
    host.settle()
    assert len(host.streams[1].output) == frames.WINDOW_BYTE
    host.send(Type.HANG_UP, 1)
    assert host.until_exit(1) == [(How.SIGNAL, signal.SIGKILL, "")]


def test_a_flood_on_a_serial_line_leaves_others_their_turn(host: Host) -> None:
    """Little waits ahead of anybody: this one is as slow as an emulated line."""
    host.execute(1, "cat", "/dev/zero")
    host.settle_at(SERIAL_BYTE_PER_S, 1.0)
    before_byte = len(host.streams[1].output)
    host.execute(2, "true")
    while host.streams[2].exit is None:
        host.settle_at(SERIAL_BYTE_PER_S, 0.01)
        assert len(host.streams[1].output) - before_byte < 0.5 * SERIAL_BYTE_PER_S
    assert len(host.streams[1].output) > 0.5 * SERIAL_BYTE_PER_S


def test_input_that_nobody_reads_is_no_fault_up_to_the_window(host: Host) -> None:
    host.execute(1, "sleep", "300")
    send_input(host, 1, bytes(frames.WINDOW_BYTE))
    assert host.run("echo", "quick", stream=2).output == b"quick\n"


def test_input_for_a_command_that_has_ended_is_swallowed(host: Host) -> None:
    host.execute(1, "true")
    host.until_exit(1)
    del host.streams[1]
    host.send(Type.INPUT, 1, b"late")
    host.send(Type.END_OF_INPUT, 1)
    assert host.run("echo", "fine", stream=2).output == b"fine\n"


def test_a_signal_reaches_the_command_and_its_children(host: Host) -> None:
    host.execute(1, "sh", "-c", "trap 'echo caught; exit 5' TERM; echo ready; sleep 300 & wait")
    while host.streams[1].output != b"ready\n":
        host.step()
    host.send(Type.SIGNAL, 1, (15).to_bytes(4, "little"))
    assert host.until_exit(1) == [(How.CODE, 5, "")]
    assert host.streams[1].output == b"ready\ncaught\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGUSR1, signal.SIGHUP])
def test_a_signal_sent_at_once_is_not_lost(host: Host, number: signal.Signals) -> None:
    host.execute(1, "sleep", "300")
    host.send(Type.SIGNAL, 1, int(number).to_bytes(4, "little"))
    assert host.until_exit(1) == [(How.SIGNAL, number, "")]


def pids_told(host: Host, stream: int, count: int) -> list[int]:
    """The numbers that a command printed, one a line."""
    while host.streams[stream].output.count(b"\n") < count:
        host.step()
    return [int(line) for line in host.streams[stream].output.split()]


ESCAPING = """
echo $$
setsid sh -c 'echo $$; trap "" TERM HUP; sleep 301 & echo $!; wait' &
(setsid sleep 302 & echo $!) &
sleep 303
"""


def check_hang_up(host: Host) -> None:
    host.execute(1, "sh", "-c", ESCAPING)
    pids = pids_told(host, 1, 4)
    assert all(map(process_exists, pids))
    host.send(Type.HANG_UP, 1)
    host.until_exit(1)
    eventually(lambda: not any(map(process_exists, pids)), "all that the command started is gone")
    assert host.run("echo", "goes on", stream=2).output == b"goes on\n"


def test_a_hang_up_kills_all_that_the_command_started(host: Host) -> None:
    check_hang_up(host)


def test_what_a_command_leaves_behind_does_not_hold_up_its_end_and_lives_on(host: Host) -> None:
    done = host.run("sh", "-c", "sleep 300 & echo $!")
    assert done.exit == (How.CODE, 0, "")
    left = int(done.output)
    assert process_exists(left)
    os.kill(left, signal.SIGKILL)


def test_many_commands_leave_no_file_open_and_no_dead_behind(host: Host) -> None:
    files = Path(f"/proc/{host.process.pid}/fd")
    before = len(list(files.iterdir()))
    for _ in range(100):
        assert host.run("true").exit == (How.CODE, 0, "")
    eventually(
        lambda: len(list(files.iterdir())) <= before + 1, "no file stays open"
    )  # one folder, opened once
    children = Path(f"/proc/{host.process.pid}/task/{host.process.pid}/children")
    eventually(lambda: not children.read_text(encoding="utf-8").split(), "the dead were reaped")


def test_serving_costs_nothing_while_idle(host: Host) -> None:
    host.execute(1, "sleep", "300")
    host.settle()
    before = effort(host.process.pid)
    time.sleep(0.5)
    assert effort(host.process.pid) == before
