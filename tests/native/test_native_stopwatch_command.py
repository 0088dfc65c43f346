# SPDX-License-Identifier: Apache-2.0
import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.native.conversation import conversation

PATH = f"PATH={os.environ['PATH']}"

Measure = Callable[..., dict[str, Any]]


@pytest.fixture
def measure(programs: Path, tmp_path: Path) -> Measure:
    """Runs one command in ``tmp_path`` with its output in the file ``out`` there."""

    def run(*argv: str | Path, options: tuple[str, ...] = ()) -> dict[str, Any]:
        fixed: list[object] = [
            programs / "stopwatch",
            "--directory",
            tmp_path,
            "--stdout",
            "out",
            "--env",
            PATH,
        ]
        with conversation([*fixed, *options, "--", *argv]) as talk:
            talk.expect("READY")
            return talk.run()

    return run


def test_the_command_gets_the_stated_variables_and_no_others(measure: Measure, tmp_path: Path) -> None:
    measure("env", options=("--env", "A=1=2", "--env", "B="))
    assert (tmp_path / "out").read_text(encoding="utf-8").splitlines() == [PATH, "A=1=2", "B="]


def test_without_variables_the_command_gets_none(programs: Path, tmp_path: Path) -> None:
    with conversation([programs / "stopwatch", "--stdout", tmp_path / "out", "--", "env"]) as talk:
        talk.expect("READY")
        assert talk.run()["exit_code"] == 0
    assert (tmp_path / "out").read_bytes() == b""


def test_the_command_runs_in_the_stated_directory(measure: Measure, tmp_path: Path) -> None:
    measure("pwd")
    assert (tmp_path / "out").read_text(encoding="utf-8").strip() == str(tmp_path.resolve())


def test_the_command_reads_nothing(measure: Measure, tmp_path: Path) -> None:
    assert measure("cat")["exit_code"] == 0
    assert (tmp_path / "out").read_bytes() == b""


def test_the_command_reads_the_stated_file(measure: Measure, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"a\0b")
    assert measure("cat", options=("--stdin", "in"))["exit_code"] == 0
    assert (tmp_path / "out").read_bytes() == b"a\0b"


