# SPDX-License-Identifier: Apache-2.0
"""The throw-away layer: the image below stays as it is, and everything of the node is gone afterwards."""

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.environments.environment_example import described

from tare.errors import NodeError
from tare.host import mounts
from tare.nodes import layer
from tare.nodes.provider import Bind, NodeSpec
from tare.records import Storage

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts"),
]
STRANGE = ["plain", "a,b", "a:b", "a b", "back\\slash", "upperdir=,lowerdir=x:y", "ünïcode", "tab\there"]


@pytest.fixture
def image_root(tmp_path: Path) -> Path:
    root = tmp_path / "image"
    (root / "etc").mkdir(parents=True)
    (root / "etc" / "hostname").write_text("image")
    (root / "tmp").mkdir()
    (root / "tmp").chmod(0o1777)
    return root


@pytest.fixture
def spec(tmp_path: Path, image_root: Path) -> Iterator[NodeSpec]:
    (tmp_path / "node").mkdir()
    node_spec = described(tmp_path / "node", image_root=image_root)
    yield node_spec
    mounts.unmount_below(tmp_path)


@pytest.mark.parametrize("name", STRANGE)
def test_any_name_of_image_and_state_folder_can_be_mounted(
    name: str, tmp_path: Path, image_root: Path
) -> None:
    image_root = image_root.rename(tmp_path / f"image {name}")
    folder = tmp_path / name / "node"
    folder.mkdir(parents=True)
    spec = described(folder, image_root=image_root)
    try:
        layer.prepare(spec)
        root = layer.mount_root(spec)
        assert (root / "etc" / "hostname").read_text() == "image"
        (root / "etc" / "hostname").write_text("node")
        assert (image_root / "etc" / "hostname").read_text() == "image"
    finally:
        layer.remove(spec)
    assert mounts.mounts_below(tmp_path) == []
    assert list(folder.iterdir()) == []


def test_the_layer_holds_no_more_than_the_nodes_memory(spec: NodeSpec) -> None:
    layer.prepare(spec)
    file_system = os.statvfs(spec.work)
    assert file_system.f_blocks * file_system.f_frsize == spec.memory_byte


def test_a_bound_folder_is_guarded_already_where_the_node_takes_it_from(
    tmp_path: Path, image_root: Path
) -> None:
    for name in ("kept", "open"):
        (tmp_path / name).mkdir()
    binds = (Bind(path=tmp_path / "kept"), Bind(path=tmp_path / "open", writable=True))
    (tmp_path / "node").mkdir()
    spec = described(tmp_path / "node", image_root=image_root, binds=binds)
    try:
        layer.prepare(spec)
        (kept, _), (opened, _) = layer.bound_sources(spec)
        with pytest.raises(OSError, match="Read-only"):
            (kept / "new").touch()
        (opened / "new").touch()
    finally:
        layer.remove(spec)
    assert (tmp_path / "open" / "new").exists()


def test_a_folder_that_is_not_there_is_an_error_in_words(spec: NodeSpec, tmp_path: Path) -> None:
    lost = described(spec.directory, image_root=spec.image_root, binds=(Bind(path=tmp_path / "lost"),))
    with pytest.raises(NodeError, match=r"cannot mount .*/lost on .*: No such file or directory"):
        layer.prepare(lost)


def test_a_mount_point_below_tmp_leaves_tmp_as_open_as_the_image_has_it(
    image_root: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "node").mkdir()
    bound = Bind(path=tmp_path / "mine")
    assert bound.path.is_relative_to("/tmp")
    spec = described(tmp_path / "node", image_root=image_root, binds=(bound,))
    try:
        layer.prepare(spec)
        root = layer.mount_root(spec)
        assert stat.S_IMODE((root / "tmp").stat().st_mode) == 0o1777
        assert (root / str(bound.path).lstrip("/")).is_dir()
    finally:
        layer.remove(spec)


RUN_AS_NOBODY = (
    "import os, sys; f = os.open(sys.argv[1], 0); os.setuid(65534); os.execve(f, ['id', '-u'], {})"
)


@pytest.mark.parametrize("storage", Storage)
def test_what_a_node_writes_lends_no_rights_to_others(
    storage: Storage, tmp_path: Path, image_root: Path
) -> None:
    (tmp_path / "node").mkdir()
    spec = described(tmp_path / "node", image_root=image_root, storage=storage)
    try:
        layer.prepare(spec)
        root = layer.mount_root(spec)
        lender = shutil.copy("/usr/bin/id", root / "id")
        Path(lender).chmod(0o4755)
        os.mknod(root / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
        as_nobody = [sys.executable, "-c", RUN_AS_NOBODY, lender]
        seen = subprocess.run(as_nobody, capture_output=True, text=True, check=True, timeout=20)
        with pytest.raises(PermissionError):
            (root / "zero").open("rb")
        assert seen.stdout.strip() == "65534"
        assert stat.S_IMODE((spec.directory / "layer").stat().st_mode) == 0o700
    finally:
        layer.remove(spec)


def test_removing_what_was_never_made_is_harmless(spec: NodeSpec) -> None:
    layer.remove(spec)
    layer.prepare(spec)
    layer.remove(spec)
    layer.remove(spec)
    assert list(spec.directory.iterdir()) == []


def test_a_layer_that_somebody_still_uses_goes_all_the_same(spec: NodeSpec) -> None:
    layer.prepare(spec)
    with (spec.work / "open").open("w") as opened:
        layer.remove(spec)
        opened.write("nobody reads this")
    assert mounts.mounts_below(spec.directory) == []
