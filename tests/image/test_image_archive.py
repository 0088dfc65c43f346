# SPDX-License-Identifier: Apache-2.0
import bz2
import gzip
import lzma
import os
import subprocess
import tarfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tare.errors import HostError, InputError
from tare.image.archive import unpack
from tare.image.digest import differences, list_tree
from tests.image.image_example import Member, hardlink, sha256, symlink, tar_bytes, write_tar

OUTSIDE = "precious"

HOSTILE: dict[str, list[Member]] = {
    "climbs": [Member(f"../{OUTSIDE}/evil", b"x")],
    "climbs in the middle": [Member(f"a/../../{OUTSIDE}/evil", b"x")],
    "absolute": [Member("/etc/evil", b"x")],
    "climbing link as a parent": [symlink("way", f"../{OUTSIDE}"), Member("way/evil", b"x")],
    "absolute link as a parent": [symlink("way", "/nowhere/in/it"), Member("way/evil", b"x")],
    "links as parents of links": [symlink("one", ".."), symlink("two", "one"), Member("two/evil", b"x")],
    "endless links": [symlink("one", "two"), symlink("two", "one"), Member("one/evil", b"x")],
    "hard link to the outside": [hardlink("evil", f"../{OUTSIDE}/file")],
    "hard link through a link": [symlink("way", f"../{OUTSIDE}"), hardlink("evil", "way/file")],
    "hard link to nothing": [hardlink("evil", "nothing")],
    "hard link to a directory": [Member("folder/"), hardlink("evil", "folder")],
    "file as a parent": [Member("file", b"x"), Member("file/evil", b"x")],
    "a file as the root": [Member(".", b"x")],
    "a kind that nobody knows": [Member("evil", kind=b"Q")],
    "a device node": [Member("evil", kind=tarfile.CHRTYPE)],
}


def unpacked(tmp_path: Path, members: Sequence[Member], *, is_layer: bool = False) -> Path:
    root = tmp_path / "root"
    root.mkdir(exist_ok=True)
    unpack(write_tar(tmp_path / "archive.tar", members), root, is_layer=is_layer)
    return root


def names(root: Path) -> set[str]:
    return set(list_tree(root)) - {"."}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_archive_is_refused_and_nothing_outside_changes(tmp_path: Path, case: str) -> None:
    (tmp_path / OUTSIDE).mkdir()
    (tmp_path / OUTSIDE / "file").write_text("untouched")
    before = list_tree(tmp_path / OUTSIDE)
    with pytest.raises(InputError):
        unpacked(tmp_path, HOSTILE[case])
    assert differences(before, list_tree(tmp_path / OUTSIDE)) == []
    assert not Path("/etc/evil").exists()


def test_a_link_is_replaced_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "precious"
    outside.write_text("untouched")
    members = [symlink("a", "../precious"), Member("a", b"new"), symlink("b", "/etc"), Member("b/")]
    root = unpacked(tmp_path, members)
    assert (root / "a").read_bytes() == b"new"
    assert (root / "b").is_dir()
    assert not (root / "b").is_symlink()
    assert outside.read_text() == "untouched"


def test_links_inside_the_tree_are_followed_as_a_chroot_would(tmp_path: Path) -> None:
    members = [
        *(Member("usr/lib/"), symlink("lib", "usr/lib"), Member("lib/one", b"1")),
        *(Member("run/"), symlink("var/run", "/run"), Member("var/run/two", b"2")),
        *(symlink("usr/up", ".."), Member("usr/up/three", b"3")),
    ]
    root = unpacked(tmp_path, members)
    assert {"usr/lib/one", "run/two", "three"} <= names(root)


def test_modes_links_pipes_times_and_attributes_arrive(tmp_path: Path) -> None:
    members = [
        Member("bin/tool", b"x" * 3000, mode=0o4751, attributes={"user.note": "caf\u00e9"}),
        *(hardlink("bin/same", "bin/tool"), symlink("bin/dangling", "../nowhere")),
        Member("pipe", kind=tarfile.FIFOTYPE, mode=0o600),
    ]
    root = unpacked(tmp_path, members)
    listing = list_tree(root)
    assert listing["bin/tool"]["mode"] == 0o4751
    assert listing["bin/tool"]["xattrs"] == {"user.note": "café".encode().hex()}
    assert (root / "bin/tool").samefile(root / "bin/same")
    assert listing["bin/dangling"]["target"] == "../nowhere"
    assert listing["pipe"] == {**listing["pipe"], "type": "pipe", "mode": 0o600}
    assert (root / "bin/tool").stat().st_mtime == 1_000_000_000


