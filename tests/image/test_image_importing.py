# SPDX-License-Identifier: Apache-2.0
import os
import tarfile
from pathlib import Path

import pytest

from tare.errors import ImageError, InputError
from tare.image import find_image, list_images, recipe, verify
from tare.image.archive import unpack
from tare.image.digest import list_tree
from tare.image.importing import import_image
from tests.image.image_example import HERE, Member, OciArchive, symlink, write_docker_archive
from tests.image.stand_ins import quiet, sources

ADDED = {"opt/tare/bin/init", "mnt/tare", "dev/shm", "proc"}


@pytest.fixture(autouse=True)
def own_sources(tmp_path: Path, stand_ins: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert stand_ins.is_dir()
    monkeypatch.setattr(recipe, "native_source", lambda: sources(tmp_path))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "usr/bin").mkdir(parents=True)
    (root / "usr/bin/tool").write_bytes(b"\x7fELF")
    (root / "usr/bin/tool").chmod(0o4755)
    os.link(root / "usr/bin/tool", root / "usr/bin/same")
    (root / "bin").symlink_to("usr/bin")
    os.setxattr(root / "usr/bin/tool", "user.note", b"kept")
    return root


@pytest.mark.root
def test_a_directory_arrives_with_all_its_metadata(tree: Path) -> None:
    image = import_image(tree, "mine", quiet)
    verify(find_image("mine"))
    before, after = list_tree(tree), list_tree(image.root)
    assert {path: after[path] for path in before} == before
    assert set(after) >= ADDED
    assert image.manifest["source"] == {"kind": "import", "format": "directory", "path": str(tree)}
    assert (image.root / "usr/bin/tool").samefile(image.root / "usr/bin/same")


@pytest.mark.root
def test_a_tar_archive_gives_the_same_image_as_its_directory(tree: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "tree.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as tar:
        tar.add(tree, ".", filter=_with_attributes)
    of_tar = import_image(tmp_path / "tree.tar.gz", "one", quiet)
    of_directory = import_image(tree, "other", quiet)
    assert of_tar.digest == of_directory.digest
    assert of_tar.manifest["source"]["format"] == "tar"


def _with_attributes(member: tarfile.TarInfo) -> tarfile.TarInfo:
    if member.name.endswith("/tool") or member.name.endswith("/same"):
        member.pax_headers = {"SCHILY.xattr.user.note": "kept"}
    return member


@pytest.mark.root
def test_container_image_archives_are_detected(tmp_path: Path) -> None:
    layers = [[Member("usr/bin/tool", b"x"), Member("old", b"x")], [Member(".wh.old")]]
    archive = OciArchive(HERE)
    for layer in layers:
        archive.add_layer(layer)
    of_oci = import_image(archive.write(tmp_path / "oci.tar"), "oci", quiet)
    of_docker = import_image(write_docker_archive(tmp_path / "docker.tar", layers), "docker", quiet)
    assert [image.manifest["source"]["format"] for image in (of_oci, of_docker)] == ["oci", "docker"]
    assert of_oci.digest == of_docker.digest
    assert not (of_oci.root / "old").exists()


@pytest.mark.root
def test_an_unpacked_oci_layout_is_not_taken_for_a_root(tmp_path: Path) -> None:
    archive = OciArchive(HERE)
    archive.add_layer([Member("usr/bin/tool", b"x")])
    (tmp_path / "layout").mkdir()
    unpack(archive.write(tmp_path / "oci.tar"), tmp_path / "layout")
    image = import_image(tmp_path / "layout", "mine", quiet)
    assert (image.root / "usr/bin/tool").is_file()
    assert (tmp_path / "layout" / "index.json").is_file()


@pytest.mark.root
def test_a_root_whose_mount_points_lead_away_is_refused_and_leaves_nothing(tree: Path, state: Path) -> None:
    (tree / "mnt").symlink_to("/var")
    with pytest.raises(ImageError, match="/mnt is not a directory"):
        import_image(tree, "mine", quiet)
    assert list_images() == []
    assert not (state / "images" / ".new").exists()
    assert not Path("/var/tare").exists()


@pytest.mark.root
def test_a_hostile_archive_leaves_nothing(tmp_path: Path, state: Path) -> None:
    archive = OciArchive(HERE)
    archive.add_layer([symlink("way", "../.."), Member("way/evil", b"x")])
    with pytest.raises(InputError, match="refused"):
        import_image(archive.write(tmp_path / "oci.tar"), "mine", quiet)
    assert not (state / "images" / ".new").exists()


def test_wrong_sources_and_names_are_input_errors(tree: Path, state: Path) -> None:
    (state / "images").mkdir(parents=True)
    for source, name, message in (
        (tree / "nowhere", "mine", "no directory or file"),
        (tree, "default", "choose another name"),
        (tree, "../mine", "not a name"),
        (state.parent, "mine", "holds Tare's own images"),
        (Path("/dev/null"), "mine", "no directory or file"),
    ):
        with pytest.raises(InputError, match=message):
            import_image(source, name, quiet)
