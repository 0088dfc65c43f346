# SPDX-License-Identifier: Apache-2.0
"""mpiio: one file of two ranks comes back right in every way, and a byte that was changed on the disk is found."""

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

ASKED = ("--size", "65536", "--records", "4096,65536")


@pytest.fixture
def folder(programs: Path, tmp_path: Path) -> Path:
    if not (programs / "mpiio").exists() or shutil.which("mpirun") is None:
        pytest.skip("no MPI on this machine")
    return tmp_path


def run(
    programs: Path, folder: Path, *options: str, second: tuple[str, ...] = ()
) -> tuple[int, Mapping[str, Any], str]:
    """Exit code, the line of results, and the complaints of two ranks; ``second``: more options for the second."""
    launch = ["mpirun", "--allow-run-as-root", "--bind-to", "none", "--host", "localhost:2"]
    launch += ["--mca", "plm", "isolated", "--mca", "oob_tcp_if_include", "lo", "--mca", "btl", "vader,self"]
    launch += ["--mca", "mpi_yield_when_idle", "1", "--mca", "pml", "ob1", "--mca", "io", "ompio"]
    rank = ["-np", "1", str(programs / "mpiio"), *ASKED, *options]
    argv = [*launch, *rank, ":", *rank, *second]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, json.loads(done.stdout or "{}"), done.stderr


@pytest.mark.parametrize(
    "options",
    [("--pattern", "segmented", "--collective", "on"), ("--pattern", "own", "--interface", "posix")],
    ids=" ".join,
)
def test_every_byte_of_every_file_is_verified_and_no_file_is_left(
    programs: Path, folder: Path, options: tuple[str, ...]
) -> None:
    code, said, _ = run(programs, folder, *options, "--repetitions", "2")
    assert code == 0
    assert [point["record_byte"] for point in said["points"]] == [4096, 4096, 65536, 65536]
    assert all((point["verified_byte"], point["wrong_byte"]) == (131072, 0) for point in said["points"])
    assert list(folder.iterdir()) == []


def test_a_byte_that_was_changed_on_the_disk_is_found_by_a_later_read(programs: Path, folder: Path) -> None:
    assert run(programs, folder, "--keep", "on")[0] == 0
    file = folder / f"tare-mpiio-{folder.name}-4096"
    content = bytearray(file.read_bytes())
    content[70_000] ^= 1
    file.write_bytes(content)
    code, said, complaint = run(programs, folder, "--operation", "read")
    assert code == 1
    assert [point["wrong_byte"] for point in said["points"]] == [1, 0]
    assert "1 of 131072 bytes read in records of 4096 are not those written" in complaint


@pytest.mark.parametrize("interface", ["mpi", "posix"])
def test_ranks_whose_nodes_share_no_folder_say_so_instead_of_verifying_a_file_each(
    programs: Path, folder: Path, interface: str
) -> None:
    (folder / "elsewhere").mkdir()
    code, said, complaint = run(
        programs, folder, "--interface", interface, second=("--directory", f"{folder}/elsewhere")
    )
    assert (code, said) == (1, {})
    assert "rank 1: the first rank made" in complaint
    assert "the nodes do not share this folder" in complaint
