# SPDX-License-Identifier: Apache-2.0
"""keeper and enter: a command in a guest as if it were here. The guest is tests/native/fake_guest.py."""

import os
import secrets
import signal
import stat
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.native import frames
from tests.native.conversation import LIMIT_S, effort, eventually
from tests.native.keeping import DESCRIPTOR, Keeping

DEFAULT_PATH = b"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
MOST_STREAMS = 256
PASSED_ON = [
    signal.SIGTERM,
    signal.SIGINT,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
]


@pytest.fixture(scope="module")
def guest(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keeping]:
    """One guest for all tests that leave it as it was."""
    keeping = Keeping(programs, tmp_path_factory.mktemp("guest"))
    keeping.begin()
    try:
        keeping.ready()
        yield keeping
    finally:
        keeping.close()


def test_bytes_cross_exactly(guest: Keeping) -> None:
    content = secrets.token_bytes(3 << 20)
    done = guest.run("echo", stdin=content)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == content


def test_files_serve_as_input_and_output(guest: Keeping, tmp_path: Path) -> None:
    content = secrets.token_bytes(1 << 20)
    (tmp_path / "in").write_bytes(content)
    with (tmp_path / "in").open("rb") as source, (tmp_path / "out").open("wb") as target:
        argv = guest.enter("echo")
        subprocess.run(argv, stdin=source, stdout=target, check=True, timeout=LIMIT_S)
    assert (tmp_path / "out").read_bytes() == content


