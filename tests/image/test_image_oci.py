# SPDX-License-Identifier: Apache-2.0
import copy
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tare.errors import InputError
from tare.image.archive import unpack
from tare.image.digest import list_tree
from tare.image.oci import archive_format, unpack_image
from tests.image.image_example import (
    HERE,
    Member,
    OciArchive,
    sha256,
    symlink,
    tar_bytes,
    write_docker_archive,
)

LAYERS = (
    [Member("etc/"), Member("etc/one", b"1"), Member("etc/two", b"2"), Member("opt/tool/old", b"3")],
    [Member("etc/.wh.one"), Member("opt/tool/.wh..wh..opq"), Member("opt/tool/new", b"4")],
    [Member("etc/two", b"22"), symlink("etc/three", "two")],
)
RESULT = {".", "etc", "etc/two", "etc/three", "opt", "opt/tool", "opt/tool/new"}


def example(architecture: str = HERE) -> OciArchive:
    archive = OciArchive(architecture)
    for number, layer in enumerate(LAYERS):
        archive.add_layer(layer, compress=number != 1)
    return archive


def opened(tmp_path: Path, file: Path) -> Path:
    folder = tmp_path / "folder"
    folder.mkdir()
    unpack(file, folder)
    return folder


def applied(tmp_path: Path, file: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    unpack_image(opened(tmp_path, file), root, lambda _: None)
    return root


def test_the_layers_of_an_oci_archive_are_applied_in_order(tmp_path: Path) -> None:
    root = applied(tmp_path, example().write(tmp_path / "image.tar"))
    assert set(list_tree(root)) == RESULT
    assert (root / "etc/two").read_bytes() == b"22"


def test_a_docker_archive_gives_the_same_tree(tmp_path: Path) -> None:
    for name in ("oci", "docker"):
        (tmp_path / name).mkdir()
    file = write_docker_archive(tmp_path / "docker.tar", [*LAYERS, LAYERS[2]])
    from_docker = applied(tmp_path / "docker", file)
    from_oci = applied(tmp_path / "oci", example().write(tmp_path / "oci.tar"))
    assert list_tree(from_docker) == list_tree(from_oci)


def test_formats_are_told_apart(tmp_path: Path) -> None:
    assert archive_format(opened(tmp_path, example().write(tmp_path / "image.tar"))) == "oci"
    (tmp_path / "docker").mkdir()
    assert (
        archive_format(opened(tmp_path / "docker", write_docker_archive(tmp_path / "d.tar", LAYERS)))
        == "docker"
    )
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "manifest.json").write_text("{}")
    assert archive_format(tmp_path / "root") is None


def test_an_index_of_several_architectures_gives_the_one_of_this_host(tmp_path: Path) -> None:
    here, other = example(), OciArchive("s390x")
    other.add_layer([Member("wrong", b"x")])
    index = here.index()
    index["manifests"] = [*other.index()["manifests"], *index["manifests"]]
    index["manifests"].append(
        {**index["manifests"][0], "platform": {"architecture": "unknown", "os": "unknown"}}
    )
    here.blobs |= other.blobs
    nested = here.add_blob(json.dumps(index).encode())
    root = applied(tmp_path, here.write(tmp_path / "image.tar", {"manifests": [nested]}))
    assert set(list_tree(root)) == RESULT


@pytest.mark.parametrize("architectures", [[], ["s390x"], [HERE, HERE]])
def test_none_or_several_images_of_this_host_are_refused_by_name(
    tmp_path: Path, architectures: list[str]
) -> None:
    archive = example()
    entry = archive.index()["manifests"][0]
    named = {"org.opencontainers.image.ref.name": "mine:1"}
    manifests = [
        {**entry, "platform": {"architecture": name}, "annotations": named} for name in architectures
    ]
    file = archive.write(tmp_path / "image.tar", {"manifests": manifests})
    with pytest.raises(InputError, match="mine:1" if architectures else "it holds: none"):
        applied(tmp_path, file)


