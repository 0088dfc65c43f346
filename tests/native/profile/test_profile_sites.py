# SPDX-License-Identifier: Apache-2.0
"""Each call counts for the place in the program that it came from, in every language, and that place has a name."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tare.commands.show import run_show
from tare.image.source_lines import source_lines
from tests.native.profile.conftest import HEADERS, PROGRAMS, Compile, Launcher
from tests.native.profile.profiles import Profile, read_profile
from tests.native.profile.test_profile_counts import MPI4PY, python_with_mpi

LINE_OF_LOOP = 1 + (PROGRAMS / "sites.c").read_text().splitlines().index(
    "        MPI_Send(data, BYTE, MPI_BYTE, 1, 0, MPI_COMM_WORLD); /* the loop's */"
)


def sites(profile: Profile, rank: int) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = profile.ranks[rank]["call_sites"]
    return result


def test_calls_and_bytes_count_for_the_place_that_they_came_from(
    compile_c: Compile, launcher: Launcher
) -> None:
    program = compile_c("sites")
    profile = launcher.profile([program], 2)
    sent = [(site["function"], site["count"], site["sent_byte"]) for site in sites(profile, 0)]
    assert sorted(sent) == [("main", 1, 0), ("send_often", 5, 80), ("send_twice", 1, 1), ("send_twice", 1, 3)]
    received = {site["call"]: (site["count"], site["received_byte"]) for site in sites(profile, 1)}
    assert received == {
        "MPI_Recv": (6, 83),
        "MPI_Irecv": (1, 1),
        "MPI_Wait": (1, 0),
        "MPI_Barrier": (1, 0),
    }
    for rank in (0, 1):
        assert {site["module"] for site in sites(profile, rank)} == {str(program)}
        assert [module["path"] for module in profile.ranks[rank]["modules"]] == [str(program)]
        for name in {site["call"] for site in sites(profile, rank)}:
            own = [site for site in sites(profile, rank) if site["call"] == name]
            call = profile.call(rank, name.removeprefix("MPI_"))
            assert sum(site["count"] for site in own) == call["count"]
            assert sum(site["time_s"] for site in own) == pytest.approx(call["time_s"], abs=1e-8)
            assert max(site["longest_s"] for site in own) == call["longest_s"]


def test_a_profile_is_shown_with_the_lines_of_source_that_call_most(
    compile_c: Compile, launcher: Launcher, capsys: pytest.CaptureFixture[str]
) -> None:
    launcher.profile([compile_c("sites")], 2)
    run_show(launcher.file, as_json=False, show_all=False)
    shown = " ".join(capsys.readouterr().out.split())
    assert "Where MPI is called from" in shown
    assert f"send_often at sites.c:{LINE_OF_LOOP}" in shown


def test_no_line_is_told_of_another_build(compile_c: Compile, launcher: Launcher) -> None:
    program = compile_c("sites")
    rank = launcher.profile([program], 2).ranks[0]
    build_id = rank["modules"][0]["build_id"]
    addresses = [site["offset"] - 1 for site in rank["call_sites"]]
    assert len(source_lines(program, build_id, addresses)) == len(set(addresses))
    assert source_lines(program, build_id.translate({ord("0"): "1", ord("1"): "0"}), addresses) == {}
    assert source_lines(program, None, addresses) == {}


@pytest.mark.parametrize("interface", [1, 2, 3], ids=["mpif.h", "mpi", "mpi_f08"])
def test_fortran_calls_come_from_the_program_and_not_from_the_library_of_its_interface(
    compile_fortran: Compile, launcher: Launcher, interface: int
) -> None:
    program = compile_fortran("ring", interface)
    profile = launcher.profile([program], 2)
    for rank in (0, 1):
        places = {(site["module"], site["function"]) for site in sites(profile, rank)}
        assert places == {(str(program), "MAIN__")}
        assert len({site["offset"] for site in sites(profile, rank)}) == len(sites(profile, rank))


def test_python_calls_come_from_the_module_that_calls_mpi(launcher: Launcher) -> None:
    profile = launcher.profile([python_with_mpi(), "-c", MPI4PY], 2)
    assert {Path(site["module"]).name.partition(".")[0] for site in sites(profile, 0)} == {"MPI"}


def test_where_a_killed_rank_called_from_is_known(
    programs: Path, compile_c: Compile, launcher: Launcher
) -> None:
    program = compile_c("endings")
    assert launcher.run([program, "kill"], 2).returncode != 0
    subprocess.run([programs / "profile-merge", launcher.file], check=True, timeout=20)
    site = next(site for site in sites(read_profile(launcher.file), 1) if site["call"] == "MPI_Recv")
    assert (site["module"], site["count"], site["received_byte"]) == (str(program), 1, 77)
    assert site["function"] is not None


def test_of_a_stripped_program_what_it_exports_has_its_name(
    compile_c: Compile, launcher: Launcher, tmp_path: Path
) -> None:
    program = compile_c("sites")
    stripped = tmp_path / "stripped"
    exports = ["-Wl,--export-dynamic-symbol=main", "-s"]
    words = ["mpicc", f"-I{HEADERS}", "-O1", *exports, str(PROGRAMS / "sites.c"), "-o", str(stripped)]
    subprocess.run(words, check=True, timeout=60)
    names = [
        {site["function"] for site in sites(launcher.profile([each], 2), 0)} for each in (program, stripped)
    ]
    assert names == [{"main", "send_often", "send_twice"}, {"main", None}]
