# SPDX-License-Identifier: Apache-2.0
import fcntl
import gzip
import json
import stat
import subprocess
from pathlib import Path

import pytest

from tare.errors import HostError, ImageError, InputError, LockedError
from tare.host.paths import disks_directory, sarus_directory, sifs_directory
from tare.image import find_image, in_use, list_images, verify
from tare.image.store import Image, building, install, remove_disks_except, remove_tree


def make_image(state: Path, name: str = "default", content: bytes = b"one") -> Image:
    staged = state / "images" / ".new"
    (staged / "rootfs" / "etc").mkdir(parents=True)
    (staged / "rootfs" / "etc" / "motd").write_bytes(content)
    (staged / "rootfs" / "etc" / "link").symlink_to("motd")
    return install(staged, name, {"packages": {}, "source": {"kind": "test"}})


@pytest.mark.usefixtures("state")
def test_a_missing_image_is_named_with_the_command_that_makes_it() -> None:
    with pytest.raises(ImageError, match=r"no image 'default'.*tare image build$"):
        find_image()
    with pytest.raises(ImageError, match="tare image build mine"):
        find_image("mine")


def test_an_installed_image_is_found_and_verifies(state: Path) -> None:
    image = make_image(state)
    result = find_image()
    verify(result)
    assert (result.digest, result.root) == (image.digest, state / "images" / "default" / "rootfs")
    assert result.manifest["size_byte"] == 3
    assert not (state / "images" / ".new").exists()


def test_a_changed_byte_makes_verify_fail_and_is_named(state: Path) -> None:
    image = make_image(state)
    (image.root / "etc" / "motd").write_bytes(b"two")
    with pytest.raises(ImageError, match=r"changed etc/motd \(sha256\)"):
        verify(image)


def test_added_and_removed_files_are_named(state: Path) -> None:
    image = make_image(state)
    (image.root / "etc" / "link").unlink()
    (image.root / "new").mkdir()
    with pytest.raises(ImageError, match=r"removed etc/link\n  added new"):
        verify(image)


def test_many_differences_are_counted_not_listed(state: Path) -> None:
    image = make_image(state)
    for number in range(25):
        (image.root / f"file{number:02}").touch()
    with pytest.raises(ImageError, match="added file09\n  and 15 more"):
        verify(image)


def test_a_changed_manifest_digest_makes_verify_fail(state: Path) -> None:
    path = make_image(state).root.parent / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"digest": "sha256:0"}))
    with pytest.raises(ImageError, match="manifest or the listing"):
        verify(find_image())


@pytest.mark.parametrize(
    "content",
    [b"no gzip", gzip.compress(b"\xff"), gzip.compress(b"{}"), gzip.compress(b"x" * 99)[:20]],
    ids=["no gzip", "no text", "no listing", "cut"],
)
def test_a_broken_listing_is_said_when_the_tree_differs(state: Path, content: bytes) -> None:
    image = make_image(state)
    (image.root.parent / "listing.jsonl.gz").write_bytes(content)
    verify(image)
    (image.root / "etc" / "motd").write_bytes(b"two")
    with pytest.raises(ImageError, match="listing that would say which file differs is unreadable"):
        verify(image)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff", b'{"digest": "x", "schema": 99}', b"3"])
def test_a_broken_manifest_is_an_image_error(state: Path, content: bytes) -> None:
    (make_image(state).root.parent / "manifest.json").write_bytes(content)
    with pytest.raises(ImageError, match="tare image build"):
        find_image()
    assert list_images() == []


def test_images_are_listed_by_name_without_what_is_being_built(state: Path) -> None:
    assert list_images() == []
    for name in ("second", "first"):
        make_image(state, name)
    (state / "images" / ".new" / "rootfs").mkdir(parents=True)
    (state / "images" / "half" / "rootfs").mkdir(parents=True)
    assert [image.name for image in list_images()] == ["first", "second"]


