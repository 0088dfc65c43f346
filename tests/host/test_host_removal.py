# SPDX-License-Identifier: Apache-2.0
"""Whatever a workload made goes, and nothing else does."""

import os
import resource
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.host.hostile_trees import deep_folder
from tests.unprivileged.ordinary_user import AS_ROOT, OrdinaryUser

from tare.host.mounts import unmount_below
from tare.host.removal import remove_tree

NAMES = st.sampled_from([b"a", b"b", b"\xff\xfe", b"new\nline", b"-rf", b"..."])
KINDS = st.sampled_from(["folder", "file", "link", "pipe", "closed folder"])
NODES = st.recursive(KINDS, lambda below: st.dictionaries(NAMES, below, max_size=4), max_leaves=20)


def attributes(path: Path, change: str) -> None:
    if subprocess.run(["chattr", change, str(path)], capture_output=True, check=False).returncode != 0:
        pytest.skip("no such attributes on this file system")


@contextmanager
def mounted(source: Path, point: Path) -> Iterator[None]:
    """A bind mount of the same file system."""
    point.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "--bind", str(source), str(point)], check=True)
    try:
        yield
    finally:
        unmount_below(source.parent)  # the point may have been moved


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "data").write_text("years of work")
    return tmp_path / "precious"


@pytest.mark.parametrize("levels", [1, 16, 17, 18, 1500, 2100])
def test_a_folder_of_any_depth_goes_with_few_descriptors(levels: int, tmp_path: Path) -> None:
    top = deep_folder(tmp_path / "top", levels)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(list(Path("/proc/self/fd").iterdir())) + 60, before[1]))
    try:
        remove_tree(top)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert list(tmp_path.iterdir()) == []


def test_many_entries_and_odd_names_go(tmp_path: Path) -> None:
    for number in range(900):
        (tmp_path / "top" / str(number % 30)).mkdir(parents=True, exist_ok=True)
        (tmp_path / "top" / str(number % 30) / str(number)).touch()
    (tmp_path / "top" / os.fsdecode(b"\xff\n\x1b[31m")).mkdir()
    remove_tree(tmp_path / "top")
    assert list(tmp_path.iterdir()) == []


Tree: TypeAlias = "str | dict[bytes, Tree]"


def make(path: Path, tree: Tree) -> None:
    if tree == "file":
        path.touch(0o000)
    elif tree == "link":
        path.symlink_to("../..")
    elif tree == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
        for name, below in tree.items() if isinstance(tree, dict) else ():
            make(path / os.fsdecode(name), below)
        if tree == "closed folder":
            path.chmod(0o000)


@given(tree=st.dictionaries(NAMES, NODES, max_size=4))
def test_whatever_lies_in_it_goes_and_nothing_beside_it(
    tree: dict[bytes, Tree], tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("tree")
    (place / "beside").write_text("kept")
    make(place / "top", tree)
    remove_tree(place / "top")
    assert [path.name for path in place.iterdir()] == ["beside"]
    shutil.rmtree(place)


def test_links_are_not_followed_at_the_top_or_below(tmp_path: Path, precious: Path) -> None:
    (tmp_path / "link").symlink_to(precious)
    remove_tree(tmp_path / "link")
    (tmp_path / "top" / "below").mkdir(parents=True)
    (tmp_path / "top" / "below" / "link").symlink_to(precious)
    remove_tree(tmp_path / "top")
    assert (precious / "data").read_text() == "years of work"
    assert list(tmp_path.iterdir()) == [precious]


def test_what_is_not_there_is_no_error(tmp_path: Path) -> None:
    remove_tree(tmp_path / "absent")
    remove_tree(tmp_path / "absent" / "below")


def test_a_removal_that_takes_too_long_ends_and_the_next_goes_on(tmp_path: Path) -> None:
    top = deep_folder(tmp_path / "top", 1500)
    with pytest.raises(TimeoutError, match="it takes more than 0 s"):
        remove_tree(top, limit_s=0.05)
    remove_tree(top)
    assert list(tmp_path.iterdir()) == []


class TestAsRoot:
    pytestmark = AS_ROOT

    def test_what_is_immutable_goes(self, tmp_path: Path) -> None:
        folder = tmp_path / "top" / "folder"
        folder.mkdir(parents=True)
        (folder / "file").touch()
        (tmp_path / "top" / "log").touch()
        attributes(folder / "file", "+i")
        attributes(folder, "+i")
        attributes(tmp_path / "top" / "log", "+a")
        remove_tree(tmp_path / "top")
        assert list(tmp_path.iterdir()) == []

    def test_what_protects_the_folder_above_stays(self, tmp_path: Path) -> None:
        (tmp_path / "above" / "top").mkdir(parents=True)
        attributes(tmp_path / "above", "+i")
        try:
            with pytest.raises(PermissionError):
                remove_tree(tmp_path / "above" / "top")
            assert stat.S_IMODE((tmp_path / "above").stat().st_mode) == 0o755
        finally:
            attributes(tmp_path / "above", "-i")

    @pytest.mark.parametrize("point", ["", "below/bound", "/".join("d" * 40)])
    def test_a_mount_of_the_same_file_system_is_not_entered(
        self, point: str, tmp_path: Path, precious: Path
    ) -> None:
        top = tmp_path / "top"
        (top / "other" / "file").mkdir(parents=True)
        with mounted(precious, top / point), pytest.raises(OSError, match=r"[Mm]ount|busy") as caught:
            remove_tree(top)
        assert str(top) in str(caught.value.filename)
        assert (precious / "data").read_text() == "years of work"
        assert point == "" or not (top / "other").exists(), "the rest goes"
        remove_tree(top)
        assert not top.exists()

    def test_an_ordinary_user_removes_what_is_closed_to_its_owner(self, user: OrdinaryUser) -> None:
        code = (
            "import sys\nfrom pathlib import Path\nfrom tare.host.removal import remove_tree\n"
            "top = Path(sys.argv[1])\n"
            "(top / 'a' / 'b' / 'c').mkdir(parents=True)\n"
            "for path, mode in ((top / 'a' / 'b' / 'c', 0), (top / 'a' / 'b', 0o400), (top / 'a', 0o500), (top, 0)):\n"
            "    path.chmod(mode)\n"
            "remove_tree(top)\nassert not top.exists()\n"
        )
        done = user.python(code, str(user.home / "top"))
        assert done.returncode == 0, done.stderr

    def test_what_belongs_to_another_user_stays_and_is_named(self, user: OrdinaryUser) -> None:
        top = user.home / "top"
        (top / "roots" / "new\nline").mkdir(parents=True)
        user.own(top)
        code = (
            "import sys\nfrom pathlib import Path\nfrom tare.host.removal import remove_tree\n"
            "try:\n    remove_tree(Path(sys.argv[1]))\n"
            "except OSError as error:\n    print(error.strerror, error.filename)\n"
        )
        done = user.python(code, str(top))
        assert done.stdout.startswith("Permission denied "), done.stderr
        assert "\\nline" in done.stdout
        assert (top / "roots" / "new\nline").exists()
