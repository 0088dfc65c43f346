# SPDX-License-Identifier: Apache-2.0
"""MPICH's kind of MPI is profiled as Open MPI is, each by a library of its own."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.native.profile.conftest import Compile, Launcher, MpichLauncher
from tests.native.profile.profiles import Profile, read_profile

MPICC = "mpicc.mpich"
POLLED = {"MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Waitsome", "MPI_Improbe"}
"""How often these are called depends on when the messages come."""


def counted(profile: Profile) -> list[Any]:
    """All of a profile that does not depend on time."""
    return [
        [rank["rank"], [counted_call(call) for call in rank["calls"]], rank["peers"]]
        for rank in profile.ranks
    ]


def counted_call(call: dict[str, Any]) -> dict[str, Any]:
    left_out = {"time_s", "longest_s"} | ({"count"} if call["name"] in POLLED else set())
    return {key: value for key, value in call.items() if key not in left_out}


@pytest.mark.parametrize(
    ("name", "ranks"), [("messages", 3), ("collectives", 3), ("files", 2), ("threads", 2)]
)
def test_one_program_counts_the_same_under_open_mpi_and_under_mpich(
    compile_c: Compile, launcher: Launcher, mpich_launcher: MpichLauncher, name: str, ranks: int
) -> None:
    by_open_mpi = launcher.profile([compile_c(name), "data"], ranks)
    by_mpich = mpich_launcher.profile([compile_c(name, MPICC), "data"], ranks)
    assert counted(by_mpich) == counted(by_open_mpi)
    assert by_mpich.content["library"].startswith("MPICH Version: ")


def test_under_mpich_every_sender_of_a_long_stream_is_told(
    compile_c: Compile, mpich_launcher: MpichLauncher
) -> None:
    profile = mpich_launcher.profile([compile_c("stream", MPICC), 5000], 2)
    late = profile.ranks[1]["late_senders"]
    assert (late["told"], late["receives"], late["why_not"]) == (5000, 5000, None)


def test_under_mpich_what_a_killed_rank_has_left_is_joined_with_the_others(
    programs: Path, compile_c: Compile, mpich_launcher: MpichLauncher
) -> None:
    assert mpich_launcher.run([compile_c("endings", MPICC), "kill"], 2).returncode != 0
    subprocess.run([programs / "profile-merge", mpich_launcher.file], check=True, timeout=20)
    profile = read_profile(mpich_launcher.file)
    assert (profile.content["partial"], profile.content["missing"]) == (True, [])
    assert profile.moved(1, "Recv", "received") == (1, 77)


def test_each_library_names_the_other_to_a_program_of_the_others_kind(
    compile_c: Compile, launcher: Launcher, mpich_launcher: MpichLauncher
) -> None:
    launcher.library, mpich_launcher.library = mpich_launcher.library, launcher.library
    by_open_mpi = launcher.run([compile_c("layered")], 2)
    by_mpich = mpich_launcher.run([compile_c("layered", MPICC)], 2)
    assert [(done.returncode, done.stdout) for done in (by_open_mpi, by_mpich)] == [(0, "3\n")] * 2
    no_profile = "tareprof: no profile: the program's MPI is not"
    assert by_open_mpi.stderr == f"{no_profile} MPICH or its like but Open MPI: load libtareprof.so instead\n"
    assert by_mpich.stderr == (
        f"{no_profile} Open MPI but MPICH or its like: load libtareprof-mpich.so instead\n"
    )
    assert not launcher.file.exists()
    assert not mpich_launcher.file.exists()


@pytest.mark.parametrize("first", ["open_mpi", "mpich"])
def test_both_libraries_together_profile_either_kind_in_silence(
    compile_c: Compile, launcher: Launcher, mpich_launcher: MpichLauncher, first: str
) -> None:
    libraries = [launcher.library, mpich_launcher.library]
    both = Path(":".join(map(str, libraries if first == "open_mpi" else libraries[::-1])))
    launcher.library = mpich_launcher.library = both
    assert launcher.profile([compile_c("layered")], 2).call(0, "Send")["count"] == 3
    assert mpich_launcher.profile([compile_c("layered", MPICC)], 2).call(0, "Send")["count"] == 3
