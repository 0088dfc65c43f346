# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tare.image.digest import differences, digest, list_tree, listing_text, parse_listing

LETTERS = st.characters(codec="utf-8", exclude_characters="/\0")
NAMES = st.text(LETTERS, min_size=1, max_size=8).filter(lambda name: name not in (".", ".."))
FILES = st.dictionaries(NAMES, st.binary(max_size=40), min_size=1, max_size=6)


@contextmanager
def tree(files: dict[str, bytes]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        (root / "below").mkdir(parents=True)
        for name, content in files.items():
            (root / "below" / name).write_bytes(content)
        yield root


def tree_digest(root: Path) -> str:
    return digest(list_tree(root))


def change_byte(file: Path) -> None:
    content = file.read_bytes() or b"\0"
    middle = len(content) // 2
    file.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])


def replace_by_link(file: Path) -> None:
    file.unlink()
    file.symlink_to("elsewhere")


def replace_by_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


CHANGES: dict[str, Callable[[Path], object]] = {
    "one byte": change_byte,
    "one byte more": lambda file: file.write_bytes(file.read_bytes() + b"\0"),
    "mode": lambda file: file.chmod(stat.S_IMODE(file.stat().st_mode) ^ stat.S_IXOTH),
    "set-user-id bit": lambda file: file.chmod(stat.S_IMODE(file.stat().st_mode) | stat.S_ISUID),
    "removed": lambda file: file.unlink(),
    "renamed": lambda file: file.rename(file.with_name("renamed to")),
    "added": lambda file: file.with_name("one more").touch(),
    "link instead": replace_by_link,
    "pipe instead": replace_by_pipe,
    "directory's mode": lambda file: file.parent.chmod(0o700),
    "root's mode": lambda file: file.parent.parent.chmod(0o711),
    "extended attribute": lambda file: os.setxattr(file, "user.tare", b"1"),
}


@pytest.mark.parametrize("change", CHANGES)
@settings(max_examples=12, deadline=None)
@given(files=FILES, data=st.data())
def test_any_change_of_the_tree_changes_the_digest_and_is_named(
    change: str, files: dict[str, bytes], data: st.DataObject
) -> None:
    with tree(files) as root:
        before = list_tree(root)
        CHANGES[change](root / "below" / data.draw(st.sampled_from(sorted(files))))
        after = list_tree(root)
        assert digest(before) != digest(after)
        assert differences(before, after)


@settings(max_examples=20, deadline=None)
@given(files=FILES)
def test_order_of_making_and_times_do_not_matter(files: dict[str, bytes]) -> None:
    backwards = dict(reversed(files.items()))
    with tree(files) as result, tree(backwards) as other:
        for path in [other, *other.rglob("*")]:
            os.utime(path, (1, 1))
        assert tree_digest(result) == tree_digest(other)


@settings(max_examples=30, deadline=None)
@given(files=FILES)
def test_a_listing_survives_its_text(files: dict[str, bytes]) -> None:
    with tree(files) as root:
        listing = list_tree(root)
    assert parse_listing(listing_text(listing)) == listing


def test_a_copy_has_the_same_digest(tmp_path: Path) -> None:
    with tree({"a": b"1", "b": b"2"}) as root:
        (root / "link").symlink_to("below/a")
        shutil.copytree(root, tmp_path / "copy", symlinks=True)
        assert tree_digest(root) == tree_digest(tmp_path / "copy")


def test_the_target_of_a_link_counts_though_it_does_not_exist(tmp_path: Path) -> None:
    for name, target in (("one", "nowhere"), ("other", "somewhere")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "link").symlink_to(target)
    assert tree_digest(tmp_path / "one") != tree_digest(tmp_path / "other")


def test_names_that_are_not_utf8_are_listed(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9")).write_bytes(b"x")
    listing = list_tree(tmp_path)
    assert parse_listing(listing_text(listing)) == listing
    assert listing[os.fsdecode(b"caf\xe9")]["size"] == 1


@pytest.mark.root
def test_owners_devices_and_capabilities_count(tmp_path: Path) -> None:
    file, seen = tmp_path / "file", set()
    file.touch()
    seen.add(tree_digest(tmp_path))
    os.chown(file, 1, 0)
    seen.add(tree_digest(tmp_path))
    os.chown(file, 1, 1)
    seen.add(tree_digest(tmp_path))
    os.setxattr(file, "security.capability", bytes.fromhex("0100000200200000000000000000000000000000"))
    seen.add(tree_digest(tmp_path))
    for minor in (3, 5):
        (tmp_path / "device").unlink(missing_ok=True)
        os.mknod(tmp_path / "device", 0o020600, os.makedev(1, minor))
        seen.add(tree_digest(tmp_path))
    assert len(seen) == 6


def test_a_broken_listing_is_a_value_error() -> None:
    for text in ("[1]\n", '{"mode": 1}\n', '{"path": 3}\n'):
        with pytest.raises(ValueError, match="has no path"):
            parse_listing(text)
    with pytest.raises(ValueError, match="Expecting value"):
        parse_listing("not json\n")