def test_an_index_that_names_itself_ends(tmp_path: Path) -> None:
    archive = example()
    entry = archive.index()["manifests"][0]
    for _ in range(10):
        entry = archive.add_blob(json.dumps({"manifests": [entry]}).encode())
    with pytest.raises(InputError, match="must hold one image"):
        applied(tmp_path, archive.write(tmp_path / "image.tar", {"manifests": [entry]}))


@pytest.mark.parametrize("which", range(5))
def test_a_blob_with_another_content_is_refused(tmp_path: Path, which: int) -> None:
    archive = example()
    index = archive.index()
    name = list(archive.blobs)[which]
    archive.blobs[name] = archive.blobs[name][:-1] + bytes([archive.blobs[name][-1] ^ 1])
    with pytest.raises(InputError, match=r"is not what it says"):
        applied(tmp_path, archive.write(tmp_path / "image.tar", index))


def test_a_layer_with_another_digest_than_the_configuration_says_is_refused(tmp_path: Path) -> None:
    archive = example()
    archive.diff_ids[1] = sha256(tar_bytes([Member("other")]))
    with pytest.raises(InputError, match="layer 2 does not have the digest"):
        applied(tmp_path, archive.write(tmp_path / "image.tar"))


def test_a_missing_layer_is_refused(tmp_path: Path) -> None:
    archive = example()
    index = archive.index()
    del archive.blobs[archive.layers[0]["digest"]]
    with pytest.raises(InputError, match="lacks"):
        applied(tmp_path, archive.write(tmp_path / "image.tar", index))


def test_a_hostile_layer_is_refused(tmp_path: Path) -> None:
    archive = example()
    archive.add_layer([symlink("way", "../../.."), Member("way/evil", b"x")])
    with pytest.raises(InputError, match="passes a link that leads out"):
        applied(tmp_path, archive.write(tmp_path / "image.tar"))


@pytest.mark.parametrize("digest", ["sha256:../../../../etc/passwd", "md5:0", "", "sha256:" + "A" * 64])
def test_a_digest_that_is_none_is_refused(tmp_path: Path, digest: str) -> None:
    archive = example()
    index = archive.index()
    index["manifests"][0]["digest"] = digest
    with pytest.raises(InputError, match="digest that Tare does not know"):
        applied(tmp_path, archive.write(tmp_path / "image.tar", index))


def test_a_docker_archive_cannot_name_files_outside_it(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text('{"rootfs": {"diff_ids": []}}')
    for number, config in enumerate(("../secret.json", str(tmp_path / "secret.json"))):
        folder = tmp_path / f"case{number}"
        folder.mkdir()
        manifest: list[dict[str, Any]] = [{"Config": config, "RepoTags": None, "Layers": []}]
        with tarfile.open(folder / "docker.tar", "w") as tar:
            (folder / "manifest.json").write_text(json.dumps(manifest))
            tar.add(folder / "manifest.json", "manifest.json")
        with pytest.raises(InputError, match="lacks"):
            applied(folder, folder / "docker.tar")


BROKEN: dict[str, Callable[[dict[str, Any]], object]] = {
    "no manifests": lambda index: index.pop("manifests"),
    "manifests is a number": lambda index: index.update(manifests=3),
    "a manifest is a text": lambda index: index.update(manifests=["x"]),
    "no size": lambda index: index["manifests"][0].pop("size"),
    "digest is a list": lambda index: index["manifests"][0].update(digest=[]),
    "platform is a text": lambda index: index["manifests"][0].update(platform="x"),
    "not the digest of a manifest": lambda index: index["manifests"][0].update(index["config"]),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_index_is_one_message(tmp_path: Path, case: str) -> None:
    archive = example()
    index = copy.deepcopy(archive.index())
    index["config"] = archive.add_blob(b'{"rootfs": {}}')
    BROKEN[case](index)
    with pytest.raises(InputError, match="image archive"):
        applied(tmp_path, archive.write(tmp_path / "image.tar", index))
