# SPDX-License-Identifier: Apache-2.0
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.errors import HostError, InputError
from tare.image import limits, packages, recipe
from tare.image.archive import unpack
from tare.image.digest import list_tree
from tare.image.importing import import_image
from tare.image.limits import Account, bounded, shown
from tests.image.image_example import Member, symlink, write_tar
from tests.image.stand_ins import quiet, sources


@pytest.fixture
def own_sources(tmp_path: Path, stand_ins: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert stand_ins.is_dir()
    monkeypatch.setattr(recipe, "native_source", lambda: sources(tmp_path))


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A tree 1,500 levels deep."""
    top = tmp_path / "deep"
    top.mkdir()
    at = os.open(top, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=at)
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    yield top
    subprocess.run(["rm", "-rf", top], check=True, timeout=20)


BEYOND = """
import resource
from tare.image import limits
limits.MEMORY_BYTE = 32 << 20
before = resource.getrlimit(resource.RLIMIT_AS)
try:
    with limits.bounded_memory():
        bytearray(64 << 20)
except limits.InputError as error:
    print(error, resource.getrlimit(resource.RLIMIT_AS) == before, len(bytearray(64 << 20)))
"""


def test_memory_beyond_the_bound_is_one_error_and_the_bound_ends_with_it() -> None:
    """In a fresh process: this one may have much address space that nothing uses."""
    done = subprocess.run(
        [sys.executable, "-c", BEYOND], capture_output=True, text=True, check=True, timeout=20
    )
    assert "more than 32 MiB of memory" in done.stdout
    assert done.stdout.split()[-2:] == ["True", str(64 << 20)]


def test_a_program_that_unpacks_is_bounded_whatever_this_process_holds() -> None:
    argv = bounded(["python3", "-c", "bytearray(2**30)"])
    done = subprocess.run(argv, capture_output=True, check=False, timeout=20)
    assert b"MemoryError" in done.stderr


@given(st.text())
def test_a_shown_name_is_printable_and_short(name: str) -> None:
    assert shown(name).isprintable()
    assert len(shown(name * 100)) <= limits.MAXIMUM_SHOWN


@pytest.mark.root
@pytest.mark.usefixtures("own_sources")
def test_a_directory_is_refused_before_anything_of_it_is_copied(
    deep: Path, state: Path, tmp_path: Path
) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root/manifest.json").symlink_to("/etc/passwd")
    (state / "images").mkdir(parents=True)
    for source, expected in ((deep, "below more than 256 folders"), (tmp_path / "root", "is a link")):
        said: list[str] = []
        with pytest.raises(InputError, match=expected):
            import_image(source, "mine", said.append)
        assert not [
            path for path in (state / "images").iterdir() if not path.name.startswith((".lock", ".own"))
        ]


@pytest.mark.root
@pytest.mark.usefixtures("own_sources")
def test_a_disk_is_not_filled_and_no_file_of_the_archive_stays(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = write_tar(tmp_path / "a.tar", [Member("one", b"1"), Member("two", b"22")])
    import_image(archive, "kept", quiet)
    before = list_tree(state / "images")
    monkeypatch.setattr(limits, "FREE_BYTE", os.statvfs(tmp_path).f_blocks * os.statvfs(tmp_path).f_frsize)
    subprocess.run(["cp", "-a", state / "images/kept/rootfs", tmp_path / "copy"], check=True, timeout=20)
    for source in (archive, tmp_path / "copy"):
        with pytest.raises(HostError, match=r"would be left at .*: free some, or set TARE_STATE"):
            import_image(source, "other", quiet)
        assert list_tree(state / "images") == before


@pytest.mark.parametrize("source", ["members", "folders above members"])
def test_files_beyond_the_limit_are_refused(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAXIMUM_ENTRIES", 100)
    names = [f"f{number}" for number in range(101)] if source == "members" else ["a/" * 60 + "f", "b/" * 60]
    account = Account(tmp_path)
    (tmp_path / "root").mkdir()
    with pytest.raises(InputError, match="more than 100 files and folders"):
        unpack(
            write_tar(tmp_path / "a.tar", [Member(name) for name in names]),
            tmp_path / "root",
            account=account,
        )


def test_layers_of_one_image_share_an_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAXIMUM_BYTE", 1000)
    account = Account(tmp_path)
    (tmp_path / "root").mkdir()
    archive = write_tar(tmp_path / "a.tar", [Member("f", b"x" * 600), symlink("l", "f")])
    unpack(archive, tmp_path / "root", is_layer=True, account=account)
    with pytest.raises(InputError, match="unpacked it is larger than"):
        unpack(archive, tmp_path / "root", is_layer=True, account=account)


@pytest.mark.parametrize(
    "rows",
    ["SELECT x'00' AS blob FROM n", "SELECT zeroblob(900000000) AS blob FROM n LIMIT 3"],
)
def test_a_package_database_without_an_end_is_no_list_of_packages(
    rows: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "_QUERY_LIMIT_S", 0.3)
    monkeypatch.setattr(packages, "parse_rpm_header", lambda blob: ("name", str(len(blob))))
    database = tmp_path / "rpmdb.sqlite"
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    with sqlite3.connect(database) as made:
        made.execute(f"CREATE VIEW Packages AS {endless} {rows}")
    made.close()
    assert packages.read_rpm(database) == {}


def test_a_record_of_packages_of_a_gigabyte_is_none(tmp_path: Path) -> None:
    status = tmp_path / "var/lib/dpkg/status"
    status.parent.mkdir(parents=True)
    with status.open("wb") as file:
        file.truncate(1 << 30)
    assert packages.read_packages(tmp_path) == {}
