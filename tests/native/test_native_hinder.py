# SPDX-License-Identifier: Apache-2.0
"""hinder: a command and all that it starts run without huge pages, without the kernel's
shared object, with more mappings, or delayed."""

import errno
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.native.conversation import conversation, eventually, process_lives

NO_VDSO, NO_HUGE_PAGES = "--no-vdso", "--no-huge-pages"
SLOW_FSYNC = ("--delay", "fsync=10000")
MORE_MAPPINGS = ("--mappings", "150")
IN_ALL = 301
"""With what lies between them and around them, which nobody may touch."""
AUXILIARY_VDSO = 33
"""AT_SYSINFO_EHDR."""
ASKED = f"import ctypes; print(ctypes.CDLL(None).getauxval({AUXILIARY_VDSO}))"
"""What a C library sees of its auxiliary vector; /proc/self/auxv is the kernel's own copy."""


def run(programs: Path, *argv: object) -> subprocess.CompletedProcess[bytes]:
    command = [str(programs / "hinder"), *map(str, argv)]
    return subprocess.run(command, capture_output=True, check=False, timeout=20)


def ready(programs: Path, *prefix: object) -> dict[str, Any]:
    with conversation([*prefix, programs / "stopwatch", "--", "true"]) as talk:
        return talk.expect("READY")


def least_ns(programs: Path, name: str, *prefix: object) -> float:
    """Of several stopwatches: others on the machine only make it longer."""
    return min(float(ready(programs, *prefix)[name]) for _ in range(5))


def test_without_the_shared_object_reading_the_clock_takes_several_times_as_long(programs: Path) -> None:
    plain = least_ns(programs, "clock_read_ns")
    if subprocess.run([sys.executable, "-c", ASKED], capture_output=True, check=True).stdout == b"0\n":
        pytest.skip("this machine's programs have no vDSO")
    hindered = least_ns(programs, "clock_read_ns", programs / "hinder", NO_VDSO)
    assert hindered > 3 * plain


def test_the_command_and_what_it_starts_in_turn_have_no_shared_object(programs: Path) -> None:
    script = '"$0" -c "$1"; /bin/sh -c \'"$0" -c "$1"\' "$0" "$1"; exec "$0" -c "$1"'
    done = run(programs, NO_VDSO, "/bin/sh", "-c", script, sys.executable, ASKED)
    assert (done.returncode, done.stdout) == (0, b"0\n0\n0\n")


def test_a_hindered_command_of_the_stopwatch_has_none_either(programs: Path, tmp_path: Path) -> None:
    said = tmp_path / "said"
    own = [programs / "stopwatch", "--stdout", said, "--", sys.executable, "-c", ASKED]
    with conversation([programs / "hinder", NO_VDSO, *own]) as talk:
        talk.expect("READY")
        assert talk.run()["exit_code"] == 0
    assert said.read_text() == "0\n"


def test_without_huge_pages_the_command_and_its_children_are_refused_them(programs: Path) -> None:
    if "THP_enabled" not in Path("/proc/self/status").read_text():
        pytest.skip("this kernel does not say whether huge pages are refused")
    done = run(programs, NO_HUGE_PAGES, "/bin/sh", "-c", "grep THP_enabled: /proc/self/status; true")
    assert done.stdout.split() == [b"THP_enabled:", b"0"]
    assert ready(programs, programs / "hinder", NO_HUGE_PAGES)["transparent_huge_pages"] == "off"


def test_both_go_together(programs: Path) -> None:
    seen = ready(programs, programs / "hinder", NO_HUGE_PAGES, NO_VDSO)
    assert seen["transparent_huge_pages"] == "off"
    assert seen["clock_read_ns"] > 1


@pytest.mark.parametrize("options", [(NO_VDSO,), (NO_HUGE_PAGES,), SLOW_FSYNC, MORE_MAPPINGS])
@pytest.mark.parametrize(("script", "code"), [("exit 7", 7), ("true", 0)])
def test_the_exit_code_is_the_commands(
    programs: Path, options: tuple[str, ...], script: str, code: int
) -> None:
    assert run(programs, *options, "/bin/sh", "-c", script).returncode == code


def test_each_call_of_the_name_is_held_up_and_still_does_its_work(programs: Path, tmp_path: Path) -> None:
    script = (
        "import os, time, sys\n"
        "with open(sys.argv[1], 'w') as file:\n"
        "    begun = time.monotonic()\n"
        "    for _ in range(10): os.fsync(file.fileno())\n"
        "    print(time.monotonic() - begun >= 0.1)\n"
        "try: os.fsync(os.pipe()[0])\n"
        "except OSError as error: print(error.errno)\n"
    )
    done = run(programs, *SLOW_FSYNC, sys.executable, "-c", script, tmp_path / "file")
    assert done.stdout == b"True\n%d\n" % errno.EINVAL


def test_what_a_delayed_command_starts_is_delayed_too_and_others_calls_go_on(programs: Path) -> None:
    script = "import os; print(os.waitstatus_to_exitcode(os.waitpid(os.fork() or os._exit(4), 0)[1]))"
    done = run(
        programs, "--delay", "clone=1000", "/bin/sh", "-c", '"$0" -c "$1"; exit 3', sys.executable, script
    )
    assert (done.returncode, done.stdout) == (3, b"4\n")