@pytest.mark.parametrize("pause_s", [0.0, 0.3])
def test_the_end_of_a_fifo_reaches_the_command(guest: Keeping, tmp_path: Path, pause_s: float) -> None:
    """Also where its writer has gone before the keeper sees it (no pause)."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(fifo, os.O_WRONLY)
    os.set_blocking(reader, True)
    os.write(writer, b"content")
    if not pause_s:
        os.close(writer)
    client = subprocess.Popen(guest.enter("echo"), stdin=reader, stdout=subprocess.PIPE)
    os.close(reader)
    try:
        if pause_s:
            time.sleep(pause_s)
            os.close(writer)
        assert client.communicate(timeout=LIMIT_S)[0] == b"content"
    finally:
        client.kill()
        client.communicate()


def test_both_outputs_arrive_apart(guest: Keeping) -> None:
    done = guest.run("say", "to the one", "to the other")
    assert (done.stdout, done.stderr) == (b"to the one", b"to the other")


@pytest.mark.parametrize("code", [0, 1, 7, 255])
def test_enter_ends_with_the_commands_code(guest: Keeping, code: int) -> None:
    assert guest.run("code", str(code)).returncode == code


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGPIPE])
def test_enter_ends_by_the_commands_signal(guest: Keeping, number: signal.Signals) -> None:
    assert guest.run("signal", str(int(number))).returncode == -number


def test_a_signal_that_ends_nothing_here_is_told_as_the_shell_does(guest: Keeping) -> None:
    assert guest.run("signal", str(int(signal.SIGCHLD))).returncode == 128 + signal.SIGCHLD


@pytest.mark.parametrize(("number", "code"), [(2, 127), (13, 126), (0, 126)])
def test_a_command_that_never_ran_has_the_shells_codes(guest: Keeping, number: int, code: int) -> None:
    done = guest.run("failed", str(number), "cannot execute 'it'")
    assert (done.returncode, done.stdout, done.stderr) == (code, b"", b"enter: cannot execute 'it'\n")


def test_a_command_gets_a_stated_minimal_surrounding(guest: Keeping) -> None:
    before = len(guest.noted("EXECUTE"))
    guest.run("code", "0", "a b", "")
    payload = bytes.fromhex(guest.wait_for("EXECUTE", before + 1)[-1][2])
    assert frames.read_execute(payload) == (b"/", [b"code", b"0", b"a b", b""], [DEFAULT_PATH])


def test_directory_and_variables_can_be_given(guest: Keeping) -> None:
    before = len(guest.noted("EXECUTE"))
    options = ["--directory", "/mnt/tare", "--env", "A=1", "--env", "PATH=/opt", "--env", "A=2=3"]
    guest.run("code", "0", options=options)
    payload = bytes.fromhex(guest.wait_for("EXECUTE", before + 1)[-1][2])
    assert frames.read_execute(payload) == (b"/mnt/tare", [b"code", b"0"], [b"PATH=/opt", b"A=2=3"])


@pytest.mark.parametrize("number", PASSED_ON)
def test_signals_are_passed_on(guest: Keeping, number: signal.Signals) -> None:
    before = len(guest.noted("SIGNAL"))
    begun = len(guest.noted("EXECUTE"))
    with guest.entered("wait") as client:
        guest.wait_for("EXECUTE", begun + 1)
        client.send_signal(number)
        assert client.wait(LIMIT_S) == -number
    assert guest.noted("SIGNAL")[before:][0][2] == int(number).to_bytes(4, "little").hex()


def test_a_killed_client_takes_its_command_along(guest: Keeping) -> None:
    before = len(guest.noted("HANG_UP"))
    begun = len(guest.noted("EXECUTE"))
    with guest.entered("wait") as client:
        stream = guest.wait_for("EXECUTE", begun + 1)[-1][1]
        client.kill()
        assert guest.wait_for("HANG_UP", before + 1)[-1][1] == stream
    assert guest.run("code", "3").returncode == 3


def test_a_client_that_ended_well_hangs_nothing_up(guest: Keeping) -> None:
    before = len(guest.noted("HANG_UP"))
    guest.run("code", "0")
    guest.run("say", "a", "b")
    assert len(guest.noted("HANG_UP")) == before


def test_many_at_once_get_their_own_bytes(guest: Keeping) -> None:
    contents = [secrets.token_bytes(200_000) for _ in range(16)]
    with ThreadPoolExecutor(len(contents)) as threads:
        answers = list(threads.map(lambda content: guest.run("echo", stdin=content).stdout, contents))
    assert answers == contents


def test_a_client_that_reads_nothing_holds_up_nobody(guest: Keeping) -> None:
    begun = len(guest.noted("EXECUTE"))
    with guest.entered("flood", str(8 << 20)) as stuck:
        guest.wait_for("EXECUTE", begun + 1)
        content = secrets.token_bytes(1 << 20)
        assert guest.run("echo", stdin=content).stdout == content
        assert stuck.poll() is None
        assert len(stuck.communicate(timeout=LIMIT_S)[0]) == 8 << 20
    assert guest.peak_byte() < 16 << 20


def test_output_that_nobody_reads_any_more_is_swallowed(guest: Keeping) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(guest.enter("flood", str(2 << 20)), stdout=writer, check=False, timeout=LIMIT_S)
    finally:
        os.close(writer)
    assert done.returncode == 0


def test_the_callers_pipes_stay_as_they_were(guest: Keeping) -> None:
    """Nonblocking is a property of the open file, which others share."""
    reader, writer = os.pipe()
    try:
        subprocess.run(guest.enter("say", "x", ""), stdin=reader, stdout=writer, check=True, timeout=LIMIT_S)
        assert os.get_blocking(reader)
        assert os.get_blocking(writer)
        assert os.read(reader, 10) == b"x"
    finally:
        os.close(reader)
        os.close(writer)


def test_standard_files_may_be_missing(guest: Keeping) -> None:
    script = 'exec "$@" <&- >&- 2>&-'
    argv = ["sh", "-c", script, "sh", *guest.enter("say", "x", "y")]
    assert subprocess.run(argv, check=False, timeout=LIMIT_S).returncode == 0


def test_a_command_too_long_for_a_frame_is_refused(guest: Keeping) -> None:
    long = "x" * 100_000
    assert guest.run("code", "5", long, long).returncode == 5
    done = guest.run("code", "5", long, long, long)
    assert done.returncode == 126
    assert b"longer than 262144 byte" in done.stderr


@pytest.mark.parametrize(
    ("request_bytes", "files"),
    [
        (b"rubbish", 3),
        (b"\0", 3),
        (frames.execute_payload([b"code", b"0"]), 2),
        (frames.execute_payload([b"code", b"0"]), 0),
        (frames.execute_payload([]), 3),
        (frames.execute_payload([b"code", b"0"], directory=b"relative"), 3),
        (frames.execute_payload([b"code", b"0\0"]), 3),
        (frames.execute_payload([b"code", b"0"], variables=[b"A"]), 3),
        (frames.execute_payload([b"code", b"0"], variables=[b"=A"]), 3),
        (frames.execute_payload([b"code"], variables=[b"A=\0"]), 3),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_and_nothing_else_ends(
    guest: Keeping, request_bytes: bytes, files: int
) -> None:
    before = len(guest.noted("EXECUTE"))
    with guest.ask(request_bytes, files) as connection:
        how, number, text = frames.read_exit(connection.recv(1 << 16))
    assert (how, number) == (frames.How.FAILED, 22)
    assert text
    assert guest.run("code", "4").returncode == 4
    assert len(guest.noted("EXECUTE")) == before + 1


def test_signals_that_make_no_sense_are_dropped(guest: Keeping) -> None:
    begun = len(guest.noted("EXECUTE"))
    count = len(guest.noted("SIGNAL"))
    with guest.ask(frames.execute_payload([b"wait"])) as connection:
        guest.wait_for("EXECUTE", begun + 1)
        for text in (b"0", b"-1", b"65", b"x", b"99999999999", b"15"):
            connection.send(text)
        assert frames.read_exit(connection.recv(1 << 16)) == (frames.How.SIGNAL, 15, "")
    assert len(guest.noted("SIGNAL")) == count + 1


def test_one_command_too_many_is_refused_until_another_ends(guest: Keeping) -> None:
    begun = len(guest.noted("EXECUTE"))
    waiting = [guest.ask(frames.execute_payload([b"wait"])) for _ in range(MOST_STREAMS)]
    try:
        guest.wait_for("EXECUTE", begun + MOST_STREAMS)
        done = guest.run("code", "0")
        assert done.returncode == 126
        assert done.stderr == b"enter: the guest runs 256 commands already\n"
        waiting.pop().close()
        eventually(lambda: guest.run("code", "6").returncode == 6, "there is room again")
    finally:
        for connection in waiting:
            connection.close()
    eventually(lambda: len(guest.noted("HANG_UP")) >= MOST_STREAMS, "all were hung up")


def test_a_guest_that_nobody_asks_costs_nothing(guest: Keeping) -> None:
    guest.run("code", "0")
    time.sleep(0.05)
    before = effort(guest.running.pid)
    time.sleep(0.5)
    assert effort(guest.running.pid) == before


def test_the_guests_clock_is_set_at_once(guest: Keeping) -> None:
    time_s, stream, payload = guest.noted("SET_CLOCK")[0]
    assert stream == "0"
    assert abs(int.from_bytes(bytes.fromhex(payload), "little") / 1e9 - float(time_s)) < 1.0


def test_the_socket_is_its_owners_alone(guest: Keeping) -> None:
    assert stat.S_IMODE(guest.socket.stat().st_mode) == 0o600


def test_the_pid_file_names_the_child(guest: Keeping) -> None:
    children = Path(f"/proc/{guest.running.pid}/task/{guest.running.pid}/children").read_text()
    assert children.split() == [str(guest.vmm)]
    assert os.getpgid(guest.vmm) == guest.vmm


def test_the_vmm_has_nothing_open_but_what_it_was_given(guest: Keeping) -> None:
    links = {int(link.name): str(link.readlink()) for link in Path(f"/proc/{guest.vmm}/fd").iterdir()}
    assert set(links) == {0, 1, 2, DESCRIPTOR}
    assert (links[0], links[1]) == ("/dev/null", links[2])


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["SOCKET"],
        ["SOCKET", "--"],
        ["--", "true"],
        ["SOCKET", "--env", "A", "--", "true"],
        ["SOCKET", "--env", "=A", "--", "true"],
        ["SOCKET", "--directory", "x", "--", "true"],
        ["SOCKET", "--directory", "--", "true"],
        ["SOCKET", "--unknown", "x", "--", "true"],
    ],
)
def test_wrong_use_of_enter_is_refused(programs: Path, words: list[str]) -> None:
    done = subprocess.run([programs / "enter", *words], capture_output=True, check=False, timeout=LIMIT_S)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"enter: ")


@pytest.mark.parametrize("folder", ["", "/nowhere"])
def test_without_a_keeper_enter_says_so(programs: Path, tmp_path: Path, folder: str) -> None:
    place = f"{tmp_path}{folder}/keeper"
    argv = [str(programs / "enter"), place, "--", "true"]
    done = subprocess.run(argv, capture_output=True, check=False, timeout=LIMIT_S)
    assert done.returncode == 125
    assert done.stderr.decode() == (
        f"enter: no guest to ask: cannot connect to '{place}': No such file or directory\n"
    )


def test_wrong_use_of_keeper_is_refused(programs: Path) -> None:
    done = subprocess.run(
        [programs / "keeper", "--socket", "x"], capture_output=True, check=False, timeout=LIMIT_S
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"keeper: either a VMM")
