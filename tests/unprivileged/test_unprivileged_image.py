# SPDX-License-Identifier: Apache-2.0
"""Images of an ordinary user, and root's images run by one."""

import io
import json
import os
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.image.stand_ins import quiet, sources, write_program
from tests.unprivileged.ordinary_user import AS_ROOT, PYTHON, OrdinaryUser

from tare.errors import HostError, ImageError
from tare.image import digest, find_image, unprivileged, verify
from tare.image.build import build_image
from tare.image.store import Image, install

CMAKE = """#!/bin/sh
while [ $# -gt 0 ]; do
    [ "$1" = --prefix ] && mkdir -p "$2/bin" && echo program >"$2/bin/init"
    shift
done
"""
"""A cmake that takes no time."""
TREE = {
    "etc": (tarfile.DIRTYPE, 0o755, b""),
    "etc/shadow": (tarfile.REGTYPE, 0o000, b"secret"),
    "usr": (tarfile.DIRTYPE, 0o555, b""),
    "usr/su": (tarfile.REGTYPE, 0o4755, b"set-user-id"),
    "dev": (tarfile.DIRTYPE, 0o755, b""),
    "dev/null": (tarfile.CHRTYPE, 0o666, b""),
}


def archive(path: Path) -> Path:
    """A root filesystem with all that an ordinary user cannot have as it is."""
    with tarfile.open(path, "w") as tar:
        for number, (name, (kind, mode, content)) in enumerate(TREE.items()):
            member = tarfile.TarInfo(name)
            member.type, member.mode, member.uid, member.gid = kind, mode, number, 42
            member.size, member.devmajor, member.devminor = len(content), 1, 3
            tar.addfile(member, io.BytesIO(content))
    path.chmod(0o644)
    return path


@pytest.fixture
def imported(user: OrdinaryUser) -> Path:
    """The folder of an image that the user has imported, with stand-ins for the compiler."""
    tools = user.home / "tools"
    tools.mkdir()
    for name in ("cmake", "ninja", "g++"):
        write_program(tools / name, CMAKE)
    code = "import sys; from tare.cli import main; sys.argv[0] = 'tare'; main()"
    words = ["image", "import", str(archive(user.home / "root.tar")), "--name", "mine"]
    done = user.run(PYTHON, "-c", code, *words, PATH=f"{tools}:{os.environ['PATH']}")
    assert done.returncode == 0, done.stderr
    return user.state / "images" / "mine"


VERIFY = """
import sys
from pathlib import Path
from tare.errors import TareError
from tare.host import paths
paths._SYSTEM = Path(sys.argv[1])
from tare.image import find_image, in_use, verify
try:
    with in_use(find_image("roots")):
        verify(find_image("roots"))
except TareError as error:
    print(error)
"""


class TestOfTheUser:
    pytestmark = AS_ROOT

    def test_every_file_is_the_users_and_readable_and_none_lends_its_rights(
        self, imported: Path, user: OrdinaryUser
    ) -> None:
        result = {path: path.lstat() for path in (imported / "rootfs").rglob("*")}
        assert {status.st_uid for status in result.values()} == {user.home.stat().st_uid}
        assert not any(status.st_mode & 0o6000 for status in result.values())
        assert (imported / "rootfs/etc/shadow").stat().st_mode & 0o777 == 0o400
        assert (imported / "rootfs/usr/su").read_bytes() == b"set-user-id"
        assert not (imported / "rootfs/dev/null").exists()

    def test_it_verifies_and_a_change_is_found(self, imported: Path, user: OrdinaryUser) -> None:
        assert user.tare("image", "verify", "mine").returncode == 0
        (imported / "rootfs/usr/su").write_bytes(b"something else")
        changed = user.tare("image", "verify", "mine")
        assert changed.returncode == 3
        assert "changed usr/su (sha256, size)" in changed.stderr

    def test_its_digest_does_not_tell_who_made_it(self, imported: Path) -> None:
        known = json.loads((imported / "manifest.json").read_text())["digest"]
        for path in (imported / "rootfs", *(imported / "rootfs").rglob("*")):
            os.chown(path, 4711, 4712, follow_symlinks=False)
        listing = digest.list_tree(imported / "rootfs", single_owner=True)
        assert digest.digest(listing) == known
        assert digest.digest(digest.list_tree(imported / "rootfs")) != known

    @pytest.mark.usefixtures("imported")
    def test_root_is_not_told_of_it(self) -> None:
        with pytest.raises(ImageError, match="no image 'mine'"):
            find_image("mine")


