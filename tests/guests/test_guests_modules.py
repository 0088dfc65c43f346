# SPDX-License-Identifier: Apache-2.0
"""On what depmod(8) said of a real kernel's modules, and on small made-up folders for what that kernel has not."""

from pathlib import Path

import pytest
from tests.guests.kernel_example import MODULES

from tare.errors import NodeError
from tare.guests.modules import ModuleIndex, module_name


def order(index: ModuleIndex, *names: str) -> list[str]:
    return [module_name(path) for path in index.load_order(names)]


@pytest.fixture
def index() -> ModuleIndex:
    return ModuleIndex(MODULES)


def test_what_a_module_needs_comes_before_it(index: ModuleIndex) -> None:
    assert order(index, "virtio_pci", "virtio_blk") == [
        *("virtio_ring", "virtio", "virtio_pci_modern_dev", "virtio_pci_legacy_dev", "virtio_pci"),
        "virtio_blk",
    ]


@pytest.mark.parametrize("name", sorted(ModuleIndex(MODULES).files))
def test_every_module_follows_all_that_depmod_lists_for_it(index: ModuleIndex, name: str) -> None:
    result = order(index, name)
    assert result[-1] == name
    assert len(set(result)) == len(result)
    for each in result:
        assert set(index.files[each][1]) <= set(result[: result.index(each)])


def test_a_file_system_gets_the_checksum_that_it_asks_the_kernel_for_by_name(index: ModuleIndex) -> None:
    assert order(index, "erofs") == ["crc32c_generic", "libcrc32c", "erofs"]
    assert order(index, "ext4")[0] == "crc32c_generic"


def test_a_module_is_found_by_either_spelling(index: ModuleIndex) -> None:
    assert order(index, "virtio-rng") == order(index, "virtio_rng")
    assert index.load_order(["virtio-rng"])[-1] == "kernel/drivers/char/hw_random/virtio-rng.ko"


def test_what_is_built_in_is_not_loaded(index: ModuleIndex) -> None:
    assert index.has("8250")
    assert order(index, "8250", "overlay") == ["overlay"]


def test_a_module_that_is_nowhere_is_not_had(index: ModuleIndex) -> None:
    assert not index.has("nonsense")
    with pytest.raises(KeyError):
        index.load_order(["nonsense"])


def described(folder: Path, **files: str) -> ModuleIndex:
    for name, text in files.items():
        (folder / f"modules.{name}").write_text(text)
    return ModuleIndex(folder)


def test_of_several_with_one_alias_the_one_for_every_processor_is_taken(tmp_path: Path) -> None:
    index = described(
        tmp_path,
        dep="fs.ko.xz:\nsum_intel.ko.xz:\nsum_generic.ko.xz:\n",
        softdep="# of modules\nsoftdep fs pre: sum post: sum_intel\n",
        alias="# Aliases\nalias sum sum-intel\nalias s[tu]? sum_generic\nalias sum gone\nalias sun* fs\n",
    )
    assert order(index, "fs") == ["sum_generic", "fs"]


def test_what_is_only_wished_for_may_be_missing(tmp_path: Path) -> None:
    assert order(described(tmp_path, dep="fs.ko:\n", softdep="softdep fs pre: nowhere\n"), "fs") == ["fs"]


def test_a_circle_of_wishes_ends(tmp_path: Path) -> None:
    index = described(tmp_path, dep="a.ko:\nb.ko:\n", softdep="softdep a pre: b\nsoftdep b pre: a\n")
    assert order(index, "a") == ["b", "a"]


def test_a_folder_without_its_index_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(NodeError, match=r"no modules\.dep.*depmod"):
        ModuleIndex(tmp_path).has("virtio")


def test_an_unreadable_index_is_named(tmp_path: Path) -> None:
    (tmp_path / "modules.dep").write_bytes(b"\xff\xfe: \n")
    with pytest.raises(NodeError, match=r"modules\.dep cannot be read"):
        ModuleIndex(tmp_path).has("virtio")
