# SPDX-License-Identifier: Apache-2.0
"""Which MPI an image's mpirun and a program are of; the mpiruns are files that hold the words of real ones."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tare.image.elf import Files
from tare.image.mpi import Launch, obstacle
from tests.image.stand_ins import write_program

OPEN_MPI_4 = "ELF\0libopen-rte.so.40\0libopen-pal.so.40\0"
OPEN_MPI_5 = "ELF\0libopen-pal.so.80\0exec prterun\0"
HYDRA = "ELF\0HYDRA_LAUNCHER\0libhwloc.so.15\0"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in ("usr/bin", "etc/alternatives", "opt/tare/bin", "usr/lib"):
        (tmp_path / "root" / folder).mkdir(parents=True)
    return tmp_path / "root"


def with_mpirun(root: Path, content: str) -> None:
    """As Debian installs it, by two links."""
    write_program(root / "usr/bin/mpirun.real", content)
    (root / "etc/alternatives/mpirun").symlink_to("/usr/bin/mpirun.real")
    (root / "usr/bin/mpirun").symlink_to("/etc/alternatives/mpirun")


def program_of(library: str, root: Path, place: str = "opt/app") -> None:
    """A program that is linked to a library of this name."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler is installed")
    built = root / "usr/lib" / library
    for source, target, words in (
        ("int answer(void) { return 0; }", built, ["-shared", f"-Wl,-soname,{library}"]),
        ("int answer(void);int main(void) { return answer(); }", root / place, ["-x", "none", built]),
    ):
        argv = ["cc", "-x", "c", "-", *map(str, words), "-o", str(target)]
        subprocess.run(argv, input=source.encode(), check=True, timeout=60)


def why(root: Path, *, by_image: bool = False, program: str = "/opt/app", bound: Path | None = None) -> str:
    launch = Launch(program=program, variables={"PATH": "/bin:/usr/bin"}, by_image=by_image)
    return obstacle(Files(root, () if bound is None else (bound,)), launch) or ""


def test_an_mpirun_of_another_kind_is_refused_with_the_way_out_and_its_own_launch_is_not(root: Path) -> None:
    with_mpirun(root, HYDRA)
    assert "the image's mpirun (/usr/bin/mpirun.real) is MPICH's: add --launcher image" in why(root)
    assert why(root, by_image=True) == ""


def test_open_mpi_5_has_another_launcher_than_4(root: Path) -> None:
    with_mpirun(root, OPEN_MPI_5)
    assert "is Open MPI 5's: add --launcher image" in why(root)
    assert why(root, by_image=True) == ""


@pytest.mark.parametrize("content", [OPEN_MPI_4, "#!/bin/sh\nexec something-unknown\n"])
def test_what_is_known_to_work_or_not_known_at_all_is_tried(content: str, root: Path) -> None:
    with_mpirun(root, content)
    assert why(root) == ""


@pytest.mark.parametrize("by_image", [False, True])
def test_an_image_without_mpirun_names_the_packages(by_image: bool, root: Path) -> None:
    assert "openmpi-bin or mpich" in why(root, by_image=by_image)


def test_an_mpirun_behind_a_link_to_nowhere_is_none(root: Path) -> None:
    (root / "usr/bin/mpirun").symlink_to("/etc/alternatives/mpirun")
    (root / "etc/alternatives/mpirun").symlink_to("/usr/bin/mpirun")
    assert "no mpirun" in why(root)


@pytest.mark.parametrize(
    ("library", "content", "says"),
    [
        ("libmpich.so.12", OPEN_MPI_4, "linked to MPICH, and the image's mpirun is Open MPI 4's"),
        ("libmpi.so.12", OPEN_MPI_5, "linked to MPICH, and the image's mpirun is Open MPI 5's"),
        ("libmpi.so.40", HYDRA, "linked to Open MPI, and the image's mpirun is MPICH's"),
        ("libmpi.so.40", OPEN_MPI_4, ""),
        ("libmpich.so.12", HYDRA, ""),
    ],
)
def test_a_program_of_another_mpi_than_the_launcher_would_be_alone(
    library: str, content: str, says: str, root: Path
) -> None:
    with_mpirun(root, content)
    program_of(library, root)
    refused = why(root, by_image=True)
    assert says in refused
    assert bool(says) == bool(refused)


def test_a_program_of_the_host_that_the_image_is_shown_is_read_there(root: Path, tmp_path: Path) -> None:
    with_mpirun(root, OPEN_MPI_4)
    own = tmp_path / "own"
    (own / "usr/lib").mkdir(parents=True)
    program_of("libmpich.so.12", own, "app")
    assert "linked to MPICH" in why(root, program=f"{own}/app", bound=own)
    assert why(root, program=f"{own}/app") == "", "it is not in the image"


def test_the_probe_of_the_launch_needs_its_libraries_and_their_version(root: Path) -> None:
    with_mpirun(root, OPEN_MPI_4)
    program_of("libmpi.so.40", root, "opt/tare/bin/mpiprobe")
    assert "needs libc.so.6, ld-linux" in why(root)
    assert "which the image lacks: add --launcher image" in why(root)
    shutil.copytree(
        "/lib64", root / "lib64", ignore=lambda _, names: [name for name in names if name[:2] != "ld"]
    )
    shutil.copy(root / "usr/lib/libmpi.so.40", root / "usr/lib/libc.so.6")
    with (root / "usr/lib/libc.so.6").open("ab") as libc:
        libc.write(b"\0GLIBC_2.2\0GLIBC_2.9\0")
    with (root / "opt/tare/bin/mpiprobe").open("ab") as probe:
        probe.write(b"\0GLIBC_2.99\0")
    assert "needs glibc 2.99, and the image has 2.9: add --launcher image" in why(root)
    assert why(root, by_image=True) == ""
