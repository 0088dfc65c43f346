# SPDX-License-Identifier: Apache-2.0
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.errors import ImageError
from tare.image.digest import list_tree
from tare.image.layout import MOUNT_POINTS, add_directory, add_mount_points, add_tools, elf_loader, strip_host


@pytest.fixture
def strict_umask() -> Iterator[None]:
    before = os.umask(0o077)
    yield
    os.umask(before)


@pytest.mark.usefixtures("strict_umask")
def test_mount_points_are_made_whatever_the_umask(tmp_path: Path) -> None:
    add_mount_points(tmp_path)
    listing = list_tree(tmp_path)
    assert {name: listing[name]["mode"] for name in MOUNT_POINTS} == MOUNT_POINTS
    assert listing["mnt/tare"]["mode"] == listing["mnt"]["mode"] == listing["opt/tare/bin"]["mode"] == 0o755


def test_mount_points_that_are_there_keep_their_mode(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir(mode=0o750)
    add_mount_points(tmp_path)
    assert list_tree(tmp_path)["root"]["mode"] == 0o750


def test_the_directory_of_commands_is_made_and_one_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "srv").mkdir(mode=0o700)
    add_directory(tmp_path, "/srv/app/../data/")
    listing = list_tree(tmp_path)
    assert (listing["srv"]["mode"], listing["srv/data"]["mode"]) == (0o700, 0o755)
    assert "srv/app" not in listing


@pytest.mark.parametrize("directory", ["/link/data", "/../outside/data", "/file/data", "/link"])
def test_no_directory_of_commands_is_made_outside_or_behind_a_link(tmp_path: Path, directory: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside").mkdir()
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "file").touch()
    add_directory(root, directory)
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize("path", ["mnt", "mnt/tare", "opt", "tmp", "dev/shm"])
@pytest.mark.parametrize("target", ["../outside", "/nowhere", "."])
def test_a_link_in_place_of_a_mount_point_is_refused(tmp_path: Path, path: str, target: str) -> None:
    root = tmp_path / "root"
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).symlink_to(target)
    (tmp_path / "outside").mkdir()
    with pytest.raises(ImageError, match=f"/{path} is not a directory"):
        add_mount_points(root)
    assert list((tmp_path / "outside").iterdir()) == []


def test_nothing_of_the_host_stays(tmp_path: Path) -> None:
    left = ("etc/hostname", "etc/resolv.conf", "etc/machine-id", "etc/apt/sources.list", "var/log/dpkg.log")
    more = (
        "var/cache/ldconfig/aux-cache",
        "tmp/x",
        "dev/null",
        "usr/share/man/man1/x",
        "usr/share/doc/x/changelog",
    )
    for name in (*left, *more, "usr/share/doc/x/copyright", "usr/bin/x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("of the host")
    strip_host(tmp_path)
    kept = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    written = {"etc/hostname", "etc/resolv.conf", "etc/machine-id", "etc/hosts"}
    assert kept == written | {"usr/share/doc/x/copyright", "usr/bin/x"}
    assert not any("of the host" in (tmp_path / name).read_text() for name in written)


def test_a_dynamic_program_needs_its_loader_in_the_image(tmp_path: Path) -> None:
    programs, root = tmp_path / "programs", tmp_path / "root"
    programs.mkdir()
    root.mkdir()
    (programs / "static").write_text("#!/bin/sh\n")
    shutil.copy("/bin/true", programs / "dynamic")
    loader = elf_loader(programs / "dynamic")
    assert loader is not None
    assert elf_loader(programs / "static") is None
    add_mount_points(root)
    add_tools(root, programs)
    assert [path.name for path in (root / "opt/tare/bin").iterdir()] == ["static"]
    (root / loader.lstrip("/")).parent.mkdir(parents=True)
    (root / loader.lstrip("/")).touch()
    add_tools(root, programs)
    assert sorted(path.name for path in (root / "opt/tare/bin").iterdir()) == ["dynamic", "static"]


def test_tares_own_static_programs_need_no_loader(programs: Path) -> None:
    assert elf_loader(programs / "stopwatch") is None
    assert elf_loader(programs / "init") is None
