# SPDX-License-Identifier: Apache-2.0
"""join and pin: programs that prepare something and become another."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.host import mounts
from tare.host import network_namespace as namespace
from tare.host.cgroups.hierarchies import group_mounts

PATH = {"PATH": os.environ["PATH"]}
RANK_VARIABLES = ["OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_LOCAL_RANK", "SLURM_LOCALID"]


def run(*argv: object, variables: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in argv],
        env=PATH | (variables or {}),
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )


@pytest.fixture
def groups(tmp_path: Path) -> list[Path]:
    files = [tmp_path / name for name in ("cpu", "memory")]
    for file in files:
        file.touch()
    return files


def test_join_writes_itself_into_every_file_and_becomes_the_command(
    programs: Path, groups: list[Path]
) -> None:
    done = run(programs / "join", *groups, "--", "sh", "-c", "echo $0 $1; exit 7", "a b", "--")
    assert (done.returncode, done.stdout, done.stderr) == (7, "a b --\n", "")
    assert [file.read_text(encoding="utf-8") for file in groups] == ["0", "0"]


def test_join_without_files_becomes_the_command(programs: Path) -> None:
    assert run(programs / "join", "--", "true").returncode == 0


def test_join_names_the_file_that_failed_and_runs_nothing(programs: Path, groups: list[Path]) -> None:
    missing = groups[0].parent / "none"
    done = run(programs / "join", groups[0], missing, groups[1], "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (126, "")
    assert done.stderr == f"join: cannot enter '{missing}': No such file or directory\n"


def test_join_says_when_the_kernel_refuses_the_write(programs: Path) -> None:
    done = run(programs / "join", "/dev/full", "--", "true")
    assert done.returncode == 126
    assert done.stderr == "join: cannot enter '/dev/full': No space left on device\n"


def test_join_enters_a_network_before_it_becomes_the_command(
    programs: Path, groups: list[Path], tmp_path: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make a network namespace here")
    held = tmp_path / "network"
    namespace.make(held)
    try:
        done = run(programs / "join", f"--net={held}", *groups, "--", "readlink", "/proc/self/ns/net")
        assert done.stdout.strip() == f"net:[{held.stat().st_ino}]"
        assert [file.read_text(encoding="utf-8") for file in groups] == ["0", "0"]
    finally:
        mounts.unmount(held)


@pytest.fixture
def version_2_group() -> Iterator[Path]:
    """A new one; a skip where there is no version 2, or no root."""
    root = next((mount for mount in group_mounts() if (mount / "cgroup.controllers").exists()), None)
    if root is None or os.geteuid() != 0:
        pytest.skip("only root can make a group of version 2, on a host that has it")
    group = root / f"tare-test-join-{os.getpid()}"
    group.mkdir()
    yield group
    group.rmdir()


def test_join_begins_the_command_in_a_group_of_version_2_and_enters_the_others(
    programs: Path, version_2_group: Path, groups: list[Path]
) -> None:
    done = run(programs / "join", f"--into={version_2_group}", *groups, "--", "cat", "/proc/self/cgroup")
    assert f"0::/{version_2_group.name}" in done.stdout.splitlines()
    assert [file.read_text(encoding="utf-8") for file in groups] == ["0", "0"]


@pytest.mark.parametrize(("ending", "code"), [("exit 7", 7), ("kill -TERM $$", 128 + signal.SIGTERM)])
def test_join_ends_as_the_command_in_the_group_did(
    programs: Path, version_2_group: Path, ending: str, code: int
) -> None:
    done = run(programs / "join", f"--into={version_2_group}", "--", "sh", "-c", f"echo said; {ending}")
    assert (done.returncode, done.stdout, done.stderr) == (code, "said\n", "")


def test_join_leaves_the_commands_output_to_the_command_alone(programs: Path, version_2_group: Path) -> None:
    argv = [f"{programs}/join", f"--into={version_2_group}", "--", "sh", "-c", "exec >&-; read -r line"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=PATH) as process:
        assert process.stdout is not None
        assert process.stdout.read() == b""
        assert process.poll() is None
        process.communicate(b"\n", timeout=20)
    assert process.returncode == 0


def test_join_moves_where_no_child_can_begin_in_the_group(programs: Path, tmp_path: Path) -> None:
    (tmp_path / "cgroup.procs").touch()
    with subprocess.Popen(
        [programs / "join", f"--into={tmp_path}", "--", "sh", "-c", "echo $$"],
        stdout=subprocess.PIPE,
        env=PATH,
    ) as process:
        assert process.communicate(timeout=20)[0] == f"{process.pid}\n".encode()
    assert (tmp_path / "cgroup.procs").read_text(encoding="utf-8") == "0"


def test_join_names_the_group_that_is_not_there(programs: Path, tmp_path: Path) -> None:
    done = run(programs / "join", f"--into={tmp_path}/none", "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (126, "")
    assert done.stderr == f"join: cannot enter '{tmp_path}/none/cgroup.procs': No such file or directory\n"


def test_join_says_that_a_file_holds_no_network(programs: Path, groups: list[Path]) -> None:
    done = run(programs / "join", f"--net={groups[0]}", "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (126, "")
    assert done.stderr == f"join: cannot enter '{groups[0]}': Invalid argument\n"


@pytest.mark.parametrize("arguments", [[], ["--"], ["file"], ["file", "--"]])
def test_join_without_a_command_is_refused(programs: Path, arguments: list[str]) -> None:
    done = run(programs / "join", *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("join: write: join [--into=GROUP] [--net=FILE] FILE...")


@pytest.mark.parametrize("program", [["join", "--"], ["pin"]])
def test_a_command_that_is_not_found_is_said(programs: Path, program: list[str]) -> None:
    done = run(programs / program[0], *program[1:], "no-such-command")
    assert done.returncode == 127
    assert done.stderr == f"{program[0]}: cannot execute 'no-such-command': No such file or directory\n"


def allowed_processors(programs: Path, variables: dict[str, str]) -> str:
    done = run(programs / "pin", "grep", "Cpus_allowed_list", "/proc/self/status", variables=variables)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()[1]


@pytest.mark.parametrize("variable", RANK_VARIABLES)
@pytest.mark.parametrize("rank", [0, 1, 2, 7])
def test_pin_binds_a_rank_to_its_processor_and_wraps_around(programs: Path, variable: str, rank: int) -> None:
    allowed = sorted(os.sched_getaffinity(0))
    processors = allowed_processors(programs, {variable: str(rank)})
    assert processors == str(allowed[rank % len(allowed)])


@pytest.mark.parametrize(("rank", "threads"), [(0, 2), (1, 2), (1, 3), (0, 10_000)])
def test_pin_gives_a_rank_as_many_processors_as_it_has_threads(
    programs: Path, rank: int, threads: int
) -> None:
    allowed = sorted(os.sched_getaffinity(0))
    show = "import os; print(*sorted(os.sched_getaffinity(0)))"
    argv = [programs / "pin", "--threads", str(threads), sys.executable, "-c", show]
    done = run(*argv, variables={RANK_VARIABLES[0]: str(rank)})
    places = range(rank * threads, rank * threads + min(threads, len(allowed)))
    assert done.stdout.split() == [
        str(value) for value in sorted({allowed[at % len(allowed)] for at in places})
    ]


def test_pin_counts_only_the_processors_it_may_use(programs: Path) -> None:
    last = max(os.sched_getaffinity(0))
    show = ["grep", "Cpus_allowed_list", "/proc/self/status"]
    argv = ["taskset", "--cpu-list", str(last), programs / "pin", *show]
    done = run(*argv, variables={RANK_VARIABLES[0]: "0"})
    assert done.stdout.split()[1] == str(last)


def test_pin_without_a_rank_binds_nothing(programs: Path) -> None:
    shown = Path("/proc/self/status").read_text(encoding="utf-8")
    own = next(line for line in shown.splitlines() if line.startswith("Cpus_allowed_list"))
    assert allowed_processors(programs, {}) == own.split()[1]


@pytest.mark.parametrize("rank", ["", "x", "-1", "1.5"])
def test_pin_refuses_what_is_no_rank(programs: Path, rank: str) -> None:
    done = run(programs / "pin", "echo", "ran", variables={RANK_VARIABLES[0]: rank})
    assert (done.returncode, done.stdout) == (126, "")
    assert done.stderr == f"pin: OMPI_COMM_WORLD_LOCAL_RANK is '{rank}', not a rank\n"


@pytest.mark.parametrize(
    "arguments",
    [[], ["--threads"], ["--threads", "2"], ["--threads", "0", "true"], ["--threads", "x", "true"]],
)
def test_pin_without_a_command_or_a_number_of_threads_is_refused(
    programs: Path, arguments: list[str]
) -> None:
    done = run(programs / "pin", *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("pin: write: pin [--threads N] COMMAND")