@pytest.mark.root
def test_owners_and_capabilities_survive_gnu_tar(tmp_path: Path) -> None:
    source, root = tmp_path / "source", tmp_path / "root"
    source.mkdir()
    root.mkdir()
    (source / "ping").write_bytes(b"x")
    os.chown(source / "ping", 12, 34)
    os.setxattr(
        source / "ping", "security.capability", bytes.fromhex("0100000200200000000000000000000000000000")
    )
    (source / ("long " * 40)).write_bytes(b"y")
    with (source / "sparse").open("wb") as sparse:
        sparse.seek(1 << 20)
        sparse.write(b"end")
    archive = tmp_path / "gnu.tar"
    subprocess.run(
        ["tar", "-C", source, "--xattrs", "--xattrs-include=*", "--sparse", "-cf", archive, "."], check=True
    )
    unpack(archive, root)
    assert differences(list_tree(source), list_tree(root)) == []


def zstd(plain: bytes) -> bytes:
    return subprocess.run(["zstd", "-c"], input=plain, capture_output=True, check=True, timeout=20).stdout


def lzma_alone(plain: bytes) -> bytes:
    return lzma.compress(plain, format=lzma.FORMAT_ALONE)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, lzma_alone, zstd])
def test_every_usual_compression_is_detected(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    plain = tar_bytes([Member("file", bytes(range(256)) * 100)])
    (tmp_path / "archive").write_bytes(pack(plain))
    (tmp_path / "root").mkdir()
    assert "sha256:" + unpack(tmp_path / "archive", tmp_path / "root") == sha256(plain)
    assert names(tmp_path / "root") == {"file"}


def test_a_missing_decompressor_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "archive").write_bytes(b"LZIP" + bytes(100))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(HostError, match="apt-get install lzip"):
        unpack(tmp_path / "archive", tmp_path)


@pytest.mark.parametrize("compress", [False, True])
@settings(max_examples=60, deadline=None)
@given(share=st.floats(0, 0.999))
def test_a_cut_archive_is_never_taken_for_a_whole_one(
    tmp_path_factory: pytest.TempPathFactory, compress: bool, share: float
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    content = bytes(range(1, 256)) * 12
    whole = tar_bytes([Member("a", content), Member("b/"), Member("b/c", content)])
    whole = gzip.compress(whole) if compress else whole.rstrip(b"\0") + bytes(1024)
    (folder / "archive").write_bytes(whole[: int(len(whole) * share)])
    (folder / "root").mkdir()
    with pytest.raises(InputError):
        unpack(folder / "archive", folder / "root")


@settings(max_examples=100, deadline=None)
@given(noise=st.binary(max_size=2000), at=st.integers(0, 3000))
def test_a_damaged_archive_is_an_input_error_or_unpacks_inside(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, at: int
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    whole = bytearray(tar_bytes([Member("a", b"x" * 600), symlink("l", "a"), Member("d/f", b"y")]))
    whole[at : at + len(noise)] = noise
    (folder / "archive").write_bytes(whole)
    (folder / "root").mkdir()
    with suppress(InputError, HostError):
        unpack(folder / "archive", folder / "root")
    assert {path.name for path in folder.iterdir()} == {"archive", "root"}


def test_a_whiteout_hides_lower_files_and_folders(tmp_path: Path) -> None:
    unpacked(tmp_path, [Member("a/one", b"1"), Member("a/two/three", b"3"), Member("keep", b"k")])
    root = unpacked(tmp_path, [Member("a/.wh.one"), Member("a/.wh.two"), Member(".wh.absent")], is_layer=True)
    assert names(root) == {"a", "keep"}


@pytest.mark.parametrize("first", [True, False])
def test_a_whiteout_spares_what_its_own_layer_made(tmp_path: Path, first: bool) -> None:
    unpacked(tmp_path, [Member("a/old", b"1"), Member("b/old", b"1"), Member("b/deep/old", b"1")])
    made = [Member("a/new", b"2"), Member("b/deep/new", b"2")]
    whiteouts = [Member("a/.wh..wh..opq"), Member(".wh.b")]
    root = unpacked(tmp_path, [*whiteouts, *made] if first else [*made, *whiteouts], is_layer=True)
    assert names(root) == {"a", "a/new", "b", "b/deep", "b/deep/new"}


@pytest.mark.parametrize("name", ["a/.wh...", "a/.wh..", "a/.wh."])
def test_a_whiteout_cannot_remove_its_folder_or_that_above(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="would remove what is not in it"):
        unpacked(tmp_path, [Member("a/file", b"1"), Member(name)], is_layer=True)


def test_whiteout_names_are_plain_names_outside_layers(tmp_path: Path) -> None:
    assert names(unpacked(tmp_path, [Member(".wh.file", b"x")])) == {".wh.file"}


def test_other_storage_marks_of_a_layer_are_left_out(tmp_path: Path) -> None:
    root = unpacked(tmp_path, [Member(".wh..wh.plnk"), Member("file", b"x")], is_layer=True)
    assert names(root) == {"file"}