def test_a_file_that_cannot_be_read_ends_the_command_before_it_begins(measure: Measure) -> None:
    assert measure("cat", options=("--stdin", "absent"))["error"] == (
        "'cat' cannot open its input: No such file or directory"
    )


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can lend rights")
def test_the_stopwatch_lends_the_command_no_right_to_a_file(measure: Measure, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("of root")
    (tmp_path / "secret").chmod(0o600)
    done = measure("cat", options=("--user", "65530:65530", "--stdin", "secret"))
    assert "cannot open its input: Permission denied" in str(done["error"])


def test_output_and_error_output_go_to_their_files(measure: Measure, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("what an earlier run left", encoding="utf-8")
    measure("sh", "-c", "echo good; echo bad >&2", options=("--stderr", "err"))
    assert (tmp_path / "out").read_text(encoding="utf-8") == "good\n"
    assert (tmp_path / "err").read_text(encoding="utf-8") == "bad\n"


def test_output_and_error_output_share_one_file(measure: Measure, tmp_path: Path) -> None:
    measure("sh", "-c", "echo good; echo bad >&2; echo good", options=("--stderr", "out"))
    assert (tmp_path / "out").read_text(encoding="utf-8") == "good\nbad\ngood\n"


def test_the_command_is_bound_to_the_stated_processors(measure: Measure, tmp_path: Path) -> None:
    for processor in os.sched_getaffinity(0):
        measure("grep", "Cpus_allowed_list", "/proc/self/status", options=("--processors", str(processor)))
        word = (tmp_path / "out").read_text(encoding="utf-8").split()[1]
        assert word == str(processor)


def test_processors_that_do_not_exist_stop_the_command(measure: Measure) -> None:
    done = measure("true", options=("--processors", "8000"))
    assert done["error"] == "'true' cannot use the processors asked for: Invalid argument"
    assert done["exit_code"] is None


def test_the_command_leads_its_own_process_group(measure: Measure, tmp_path: Path) -> None:
    measure("cat", "/proc/self/stat")
    pid, _, rest = (tmp_path / "out").read_text(encoding="utf-8").partition(" ")
    assert rest.rpartition(")")[2].split()[2] == pid


def test_the_command_inherits_no_ignored_and_no_blocked_signal(programs: Path, tmp_path: Path) -> None:
    ignoring = ["sh", "-c", 'trap "" INT USR1 PIPE CHLD; exec "$@"', "sh"]
    command = ["grep", "Sig", "/proc/self/status"]
    with conversation(
        [*ignoring, programs / "stopwatch", "--stdout", tmp_path / "out", "--", *command]
    ) as talk:
        talk.expect("READY")
        assert talk.run()["exit_code"] == 0
    masks = dict(line.split(":\t") for line in (tmp_path / "out").read_text(encoding="utf-8").splitlines())
    assert int(masks["SigIgn"], 16) == 0
    assert int(masks["SigBlk"], 16) == 0


def test_the_command_inherits_no_open_file(programs: Path, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    argv = [programs / "stopwatch", "--stdout", tmp_path / "out", "--", "sh", "-c", "ls /proc/$$/fd"]
    try:
        with conversation(argv, pass_fds=(writer,)) as talk:
            talk.expect("READY")
            talk.run()
    finally:
        os.close(reader)
        os.close(writer)
    assert (tmp_path / "out").read_text(encoding="utf-8").split() == ["0", "1", "2"]


@pytest.mark.parametrize("code", [0, 1, 7, 255])
def test_the_exit_code_is_the_commands(measure: Measure, code: int) -> None:
    done = measure("sh", "-c", f"exit {code}")
    assert (done["exit_code"], done["signal"], done["error"]) == (code, None, None)
    assert (done["timed_out"], done["leftover_processes"]) == (False, 0)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_the_signal_that_ended_the_command_is_told(measure: Measure, number: signal.Signals) -> None:
    done = measure("sh", "-c", f"kill -{number.value} $$")
    assert (done["exit_code"], done["signal"]) == (None, number.value)


def test_a_command_that_is_not_found_is_said_with_the_reason(measure: Measure) -> None:
    done = measure("no-such-command")
    assert done["error"] == "cannot execute 'no-such-command': No such file or directory"
    assert done["exit_code"] is None
    assert done["signal"] is None
    assert done["user_s"] is None
    assert done["maximum_rss_byte"] is None


def test_a_file_that_may_not_be_executed_is_said_with_the_reason(measure: Measure, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("", encoding="utf-8")
    assert measure("./plain")["error"] == "cannot execute './plain': Permission denied"


def test_a_command_found_but_denied_counts_more_than_not_found_elsewhere(
    programs: Path, tmp_path: Path
) -> None:
    (tmp_path / "plain").write_text("", encoding="utf-8")
    path = f"PATH={tmp_path}:{tmp_path}/none"
    with conversation([programs / "stopwatch", "--env", path, "--", "plain"]) as talk:
        talk.expect("READY")
        assert talk.run()["error"] == "cannot execute 'plain': Permission denied"


def test_a_file_that_is_no_program_is_said_with_the_reason(measure: Measure, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("text", encoding="utf-8")
    (tmp_path / "plain").chmod(0o755)
    assert measure("./plain")["error"] == "cannot execute './plain': Exec format error"


def test_the_command_is_found_on_its_own_path(programs: Path, tmp_path: Path) -> None:
    for folder, text in (("first", "echo first"), ("second", "echo second")):
        program = tmp_path / folder / "program"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        program.chmod(0o755)
    (tmp_path / "first" / "program").chmod(0o644)
    variables = ["--env", f"PATH={tmp_path}/none:{tmp_path}/first:{tmp_path}/second"]
    argv = [programs / "stopwatch", *variables, "--stdout", tmp_path / "out", "--", "program"]
    with conversation(argv) as talk:
        talk.expect("READY")
        assert talk.run()["exit_code"] == 0
    assert (tmp_path / "out").read_text(encoding="utf-8") == "second\n"


def test_a_file_larger_than_the_limit_ends_the_command(measure: Measure, tmp_path: Path) -> None:
    done = measure("head", "--bytes=100000", "/dev/zero", options=("--file-limit-byte", "4096"))
    assert done["signal"] == signal.SIGXFSZ
    assert (tmp_path / "out").stat().st_size == 4096


def test_output_files_can_be_read_by_others(measure: Measure, tmp_path: Path) -> None:
    measure("true")
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) & 0o400


def test_processor_time_is_the_commands_own(measure: Measure, programs: Path) -> None:
    done = measure(programs / "burn", "200000000")
    assert 0.05 <= done["user_s"] <= done["wall_s"] + 0.02
    assert done["system_s"] < 0.1
    asleep = measure("sleep", "0.2")
    assert asleep["user_s"] + asleep["system_s"] < 0.1
    assert asleep["voluntary_switches"] >= 1


def test_processor_time_includes_waited_for_children(measure: Measure, programs: Path) -> None:
    done = measure("sh", "-c", f"{programs}/burn 200000000; exit 0")
    assert done["user_s"] >= 0.05


def test_memory_is_the_commands_own(measure: Measure, programs: Path) -> None:
    touched_byte = 64 * 1024**2
    done = measure(programs / "burn", "--touch", str(touched_byte))
    assert touched_byte <= done["maximum_rss_byte"] < touched_byte + 8 * 1024**2
    assert done["minor_faults"] > 0
    assert done["major_faults"] >= 0
    assert done["involuntary_switches"] >= 0
    assert measure(programs / "burn", "1")["maximum_rss_byte"] < 4 * 1024**2
