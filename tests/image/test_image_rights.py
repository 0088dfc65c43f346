# SPDX-License-Identifier: Apache-2.0
"""No image in root's store makes another user of this host root."""

import os
import shutil
import stat
import struct
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.errors import InputError
from tare.image import find_image, recipe, rights, verify
from tare.image.build import build_image
from tare.image.digest import list_tree
from tare.image.importing import import_image
from tare.image.store import Image
from tests.image.hostile_archives import END, header
from tests.image.image_example import Member, write_tar
from tests.image.stand_ins import quiet, sources

pytestmark = pytest.mark.root
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env"]
"""setpriv(1) itself finds its program by root's rights still."""
CAPABILITY = "security.capability"
MAY_READ_ALL = struct.pack("<5I", 0x02000001, 1 << 1, 0, 0, 0)
"""Version 2 with the effective bit, CAP_DAC_OVERRIDE (linux/capability.h)."""
FIRST_NODES = {"null": 3, "zero": 5, "full": 7, "random": 8, "urandom": 9}


@pytest.fixture
def shared(tmp_path: Path, stand_ins: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A state folder that all users can reach, as /var/lib/tare; pytest's own folders are root's alone."""
    assert stand_ins.is_dir()
    folder = Path(tempfile.mkdtemp(prefix="tare-shared-"))
    folder.chmod(0o755)
    monkeypatch.setenv("TARE_STATE", str(folder / "state"))
    monkeypatch.setattr(recipe, "native_source", lambda: sources(tmp_path))
    yield folder
    subprocess.run(["rm", "-rf", folder], check=True, timeout=20)


@pytest.fixture
def closed(shared: Path) -> Path:
    shared.chmod(0o700)
    return shared


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """With programs that lend their owner's rights, each in its way."""
    root = tmp_path / "tree"
    (root / "usr/bin").mkdir(parents=True)
    for name in ("id", "cat"):
        shutil.copy(f"/usr/bin/{name}", root / "usr/bin")
    (root / "usr/bin/id").chmod(0o6755)
    os.setxattr(root / "usr/bin/cat", CAPABILITY, MAY_READ_ALL)
    (root / "secret").write_text("secret")
    (root / "secret").chmod(0o600)
    (root / "var/mail").mkdir(parents=True)
    (root / "var/mail").chmod(0o2755)
    return root


def packed(tree: Path, tmp_path: Path) -> Path:
    archive = tmp_path / "tree.tar"
    subprocess.run(["tar", "-C", tree, "--xattrs", "--xattrs-include=*", "-cf", archive, "."], check=True)
    return archive


def as_nobody(*argv: str | Path) -> str:
    return subprocess.run([*NOBODY, *argv], capture_output=True, text=True, check=False, timeout=20).stdout


def lent(root: Path) -> dict[str, str]:
    """What nobody gets by the programs below ``root``."""
    return {
        "uid": as_nobody(root / "usr/bin/id", "-u").strip(),
        "secret": as_nobody(root / "usr/bin/cat", root / "secret"),
    }


@pytest.mark.parametrize("of_archive", [False, True])
def test_what_others_can_reach_lends_them_no_rights(
    of_archive: bool, tree: Path, shared: Path, tmp_path: Path
) -> None:
    said: list[str] = []
    image = import_image(packed(tree, tmp_path) if of_archive else tree, "mine", said.append)
    assert lent(image.root) == {"uid": "65534", "secret": ""}
    assert any("of 2 programs, such as 'usr/bin/" in line for line in said)
    verify(find_image("mine"))
    assert stat.S_IMODE((image.root / "var/mail").stat().st_mode) == 0o2755, "folders hand on their group"
    plain = shutil.copytree(tree, shared / "as it was")
    (plain / "usr/bin/id").chmod(0o6755)
    os.setxattr(plain / "usr/bin/cat", CAPABILITY, MAY_READ_ALL)
    assert lent(plain) == {"uid": "0", "secret": "secret"}, "so these programs can lend rights"


def test_a_store_that_nobody_else_reaches_keeps_every_bit(tree: Path, closed: Path) -> None:
    image = import_image(tree, "mine", quiet)
    before, after = list_tree(tree), list_tree(image.root)
    assert {path: after[path] for path in before} == before
    assert lent(image.root) == {"uid": "", "secret": ""}
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700


def test_the_image_that_tare_builds_lends_no_rights_wherever_it_lies(
    closed: Path, stand_ins: Path, tmp_path: Path
) -> None:
    maker = stand_ins / "mmdebstrap"
    maker.write_text(maker.read_text() + 'chmod 4755 "$target/usr/bin/tool"\n')
    image = build_image(progress=quiet, source=sources(tmp_path))
    assert image.root.is_relative_to(closed)
    assert rights.find(image.root).privileged == []
    assert rights.find(closed / "state" / "cache").privileged == []


@pytest.mark.parametrize("change", ["owner", "all may write", "their group may write"])
def test_an_image_that_others_could_change_is_roots_alone(change: str, tree: Path, shared: Path) -> None:
    program = tree / "usr/bin/cat"
    if change == "owner":
        os.chown(program, 65534, 0)
    elif change == "all may write":
        program.chmod(0o757)
    else:
        os.chown(program, 0, 1000)
        program.chmod(0o775)
    said: list[str] = []
    image = import_image(tree, "mine", said.append)
    assert any("kept for root alone" in line and "usr/bin/cat" in line for line in said)
    assert as_nobody("ls", image.root) == ""
    assert as_nobody("ls", shared / "state" / "images").split() == ["mine"]


def test_what_is_being_imported_is_out_of_others_reach(tree: Path, shared: Path) -> None:
    modes: list[int] = []
    staged = shared / "state" / "images" / ".new"
    import_image(tree, "mine", lambda _: modes.append(stat.S_IMODE(staged.stat().st_mode)))
    assert modes[0] == 0o700
    assert as_nobody("cat", find_image("mine").root / "etc/motd") == ""


def standard_devices(folder: Path) -> None:
    (folder / "dev").mkdir()
    for name, minor in FIRST_NODES.items():
        os.mknod(folder / "dev" / name, stat.S_IFCHR | 0o666, os.makedev(1, minor))
    (folder / "dev/fd").symlink_to("/proc/self/fd")


@pytest.mark.parametrize("of_archive", [False, True])
def test_the_devices_of_every_root_filesystem_are_left_out(
    of_archive: bool, tree: Path, shared: Path, tmp_path: Path
) -> None:
    assert shared.is_dir()
    standard_devices(tree)
    said: list[str] = []
    image = import_image(packed(tree, tmp_path) if of_archive else tree, "mine", said.append)
    assert "left out 5 device nodes below /dev: every environment mounts its own" in said
    assert not {entry["type"] for entry in list_tree(image.root).values()} - {"file", "directory", "link"}
    assert (image.root / "dev/fd").is_symlink()


@pytest.mark.parametrize("name", ["evil", "dev/sda", "dev/null/../../evil"])
def test_any_other_device_is_refused(name: str, tree: Path, shared: Path) -> None:
    (tree / "dev/null").mkdir(parents=True)
    os.mknod(tree / name, stat.S_IFBLK | 0o666, os.makedev(7, 0))
    with pytest.raises(InputError, match="is a device node"):
        import_image(tree, "mine", quiet)
    assert [path.name for path in (shared / "state/images").iterdir()] == [".own-build"]


def test_a_private_image_is_no_error_to_other_users(tree: Path, shared: Path) -> None:
    os.chown(tree / "usr/bin/cat", 65534, 0)
    import_image(tree, "hidden", quiet)
    code = (
        "import sys; from pathlib import Path; from tare.host import paths; paths._SYSTEM = Path(sys.argv[1]);"
        "from tare.image import list_images; print([image.name for image in list_images()])"
    )
    import_image(write_archive(shared), "open", quiet)
    variables = [f"PYTHONPATH={Path(recipe.__file__).parents[2]}", f"TARE_STATE={shared}/none"]
    assert as_nobody(*variables, sys.executable, "-c", code, shared / "state") == "['open']\n"


def write_archive(folder: Path) -> Path:
    return write_tar(folder / "open.tar", [Member("etc/motd", b"hello")])


def test_a_device_of_an_archive_is_never_made(shared: Path) -> None:
    archive = shared / "devices.tar"
    node = {"devmajor": 1, "devminor": 3}
    archive.write_bytes(header(tarfile.CHRTYPE, 0, "dev/null", **node) + END)
    image = import_image(archive, "mine", quiet)
    assert isinstance(image, Image)
    assert list((image.root / "dev").iterdir()) == [image.root / "dev/shm"]
