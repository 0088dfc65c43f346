# SPDX-License-Identifier: Apache-2.0
"""What is left of a profile when the job does not come to MPI_Finalize."""

import struct
import subprocess
from pathlib import Path

import pytest

from tests.native.profile.conftest import Compile, Launcher
from tests.native.profile.profiles import Profile, read_profile

JOURNAL = struct.Struct("<qhxxII")
"""How a rank's file begins: the call that it is in and since when, entries that are counted, and written."""


def merge(programs: Path, *words: object) -> subprocess.CompletedProcess[str]:
    argv = [str(programs / "profile-merge"), *map(str, words)]
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=20)


def remains(programs: Path, launcher: Launcher, *argv: object) -> Profile:
    """The profile joined from what a job that failed has left."""
    done = launcher.run(argv, 2)
    assert done.returncode != 0
    assert not launcher.file.exists()
    joined = merge(programs, launcher.file)
    assert (joined.returncode, joined.stderr) == (0, "")
    return read_profile(launcher.file)


@pytest.mark.parametrize(
    ("ending", "ended_by", "code"),
    [("abort", "MPI_Abort", 42), ("exit", "exit", None), ("kill", None, None), ("segv", None, None)],
)
def test_nothing_counted_is_lost_when_a_rank_dies(
    programs: Path,
    compile_c: Compile,
    launcher: Launcher,
    ending: str,
    ended_by: str | None,
    code: int | None,
) -> None:
    profile = remains(programs, launcher, compile_c("endings"), ending)
    assert profile.content["partial"] is True
    assert profile.content["missing"] == []
    dead, waiting = profile.ranks[1], profile.ranks[0]
    assert (dead["ended_by"], dead["abort_code"], dead["in_call"]) == (ended_by, code, None)
    assert profile.moved(1, "Recv", "received") == (1, 77)
    assert profile.moved(0, "Send", "sent") == (1, 77)
    assert waiting["in_call"]["name"] == "MPI_Recv"
    assert waiting["in_call"]["since_s"] == pytest.approx(waiting["wall_s"], abs=0.2)
    assert waiting["late_senders"]["wait_s"] is None
    assert waiting["late_senders"]["why_not"] == "the rank did not come to the end of MPI_Finalize"


@pytest.mark.parametrize("count", [300, 5000])
def test_a_killed_rank_has_lost_no_call_and_at_most_the_ends_of_receives_that_were_open(
    programs: Path, compile_c: Compile, launcher: Launcher, count: int
) -> None:
    profile = remains(programs, launcher, compile_c("stream"), count, "kill")
    byte = sum(message % 100 for message in range(count))
    assert profile.moved(0, "Isend", "sent") == (count, byte)
    assert profile.call(1, "Irecv")["count"] == count
    assert profile.call(1, "Waitall")["count"] == 1
    messages, received_byte = profile.moved(1, "Irecv", "received") or (0, 0)
    open_receives = 40 if count > 1000 else 0
    assert count - open_receives <= messages <= count
    assert received_byte == byte or messages < count


@pytest.mark.parametrize(("awaited", "calls"), [("one", 801), ("all", 800)])
def test_a_wait_counts_what_came_before_and_gives_its_error_once(
    programs: Path, compile_c: Compile, launcher: Launcher, awaited: str, calls: int
) -> None:
    done = launcher.run([compile_c("waits"), awaited], 2)
    assert done.stdout == "1\n"
    beginning = Path(f"{launcher.file}.rank-1").read_bytes()[: JOURNAL.size]
    *_, counted, written = JOURNAL.unpack(beginning)
    assert (counted, written) == (0, 1)
    assert merge(programs, launcher.file).returncode == 0
    assert read_profile(launcher.file).call(1, "Wait")["count"] == calls


def test_ranks_that_left_nothing_are_named(programs: Path, compile_c: Compile, launcher: Launcher) -> None:
    assert launcher.run([compile_c("endings"), "kill"], 3).returncode != 0
    for rank in (0, 2):
        Path(f"{launcher.file}.rank-{rank}").unlink()
    assert merge(programs, launcher.file).returncode == 0
    profile = read_profile(launcher.file)
    assert (profile.content["partial"], profile.content["missing"]) == (True, [0, 2])
    assert [rank["rank"] for rank in profile.ranks] == [1]


def test_files_of_another_run_and_broken_ones_are_left_out(
    programs: Path, compile_c: Compile, launcher: Launcher
) -> None:
    assert launcher.run([compile_c("endings"), "kill"], 3).returncode != 0
    older = Path(f"{launcher.file}.rank-2").read_bytes()
    assert launcher.run([compile_c("endings"), "kill"], 2).returncode != 0
    Path(f"{launcher.file}.rank-2").write_bytes(older)
    Path(f"{launcher.file}.rank-7").write_bytes(older[:1000])
    done = merge(programs, launcher.file)
    assert done.returncode == 0
    assert (
        done.stderr == f"profile-merge: {launcher.file}.rank-7 is no whole file of a rank's; it is left out\n"
    )
    profile = read_profile(launcher.file)
    assert (profile.content["ranks"], profile.content["missing"]) == (2, [])


def test_a_run_takes_an_older_runs_profile_away(compile_c: Compile, launcher: Launcher) -> None:
    launcher.file.write_text("an older run's")
    assert launcher.run([compile_c("endings"), "kill"], 2).returncode != 0
    assert not launcher.file.exists()


def test_a_folder_that_cannot_be_written_harms_the_profile_alone(
    compile_c: Compile, launcher: Launcher
) -> None:
    launcher.file = launcher.file.parent / "missing" / "profile.json"
    launcher.file.parent.mkdir()
    (launcher.file.parent / "profile.json").mkdir()  # a folder where the file should be
    done = launcher.run([compile_c("layered")], 2)
    assert (done.returncode, done.stdout) == (0, "3\n")
    assert done.stderr.count("tareprof: no profile: cannot rename") == 1


@pytest.mark.parametrize("words", [(), ("nowhere/profile.json",)])
def test_the_merge_says_what_it_lacks(programs: Path, words: tuple[str, ...]) -> None:
    done = merge(programs, *words)
    assert done.returncode == (1 if words else 2)
    assert done.stderr.startswith("profile-merge: ")
