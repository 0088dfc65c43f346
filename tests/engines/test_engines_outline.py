# SPDX-License-Identifier: Apache-2.0
"""The outline of an image: one name for one top level, and everything of a node's root laid over it."""

from pathlib import Path

import pytest
from tests.environments.engine_words import mounts
from tests.environments.environment_example import described

from tare.engines import outline
from tare.nodes.provider import Bind


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "root"
    for name in ("dev", "etc", "proc", "sys", "usr/bin"):
        (path / name).mkdir(parents=True)
    (path / "bin").symlink_to("usr/bin")
    (path / "job.sh").write_text("true\n")
    return path


def test_it_does_not_depend_on_what_lies_deeper_or_in_files(root: Path) -> None:
    before = outline.reference(root)
    (root / "etc" / "hosts").touch()
    (root / "job.sh").write_text("false\n")
    assert outline.reference(root) == before


@pytest.mark.parametrize("change", ["new", "gone", "other link", "other kind", "other mode"])
def test_another_top_level_has_another_name(root: Path, change: str) -> None:
    before = outline.reference(root)
    if change == "new":
        (root / "data").mkdir()
    elif change == "other mode":
        root.chmod(0o700)
    else:
        (root / "bin").unlink()
        if change == "other link":
            (root / "bin").symlink_to("etc")
        elif change == "other kind":
            (root / "bin").mkdir()
    assert outline.reference(root) != before


def test_all_but_links_and_dockers_own_is_laid_over_it(root: Path) -> None:
    assert mounts(outline.mounts(described(), root)) == [
        {"type": "bind", "source": f"{root}/{name}", "target": f"/{name}"}
        for name in ("etc", "job.sh", "usr")
    ]


def test_what_the_user_binds_at_the_top_is_mounted_once(root: Path) -> None:
    (root / "data").mkdir()
    spec = described(binds=(Bind(path=Path("/data")), Bind(path=Path("/usr/share/data"))))
    assert [mount["target"] for mount in mounts(outline.mounts(spec, root))] == ["/etc", "/job.sh", "/usr"]


def test_it_is_drawn_empty_with_links_as_they_are_and_the_roots_mode(root: Path, tmp_path: Path) -> None:
    root.chmod(0o711)
    (tmp_path / "drawn").mkdir()
    outline._draw(root, tmp_path / "drawn")
    assert outline.reference(tmp_path / "drawn") == outline.reference(root)
    assert [path for path in (tmp_path / "drawn").glob("*/*") if path.parent.name != "bin"] == []
    assert (tmp_path / "drawn" / "job.sh").read_text() == ""
