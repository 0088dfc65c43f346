# SPDX-License-Identifier: Apache-2.0
import gzip
import lzma
import shutil
from pathlib import Path

import pytest
from tests.guests.kernel_example import MODULES, RELEASE, bzimage, elf, keep

from tare.errors import NodeError
from tare.guests import kernel as guest_kernel
from tare.guests.kernel import find_kernel, lack_of_modules, needed_modules, stored_kernels


@pytest.fixture
def kernels(state: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store, on a host without modules of its own."""
    monkeypatch.setattr(guest_kernel, "_HOST_MODULES", state / "no-modules-here")
    return state / "kernels"


@pytest.mark.usefixtures("kernels")
def test_without_a_kernel_the_command_that_gets_one_is_said() -> None:
    with pytest.raises(NodeError, match="tare image kernel"):
        find_kernel(None)
    with pytest.raises(NodeError, match=r"'6\.1'.*there: none"):
        find_kernel("6.1")


def test_the_newest_is_taken_by_number_and_not_by_letter(kernels: Path) -> None:
    for release in ("6.1.0-9-amd64", "6.1.0-56-amd64", "5.10.0-99-amd64", "6.1.0-56-rt-amd64"):
        keep(kernels, release)
    releases = [kernel.release for kernel in stored_kernels()]
    assert releases == ["5.10.0-99-amd64", "6.1.0-9-amd64", "6.1.0-56-amd64", "6.1.0-56-rt-amd64"]
    assert find_kernel(None).release == releases[-1]
    assert find_kernel("6.1.0-9-amd64").release == "6.1.0-9-amd64"


def test_a_kept_kernel_says_how_it_starts_and_where_its_modules_are(kernels: Path) -> None:
    direct = keep(kernels, "6.1.0-1-amd64")
    packed = keep(kernels, "6.1.0-2-amd64", direct=False, modules=False)
    first, second = stored_kernels()
    assert (first.image, first.direct, first.modules) == (direct / "vmlinux", True, direct / "modules")
    assert (second.image, second.direct, second.modules) == (packed / "vmlinuz", False, None)


def test_a_folder_that_holds_no_whole_kernel_is_passed_over(kernels: Path) -> None:
    keep(kernels, RELEASE)
    for name, about in (("torn", "{"), ("other", "[]"), ("empty", '{"release": "1"}'), (".new", "{}")):
        (kernels / name).mkdir()
        (kernels / name / "about.json").write_text(about)
    assert [kernel.release for kernel in stored_kernels()] == [RELEASE]


def test_an_unknown_release_shows_what_is_there(kernels: Path) -> None:
    keep(kernels, RELEASE)
    with pytest.raises(NodeError, match=rf"'6\.6'.*there: {RELEASE}"):
        find_kernel("6.6")


@pytest.mark.usefixtures("kernels")
def test_a_packed_kernel_by_its_path_is_unpacked_once(tmp_path: Path) -> None:
    path = tmp_path / "vmlinuz-own"
    path.write_bytes(
        bzimage(gzip.compress(elf(release="6.6.1-own")), unpacked_byte=len(elf()), release="6.6.1-own")
    )
    kernel = find_kernel(str(path))
    assert (kernel.release, kernel.direct, kernel.modules) == ("6.6.1-own", True, None)
    assert kernel.image.read_bytes() == elf(release="6.6.1-own")
    written = kernel.image.stat().st_mtime_ns
    assert find_kernel(str(path)) == kernel
    assert kernel.image.stat().st_mtime_ns == written


@pytest.mark.usefixtures("kernels")
def test_a_kernel_that_was_replaced_is_unpacked_anew(tmp_path: Path) -> None:
    path = tmp_path / "vmlinux"
    path.write_bytes(elf(release="6.6.1"))
    assert find_kernel(str(path)).release == "6.6.1"
    path.unlink()
    path.write_bytes(elf(release="6.6.2-longer"))
    assert find_kernel(str(path)).release == "6.6.2-longer"


@pytest.mark.usefixtures("kernels")
def test_a_kernel_that_must_unpack_itself_is_used_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "vmlinuz"
    path.write_bytes(bzimage(b"unknown to us", unpacked_byte=1))
    kernel = find_kernel(str(path))
    assert (kernel.image, kernel.direct) == (path, False)


def test_the_modules_of_a_path_are_beside_it_or_the_hosts_or_the_stores(
    kernels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "vmlinux"
    path.write_bytes(elf())
    kept = keep(kernels, RELEASE)
    assert find_kernel(str(path)).modules == kept / "modules"
    host = kernels.parent / "host"
    shutil.copytree(MODULES, host / RELEASE)
    monkeypatch.setattr(guest_kernel, "_HOST_MODULES", host)
    assert find_kernel(str(path)).modules == host / RELEASE
    shutil.copytree(MODULES, tmp_path / "modules")
    assert find_kernel(str(path)).modules == tmp_path / "modules"


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize(
    ("name", "words"), [("gone", "No such file"), ("script", "no Linux kernel"), (".", "directory")]
)
def test_a_path_that_is_no_kernel_is_named(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "script").write_text("#!/bin/sh\n")
    with pytest.raises(NodeError, match=words) as raised:
        find_kernel(str(tmp_path / name))
    assert str(tmp_path) in str(raised.value)


def test_modules_are_given_as_files_in_load_order(kernels: Path) -> None:
    folder = keep(kernels, RELEASE) / "modules"
    paths = needed_modules(find_kernel(None), ["virtio_blk"])
    assert paths == [
        folder / "kernel/drivers/virtio/virtio_ring.ko",
        folder / "kernel/drivers/virtio/virtio.ko",
        folder / "kernel/drivers/block/virtio_blk.ko",
    ]


def test_every_missing_module_is_named(kernels: Path) -> None:
    keep(kernels, RELEASE)
    with pytest.raises(NodeError, match="nonsense, more"):
        needed_modules(find_kernel(None), ["virtio_blk", "nonsense", "more"])


def test_a_kernel_without_modules_has_all_built_in(kernels: Path) -> None:
    keep(kernels, RELEASE, modules=False)
    assert needed_modules(find_kernel(None), ["virtio_blk"]) == []


def test_a_kernel_without_modules_says_where_they_were_looked_for_and_what_to_do(
    kernels: Path, tmp_path: Path
) -> None:
    path = tmp_path / "vmlinux"
    path.write_bytes(elf())
    said = lack_of_modules(str(path))
    for place in (tmp_path / "modules", kernels / RELEASE / "modules"):
        assert f"{place}" in said
    assert f"tare image kernel --from {path} --modules FOLDER" in said
    keep(kernels, RELEASE)
    assert lack_of_modules(str(path)) == lack_of_modules(None) == ""


def test_a_packed_module_is_unpacked_once(kernels: Path, tmp_path: Path) -> None:
    keep(kernels, RELEASE, modules=False)
    folder = kernels / RELEASE / "modules"
    folder.mkdir()
    (folder / "modules.dep").write_text("one.ko.xz:\nbroken.ko.gz:\nodd.ko.lz4:\n")
    (folder / "one.ko.xz").write_bytes(lzma.compress(b"a module"))
    (folder / "broken.ko.gz").write_bytes(gzip.compress(b"a module")[:12])
    (folder / "odd.ko.lz4").write_bytes(b"\x04\x22\x4d\x18")
    kernel = find_kernel(None)
    (path,) = needed_modules(kernel, ["one"])
    assert (path.name, path.read_bytes()) == ("one.ko", b"a module")
    assert needed_modules(kernel, ["one"]) == [path]
    with pytest.raises(NodeError, match="broken"):
        needed_modules(kernel, ["broken"])
    with pytest.raises(NodeError, match=r"odd\.ko\.lz4.*not known"):
        needed_modules(kernel, ["odd"])
    assert list(path.parent.parent.glob(".new-*")) == []
    assert tmp_path in path.parents
