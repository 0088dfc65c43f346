# SPDX-License-Identifier: Apache-2.0
"""Tools are started clean, waited for with a limit, and leave nothing behind, however they end."""

import errno
import fcntl
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tare.errors import NodeError
from tare.host import process


def shell(script: str) -> list[str]:
    return ["sh", "-c", script]


def alive(pid: int) -> bool:
    """Whether a process is there and not merely waiting to be collected."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def gone_soon(pid: int, limit_s: float = 5.0) -> bool:
    deadline = time.monotonic() + limit_s
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not alive(pid)


class TestRun:
    def test_output_and_exit_code_come_back(self) -> None:
        done = process.run(shell("echo out; echo err >&2; exit 5"))
        assert (done.code, done.stdout, done.stderr) == (5, "out\n", "err\n")

    def test_undecodable_output_is_replaced_not_refused(self) -> None:
        assert process.run(shell(r"printf 'a\377b'")).stdout == "a\ufffdb"

    @pytest.mark.parametrize("script", ["exec yes", "exec yes >&2", "yes | head -c 50000000; exec yes >&2"])
    def test_a_program_that_prints_without_end_is_ended_before_it_fills_the_memory(self, script: str) -> None:
        before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with pytest.raises(NodeError, match=r"printed more than 64 MiB and was killed"):
            process.run(shell(script), timeout_s=30.0)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib < 300 << 10

    @pytest.mark.parametrize("size", [1, 1 << 16, 3_000_000])
    def test_whatever_it_is_given_comes_back_whole(self, size: int) -> None:
        assert process.run(["cat"], given="x" * size).stdout == "x" * size

    def test_a_program_that_does_not_read_what_it_is_given_ends_as_it_likes(self) -> None:
        assert process.run(shell("exit 3"), given="x" * 3_000_000).code == 3

    def test_an_exit_code_of_a_checked_tool_is_an_error_with_its_last_words(self) -> None:
        with pytest.raises(NodeError, match=r"ended with 4: one / two / three"):
            process.run_checked(
                shell("echo zero; for word in zero one two three; do echo $word >&2; done; exit 4")
            )

    def test_silence_is_said(self) -> None:
        with pytest.raises(NodeError, match="it printed nothing"):
            process.run_checked(["false"])

    def test_a_missing_program_is_named(self) -> None:
        with pytest.raises(NodeError, match="'no-such-program' is not on this host; install it"):
            process.run(["no-such-program"])

    def test_a_file_that_is_no_program_is_named_with_the_reason(self, tmp_path: Path) -> None:
        (tmp_path / "text").write_text("no program")
        with pytest.raises(NodeError, match=r"text' cannot be started: Permission denied"):
            process.run([str(tmp_path / "text")])

    def test_nothing_of_the_users_environment_but_the_listed_passes(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
        monkeypatch.setenv("LD_PRELOAD", "/nowhere.so")
        monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere")
        names = {line.partition("=")[0] for line in process.run(["env"]).stdout.splitlines()}
        assert {"PATH", "LC_ALL", "DOCKER_HOST"} <= names
        assert names.isdisjoint({"OPENBLAS_CORETYPE", "LD_PRELOAD"})

    def test_tools_in_sbin_are_found_whatever_path_the_user_has(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PATH", "/nowhere")
        path = process.tool_environment()["PATH"].split(":")
        assert path[0] == "/nowhere"
        assert {"/usr/sbin", "/sbin", "/usr/bin"} <= set(path)

    def test_no_terminal_reaches_a_tool(self) -> None:
        assert process.run(shell("cat; tty")).stdout == "not a tty\n"

    def test_the_limit_is_kept_and_the_whole_family_dies(self, tmp_path: Path) -> None:
        note = tmp_path / "pids"
        with pytest.raises(NodeError, match="did not end within 0 s and was killed"):
            process.run(shell(f"sleep 60 & echo $! $$ > {note}; wait"), timeout_s=0.3)
        assert all(gone_soon(int(pid)) for pid in note.read_text().split())

    def test_a_daemon_that_keeps_the_pipe_open_cannot_hold_up_the_runner(self, tmp_path: Path) -> None:
        note = tmp_path / "pid"
        with pytest.raises(NodeError, match="did not end"):
            process.run(shell(f"sleep 60 & echo $! > {note}"), timeout_s=0.3)
        assert gone_soon(int(note.read_text()))

    def test_an_interrupt_lets_the_tool_come_to_its_end(self, tmp_path: Path) -> None:
        note = tmp_path / "ended"
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            process.run(shell(f"sleep 0.6; echo whole > {note}"))
        timer.join()
        assert note.read_text() == "whole\n"

    def test_an_interrupted_tool_that_hangs_is_killed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(process, "_INTERRUPTED_LIMIT_S", 0.2)
        note = tmp_path / "pid"
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            process.run(shell(f"echo $$ > {note}; exec sleep 60"))
        timer.join()
        assert gone_soon(int(note.read_text()))


class TestInherit:
    def test_a_tool_holds_the_descriptor_while_it_works_and_no_longer(self, tmp_path: Path) -> None:
        descriptor = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
        try:
            process.inherit(descriptor)
            seen = process.run(shell(f"test -e /proc/self/fd/{descriptor} && echo held")).stdout
            process.inherit(None)
            after = process.run(shell(f"test -e /proc/self/fd/{descriptor} && echo held")).stdout
        finally:
            process.inherit(None)
            os.close(descriptor)
        assert (seen, after) == ("held\n", "")

    def test_no_other_descriptor_reaches_a_tool(self, tmp_path: Path) -> None:
        with (tmp_path / "secret").open("w") as opened:
            os.set_inheritable(opened.fileno(), True)
            seen = process.run(["readlink", f"/proc/self/fd/{opened.fileno()}"]).stdout
        assert "secret" not in seen


class TestStartIdle:
    def test_it_is_running_when_ready_and_gone_and_collected_after(self, tmp_path: Path) -> None:
        pid = process.start_idle(shell("echo READY; exec sleep 60"), log=tmp_path / "log")
        assert alive(pid)
        process.kill_idle(pid)
        assert not Path(f"/proc/{pid}").exists()

    def test_ending_before_ready_is_an_error_with_what_it_said(self, tmp_path: Path) -> None:
        with pytest.raises(NodeError, match=r"did not get ready .*: no luck"):
            process.start_idle(shell("echo no luck >&2"), log=tmp_path / "log")

    def test_ending_silently_is_said(self, tmp_path: Path) -> None:
        with pytest.raises(NodeError, match="it printed nothing"):
            process.start_idle(["true"], log=tmp_path / "log")

    def test_never_getting_ready_ends_within_the_limit_and_leaves_nothing(self, tmp_path: Path) -> None:
        note = tmp_path / "pid"
        with pytest.raises(NodeError, match="did not get ready"):
            process.start_idle(
                shell(f"echo $$ > {note}; exec sleep 600"), log=tmp_path / "log", timeout_s=0.3
            )
        assert not Path(f"/proc/{int(note.read_text())}").exists()

    @pytest.mark.timeout(20)
    def test_a_flood_without_ready_ends_within_the_limit(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        read = os.read

        def read_slowly(descriptor: int, count: int) -> bytes:
            time.sleep(0.001)  # the pipe never runs empty
            return read(descriptor, count)

        monkeypatch.setattr("tare.host.process.os.read", read_slowly)
        with pytest.raises(NodeError, match="did not get ready"):
            process.start_idle(["cat", "/dev/zero"], log=tmp_path / "log", timeout_s=0.3)

    def test_killing_a_process_of_somebody_else_is_not_possible(self) -> None:
        process.kill_idle(os.getppid())
        assert alive(os.getppid())

    def test_ended_ones_are_collected_and_running_ones_left(self, tmp_path: Path) -> None:
        ended = process.start_idle(shell("echo READY"), log=tmp_path / "log1")
        running = process.start_idle(shell("echo READY; exec sleep 60"), log=tmp_path / "log2")
        try:
            assert gone_soon(ended)
            process.reap_idle()
            assert not Path(f"/proc/{ended}").exists()
            assert alive(running)
        finally:
            process.kill_idle(running)

    def test_no_descriptor_is_left_open(self, tmp_path: Path) -> None:
        before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - only their number is wanted
        for number in range(5):
            process.kill_idle(
                process.start_idle(shell("echo READY; exec sleep 60"), log=tmp_path / f"{number}")
            )
            with pytest.raises(NodeError):
                process.start_idle(["true"], log=tmp_path / "log")
            with pytest.raises(NodeError):
                process.run(["sleep", "60"], timeout_s=0.05)
        assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208 - the same


def test_without_a_descriptor_of_it_a_program_is_waited_for_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: int) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(os, "pidfd_open", refuse)
    with subprocess.Popen(["sleep", "0.2"]) as child:
        assert not process.ended_within(child, 0.01)
        assert process.ended_within(child, 5.0)


def test_a_path_with_spaces_runs_as_it_is(tmp_path: Path) -> None:
    program = tmp_path / "a b; rm -rf $HOME"
    program.write_text(f"#!{sys.executable}\nimport sys\nprint(sys.argv[1:])\n")
    program.chmod(stat.S_IRWXU)
    assert process.run([str(program), "$HOME", "x y", ""]).stdout == "['$HOME', 'x y', '']\n"


@pytest.mark.parametrize("leaves_daemon", [False, True])
def test_only_a_program_known_for_its_daemon_keeps_the_lock_to_itself(
    tmp_path: Path, leaves_daemon: bool
) -> None:
    """As a clean-up sees it, which waits until nobody holds the lock."""
    script = f"sleep 30 > /dev/null 2>&1 & echo $! > {tmp_path}/daemon"
    with (tmp_path / "lock").open("w") as held, (tmp_path / "lock").open("w") as waiting:
        fcntl.flock(held, fcntl.LOCK_SH)
        process.inherit(held.fileno())
        try:
            done = process.run(["sh", "-c", script], leaves_daemon=leaves_daemon)
        finally:
            process.inherit(None)
        held.close()
        try:
            fcntl.flock(waiting, fcntl.LOCK_EX | fcntl.LOCK_NB)
            free = True
        except BlockingIOError:
            free = False
        finally:
            os.kill(int((tmp_path / "daemon").read_text()), signal.SIGKILL)
    assert (done.code, free) == (0, leaves_daemon)