class TestOfRoot:
    pytestmark = AS_ROOT

    @pytest.fixture
    def roots(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[Image]:
        """One with a file and a folder that are closed to others, in a folder that takes the system's place."""
        with tempfile.TemporaryDirectory(prefix="tare-system-") as system:
            Path(system).chmod(0o755)
            monkeypatch.setenv("TARE_STATE", system)
            yield self.installed(Path(system) / "images/.new")

    def installed(self, staged: Path) -> Image:
        for name, mode in {"etc/motd": 0o644, "etc/shadow": 0o640, "root/key": 0o644}.items():
            path = staged / "rootfs" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)
            path.chmod(mode)
        (staged / "rootfs" / "root").chmod(0o700)
        return install(staged, "roots", {"packages": {}, "source": {"kind": "test"}})

    def verified_by(self, user: OrdinaryUser, roots: Image) -> str:
        """What the user is told who verifies the image; empty when all is well."""
        done = user.python(VERIFY, str(roots.root.parents[2]))
        assert done.returncode == 0, done.stderr
        return done.stdout

    def test_it_can_be_run_and_verified_as_far_as_it_can_be_read(
        self, roots: Image, user: OrdinaryUser
    ) -> None:
        assert self.verified_by(user, roots) == ""

    def test_a_change_in_what_can_be_read_is_found(self, roots: Image, user: OrdinaryUser) -> None:
        (roots.root / "etc/motd").write_text("other")
        assert "changed etc/motd (sha256, size)" in self.verified_by(user, roots)

    def test_a_change_of_what_cannot_be_read_is_found_where_it_shows(
        self, roots: Image, user: OrdinaryUser
    ) -> None:
        (roots.root / "etc/shadow").chmod(0o600)
        (roots.root / "etc/shadow").write_text("longer than before")
        assert "changed etc/shadow (mode, size)" in self.verified_by(user, roots)

    def test_root_itself_reads_and_verifies_all_of_it(self, roots: Image) -> None:
        verify(roots)
        (roots.root / "root/key").write_text("etc/open")
        with pytest.raises(ImageError, match=r"changed root/key \(sha256\)"):
            verify(roots)

    def test_a_kept_listing_that_was_changed_is_no_excuse(self, roots: Image, user: OrdinaryUser) -> None:
        manifest = roots.root.parent / "manifest.json"
        manifest.write_text(manifest.read_text().replace(roots.digest, "sha256:" + "0" * 64))
        assert "manifest or the listing" in self.verified_by(user, roots)


class TestBuildingWithoutRoot:
    @pytest.fixture(autouse=True)
    def ordinary(self, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: 64123)
        monkeypatch.setattr("tare.host.paths._SYSTEM", state / "nowhere")

    def test_without_subordinate_ids_all_ways_out_are_told(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(unprivileged, "why_no_packages", lambda: "/etc/subuid gives this user none")
        with pytest.raises(HostError, match=r"as root.*usermod --add-subuids.*tare image import"):
            build_image(progress=pytest.fail, source=sources(tmp_path))

    def test_with_them_packages_are_unpacked_as_the_users_own(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        script = '#!/bin/sh\nfor target; do :; done\necho "$@" > ARGV\ncp ARCHIVE "$target"\n'
        script = script.replace("ARGV", f"{tmp_path}/argv").replace(
            "ARCHIVE", str(archive(tmp_path / "a.tar"))
        )
        (tmp_path / "tools").mkdir()
        for name in ("mmdebstrap", "newuidmap"):
            write_program(tmp_path / "tools" / name, script)
        monkeypatch.setenv("PATH", f"{tmp_path}/tools:{os.environ['PATH']}")
        target = tmp_path / "cache" / "base"
        target.mkdir(parents=True)
        unprivileged.fetch(["--include=hpcc"], target, limit_s=10, progress=quiet, variables=dict(os.environ))
        assert "--mode=unshare --format=tar --include=hpcc " in (tmp_path / "argv").read_text()
        assert (target / "etc/shadow").read_bytes() == b"secret"
        assert [path.name for path in target.parent.iterdir()] == ["base"]
        assert not (target / "usr/su").stat().st_mode & 0o6000

    def test_subordinate_ids_are_found_by_the_users_number(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("shutil.which", lambda _: "/usr/bin/newuidmap")
        files = [tmp_path / "subuid", tmp_path / "subgid"]
        assert str(files[0]) in str(unprivileged.why_no_packages(files))
        for file in files:
            file.write_text("other:100000:65536\n64123:165536:65536\n")
        assert unprivileged.why_no_packages(files) is None
        files[1].write_text("other:100000:65536\n")
        assert str(files[1]) in str(unprivileged.why_no_packages(files))

    def test_subordinate_ids_without_the_program_that_maps_them_do_not_do(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "subuid").write_text("64123:165536:65536\n")
        monkeypatch.setattr("shutil.which", lambda _: None)
        assert "uidmap" in str(unprivileged.why_no_packages([tmp_path / "subuid"]))