def test_a_delay_shows_as_a_filter_of_system_calls(programs: Path) -> None:
    done = run(programs, *SLOW_FSYNC, "/bin/sh", "-c", "grep -w Seccomp: /proc/self/status; true")
    assert done.stdout.split() == [b"Seccomp:", b"2"]


def test_a_command_and_each_program_that_it_starts_have_the_mappings(programs: Path) -> None:
    counting = "grep -c . /proc/self/maps"
    plain, own = (
        [int(line) for line in run_plain(*prefix, "/bin/sh", "-c", f"{counting}; exec {counting}").split()]
        for prefix in ((), (programs / "hinder", *MORE_MAPPINGS))
    )
    assert [count - IN_ALL for count in own] == plain


def run_plain(*argv: object) -> bytes:
    return subprocess.run(list(map(str, argv)), capture_output=True, check=True, timeout=20).stdout


def test_the_programs_of_a_command_with_mappings_are_followed_by_nobody(programs: Path) -> None:
    script = "grep TracerPid: /proc/self/status; exec grep TracerPid: /proc/self/status"
    child, _, command = run(programs, *MORE_MAPPINGS, "/bin/sh", "-c", script).stdout.split()[1:]
    assert (int(child), int(command) > 0) == (0, True)


def test_the_stopwatch_says_how_many_mappings_it_has_and_its_command_has_more_too(
    programs: Path, tmp_path: Path
) -> None:
    said = tmp_path / "said"
    own = [programs / "stopwatch", "--stdout", said, "--", "grep", "-c", ".", "/proc/self/maps"]
    plain = ready(programs)["mappings"]
    with conversation([programs / "hinder", *MORE_MAPPINGS, *own]) as talk:
        assert talk.expect("READY")["mappings"] == plain + IN_ALL
        assert talk.run()["exit_code"] == 0
    assert int(said.read_text()) > IN_ALL


def test_a_command_that_a_signal_ends_has_its_number_above_128(programs: Path) -> None:
    assert run(programs, NO_VDSO, "/bin/sh", "-c", "kill -9 $$").returncode == 128 + signal.SIGKILL


def test_signals_stops_and_threads_work_as_ever(programs: Path) -> None:
    script = (
        "import os, signal, threading\n"
        "heard = []\n"
        "signal.signal(signal.SIGUSR1, lambda *_: heard.append(1))\n"
        "os.kill(os.getpid(), signal.SIGUSR1)\n"
        "threads = [threading.Thread(target=heard.append, args=(2,)) for _ in range(3)]\n"
        "[thread.start() for thread in threads]; [thread.join() for thread in threads]\n"
        "child = os.fork()\n"
        "if child == 0: os.kill(os.getpid(), signal.SIGSTOP); os._exit(3)\n"
        "assert os.WIFSTOPPED(os.waitpid(child, os.WUNTRACED)[1])\n"
        "os.kill(child, signal.SIGCONT)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3\n"
        "print(heard)\n"
    )
    assert run(programs, NO_VDSO, sys.executable, "-c", script).stdout == b"[1, 2, 2, 2]\n"


@pytest.mark.parametrize("options", [(NO_VDSO,), SLOW_FSYNC, MORE_MAPPINGS])
def test_the_command_does_not_outlive_it(programs: Path, options: tuple[str, ...]) -> None:
    argv = [str(programs / "hinder"), *options, "/bin/sh", "-c", "echo $$; exec sleep 300"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, bufsize=0) as hinder:
        assert hinder.stdout is not None
        command = int(hinder.stdout.readline())
        assert process_lives(command)
        hinder.kill()
        hinder.wait(timeout=20)
        eventually(lambda: not process_lives(command), "the command ended")


def test_it_costs_nothing_while_the_command_works(programs: Path) -> None:
    argv = [str(programs / "hinder"), NO_VDSO, "/bin/sh", "-c", "echo ready; exec sleep 300"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, bufsize=0) as hinder:
        assert hinder.stdout is not None
        hinder.stdout.readline()
        time.sleep(0.2)
        before = Path(f"/proc/{hinder.pid}/schedstat").read_text().split()[0]
        time.sleep(0.3)
        assert Path(f"/proc/{hinder.pid}/schedstat").read_text().split()[0] == before
        hinder.kill()


def test_a_command_that_does_not_exist_is_said(programs: Path) -> None:
    done = run(programs, NO_VDSO, "no-such-command")
    assert done.returncode == 127
    assert b"no-such-command" in done.stderr


@pytest.mark.parametrize(
    "argv",
    [
        (),
        ("true",),
        (NO_VDSO,),
        ("--no-clock", "true"),
        (NO_VDSO, "--slow", "true"),
        ("--delay",),
        SLOW_FSYNC,
        ("--delay", "read=1", "true"),
        ("--delay", "fsync", "true"),
        ("--delay", "fsync=-1", "true"),
        (NO_VDSO, *SLOW_FSYNC, "true"),
        (*MORE_MAPPINGS, NO_VDSO, "true"),
        ("--mappings", "0", "true"),
        ("--mappings", "30001", "true"),
    ],
)
def test_it_says_how_it_is_used(programs: Path, argv: tuple[str, ...]) -> None:
    done = run(programs, *argv)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"hinder: ")
