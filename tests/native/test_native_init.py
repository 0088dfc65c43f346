# SPDX-License-Identifier: Apache-2.0
import contextlib
import fcntl
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.native.conversation import effort, eventually, pid_in, process_exists, process_lives

ENDING = [signal.SIGTERM, signal.SIGINT, signal.SIGPWR, signal.SIGRTMIN + 3]


@contextlib.contextmanager
def running(argv: list[object]) -> Iterator[subprocess.Popen[bytes]]:
    """A started init that has said READY."""
    process = subprocess.Popen([str(part) for part in argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"READY\n"
        yield process
    finally:
        process.kill()
        process.wait(timeout=20)
        process.stdout.close()


def blocks(pid: int, number: signal.Signals) -> bool:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    mask = next(line for line in status.splitlines() if line.startswith("SigBlk:"))
    return bool(int(mask.split()[1], 16) >> (number - 1) & 1)


@pytest.mark.parametrize("number", ENDING)
def test_init_ends_well_when_told(programs: Path, number: int) -> None:
    with running([programs / "init"]) as process:
        process.send_signal(number)
        assert process.wait(timeout=20) == 0


@pytest.mark.parametrize(
    "number", [signal.SIGHUP, signal.SIGUSR1, signal.SIGPIPE, signal.SIGQUIT, signal.SIGALRM]
)
def test_init_ignores_every_other_signal(programs: Path, number: signal.Signals) -> None:
    with running([programs / "init"]) as process:
        process.send_signal(number)
        time.sleep(0.05)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0


def test_init_reaps_children_that_die_before_and_after_its_start(programs: Path, tmp_path: Path) -> None:
    script = f"""
    sh -c 'echo $$ > {tmp_path}/early' &
    sh -c 'echo $$ > {tmp_path}/late; sleep 0.3' &
    exec "$0"
    """
    with running(["sh", "-c", script, programs / "init"]) as process:
        children = [pid_in(tmp_path / name) for name in ("early", "late")]
        eventually(lambda: not any(map(process_exists, children)), "both children were reaped")
        assert process.poll() is None


def test_init_reaps_even_where_sigchld_was_ignored(programs: Path, tmp_path: Path) -> None:
    script = f"trap '' CHLD; sh -c 'echo $$ > {tmp_path}/child; sleep 0.1' & exec \"$0\""
    with running(["sh", "-c", script, programs / "init"]):
        child = pid_in(tmp_path / "child")
        eventually(lambda: not process_exists(child), "the child was reaped")


def test_init_with_a_closed_stdout_serves_at_once(programs: Path) -> None:
    """It is done before another, started earlier, no longer waits for the reader of a full pipe."""
    with waiting_for_its_reader(programs) as waiting:
        process = subprocess.Popen(["sh", "-c", 'exec "$0" >&-', programs / "init"])
        try:
            eventually(lambda: blocks(process.pid, signal.SIGUSR1), "init blocks its signals")
            time.sleep(0.05)
            assert process.poll() is None
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=20) == 0
        finally:
            process.kill()
            process.wait(timeout=20)
        assert waiting.poll() is None


@contextlib.contextmanager
def waiting_for_its_reader(programs: Path) -> Iterator[subprocess.Popen[bytes]]:
    """An init that was told to end and hears that only once it has given its reader up."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    os.write(writer, bytes(fcntl.fcntl(writer, fcntl.F_GETPIPE_SZ)))
    process = subprocess.Popen([programs / "init"], stdout=writer)
    try:
        eventually(lambda: blocks(process.pid, signal.SIGUSR1), "init blocks its signals")
        process.send_signal(signal.SIGTERM)
        yield process
    finally:
        process.kill()
        process.wait(timeout=20)
        os.close(reader)
        os.close(writer)


def test_init_costs_nothing_while_idle(programs: Path) -> None:
    with running([programs / "init"]) as process:
        time.sleep(0.05)
        before = effort(process.pid)
        time.sleep(0.5)
        assert effort(process.pid) == before


@pytest.mark.root
def test_init_as_first_process_takes_its_node_along(programs: Path) -> None:
    script = 'sleep 300 & exec "$0"'
    argv: list[object] = ["unshare", "--pid", "--fork", "--kill-child", "sh", "-c", script, programs / "init"]
    with running(argv) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="utf-8")
        first = int(children)
        (inner,) = Path(f"/proc/{first}/task/{first}/children").read_text(encoding="utf-8").split()
        os.kill(first, signal.SIGTERM)
        assert process.wait(timeout=20) == 0
        eventually(lambda: not process_lives(int(inner)), "what ran in the node died")


class Attending:
    """An init that starts commands, and the way to them."""

    def __init__(self, programs: Path, socket: Path) -> None:
        self._enter = [str(programs / "enter"), str(socket), "--"]

    def command(self, *argv: str) -> list[str]:
        return [*self._enter, *argv]

    def run(self, *argv: str, given: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(self.command(*argv), input=given, capture_output=True, check=False, timeout=20)


@pytest.fixture
def attending(programs: Path, tmp_path: Path) -> Iterator[Attending]:
    with running([programs / "init", "attend", tmp_path / "socket"]):
        yield Attending(programs, tmp_path / "socket")


def test_bytes_and_exit_codes_of_a_command_that_init_starts_pass_through(attending: Attending) -> None:
    given = os.urandom(1 << 20)
    assert attending.run("cat", given=given).stdout == given
    done = attending.run("sh", "-c", "echo out; echo err >&2; exit 7")
    assert (done.returncode, done.stdout, done.stderr) == (7, b"out\n", b"err\n")


def test_a_command_is_a_child_of_init_in_a_session_of_its_own(programs: Path, tmp_path: Path) -> None:
    with running([programs / "init", "attend", tmp_path / "socket"]) as process:
        script = "import os; print(os.getppid(), os.getsid(0) == os.getpid(), sorted(os.environ))"
        said = Attending(programs, tmp_path / "socket").run("python3", "-c", script).stdout.decode()
    assert said.startswith(f"{process.pid} True ['LC_CTYPE', 'PATH']")


def test_a_command_has_what_confines_init_and_not_what_its_client_has(programs: Path, tmp_path: Path) -> None:
    confined = ["setpriv", "--no-new-privs", "prlimit", "--nofile=99:99", "nice", "-n", "3"]
    with running([*confined, programs / "init", "attend", tmp_path / "socket"]):
        script = "nice; ulimit -n; grep NoNewPrivs /proc/self/status"
        said = Attending(programs, tmp_path / "socket").run("sh", "-c", script).stdout.split()
    assert said == [b"3", b"99", b"NoNewPrivs:", b"1"]


def test_no_signal_is_blocked_or_ignored_in_a_command(attending: Attending) -> None:
    lines = attending.run("grep", "-E", "SigBlk|SigIgn", "/proc/self/status").stdout.decode().splitlines()
    blocked, ignored = (int(line.split()[1], 16) for line in lines)
    glibcs_own = 0b11 << 31  # posix_spawn(3) leaves 32 and 33 ignored in all that it starts
    assert (blocked, ignored & ~glibcs_own) == (0, 0)


def test_a_command_that_is_not_there_has_the_exit_code_of_a_shell(attending: Attending) -> None:
    done = attending.run("/nowhere/program")
    assert done.returncode == 127
    assert b"cannot run '/nowhere/program' in '/': No such file or directory" in done.stderr


def test_a_signal_to_the_client_reaches_the_command(attending: Attending, tmp_path: Path) -> None:
    script = f"trap 'echo got it; exit 3' USR1; echo $$ > {tmp_path}/pid; while :; do sleep 0.05; done"
    with subprocess.Popen(attending.command("sh", "-c", script), stdout=subprocess.PIPE) as client:
        pid_in(tmp_path / "pid")
        client.send_signal(signal.SIGUSR1)
        assert client.communicate(timeout=20)[0] == b"got it\n"
    assert client.returncode == 3


def test_a_command_that_a_signal_ends_ends_its_client_so(attending: Attending) -> None:
    assert attending.run("sh", "-c", "kill -TERM $$").returncode == -signal.SIGTERM


def test_a_killed_client_takes_its_command_with_it(attending: Attending, tmp_path: Path) -> None:
    script = f"echo $$ > {tmp_path}/pid; exec sleep 600"
    client = subprocess.Popen(attending.command("sh", "-c", script), stdin=subprocess.DEVNULL)
    command = pid_in(tmp_path / "pid")
    client.kill()
    client.wait(timeout=20)
    eventually(lambda: not process_exists(command), "the command ended with its client")


def test_many_commands_run_at_once(attending: Attending) -> None:
    clients = [
        subprocess.Popen(attending.command("sh", "-c", f"sleep 0.2; exit {code}")) for code in range(40)
    ]
    assert [client.wait(timeout=20) for client in clients] == list(range(40))


def test_what_is_no_request_is_refused_and_harms_nobody(attending: Attending, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as stranger:
        stranger.settimeout(20)
        stranger.connect(str(tmp_path / "socket"))
        stranger.send(os.urandom(100))
        assert b"without its three files" in stranger.recv(1 << 16)
    assert attending.run("true").returncode == 0


def test_init_that_cannot_listen_says_so(programs: Path, tmp_path: Path) -> None:
    argv = [str(programs / "init"), "attend", str(tmp_path / "no folder" / "socket")]
    done = subprocess.run(argv, capture_output=True, check=False, timeout=20)
    assert done.returncode == 2
    assert b"cannot listen at" in done.stderr


def test_init_without_descriptors_waits_idle_and_serves_the_next_when_one_is_free(
    programs: Path, tmp_path: Path
) -> None:
    few = ["prlimit", "--nofile=20:20", programs / "init", "attend", tmp_path / "socket"]
    with running(few) as process:
        attending = Attending(programs, tmp_path / "socket")
        clients = [subprocess.Popen(attending.command("sleep", "1")) for _ in range(6)]
        time.sleep(0.3)
        before = cpu_s(process.pid)
        time.sleep(0.5)
        spent = cpu_s(process.pid) - before
        assert [client.wait(timeout=20) for client in clients] == [0] * 6
    assert spent < 0.1


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