@pytest.mark.usefixtures("state")
@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", ".hidden", "-x", "a" * 65, "a\n"])
def test_a_name_cannot_leave_the_images_directory(name: str) -> None:
    with pytest.raises(InputError, match="not a name"):
        find_image(name)


def test_a_new_image_replaces_the_old_one(state: Path) -> None:
    old = make_image(state)
    new = make_image(state, content=b"two")
    verify(new)
    assert new.digest != old.digest
    assert sorted(path.name for path in (state / "images").iterdir() if path.is_dir()) == ["default"]


def test_an_image_in_use_is_not_replaced(state: Path) -> None:
    image = make_image(state)
    with in_use(image), in_use(image), pytest.raises(LockedError, match="in use by a run"):
        make_image(state, content=b"two")
    verify(image)
    assert find_image().digest == image.digest


def test_another_user_who_holds_the_lock_keeps_nobody_from_replacing_an_image(state: Path) -> None:
    image = make_image(state)
    with (state / "images/.lock-default").open() as others:
        fcntl.flock(others, fcntl.LOCK_SH)
        new = make_image(state, content=b"two")
    assert find_image().digest == new.digest != image.digest
    (kept,) = (state / "quarantine").iterdir()
    assert (kept / "rootfs").is_dir()


@pytest.mark.parametrize("name", [".own-default", ".own-build"])
def test_no_other_user_can_open_the_locks_that_stop_an_owner(state: Path, name: str) -> None:
    with in_use(make_image(state)), building():
        assert stat.S_IMODE((state / "images" / name).stat().st_mode) == 0o600


@pytest.mark.usefixtures("state")
def test_two_builds_do_not_overlap() -> None:
    with building(), pytest.raises(LockedError, match="Another build"), building():
        pass
    with building():
        pass


def test_a_state_directory_that_cannot_be_made_is_said(state: Path) -> None:
    state.write_text("a file in its place")
    with pytest.raises(HostError, match="state: Not a directory; remove it, or set TARE_STATE"), building():
        pass


@pytest.mark.root
def test_a_tree_with_a_mount_in_it_is_not_removed(tmp_path: Path) -> None:
    mounted = tmp_path / "tree" / "mounted"
    mounted.mkdir(parents=True)
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    subprocess.run(["mount", "--bind", str(tmp_path / "precious"), str(mounted)], check=True, timeout=10)
    try:
        with pytest.raises(ImageError, match="umount"):
            remove_tree(tmp_path / "tree")
    finally:
        subprocess.run(["umount", str(mounted)], check=True, timeout=10)
    assert (tmp_path / "precious" / "file").exists()
    remove_tree(tmp_path / "tree")
    assert not (tmp_path / "tree").exists()


@pytest.mark.parametrize(("kind", "way"), [("build", "tare image build"), ("import", "Import it again")])
def test_an_image_with_programs_of_another_version_is_refused(state: Path, kind: str, way: str) -> None:
    path = make_image(state).root.parent / "manifest.json"
    manifest = json.loads(path.read_text()) | {"source": {"kind": kind}}
    for programs in ({"programs": 1}, {}):
        path.write_text(json.dumps({key: manifest[key] for key in manifest if key != "programs"} | programs))
        with pytest.raises(ImageError, match=f"programs of another version, .* {way}"):
            verify(find_image())
        assert list_images() == [find_image()]


@pytest.mark.usefixtures("state")
def test_what_was_made_of_an_image_goes_with_it_and_what_was_made_of_others_stays() -> None:
    made = [disks_directory() / f"{name}.erofs" for name in ("a", "b")]
    made += [sifs_directory() / f"{name}.sif" for name in ("a", "b")]
    for path in made:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    made += [sarus_directory() / name / "images" for name in ("a", "b")]
    for folder in made[-2:]:
        folder.mkdir(parents=True)
    remove_disks_except(["sha256:b"])
    assert [path for path in made if path.exists()] == made[1::2]


@pytest.mark.usefixtures("state")
def test_without_disks_there_is_nothing_to_remove() -> None:
    remove_disks_except([])
