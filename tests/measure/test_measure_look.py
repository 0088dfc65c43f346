# SPDX-License-Identifier: Apache-2.0
"""A trial that fills the disk below its layers ends with the reason; what others of its kind take is no reason."""

import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.measure.measure_nodes import MEBIBYTE, node_spec

from tare.errors import NodeError
from tare.measure.look import DiskRoom
from tare.nodes.provider import Elsewhere, Node
from tare.records import USUAL_BOUNDS, Bounds, Storage

GIBIBYTE = 1 << 30
BOUNDED = replace(USUAL_BOUNDS, disk_byte=100 * MEBIBYTE)


class Disk:
    """A file system of 100 GiB."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.free_byte = 50 * GIBIBYTE
        monkeypatch.setattr(os, "statvfs", self._told)

    def _told(self, _: Path) -> SimpleNamespace:
        return SimpleNamespace(f_bavail=self.free_byte, f_blocks=100 * GIBIBYTE, f_frsize=1)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def room(folder: Path, bounds: Bounds, storage: Storage = Storage.DISK, **changes: object) -> DiskRoom:
    spec = node_spec(folder, bounds=bounds, storage=storage)
    spec.directory.mkdir(parents=True)
    return DiskRoom([Node(spec=spec, init_pid=None, **changes)])  # type: ignore[arg-type]


def test_as_much_as_may_be_is_no_reason_and_more_is(disk: Disk, tmp_path: Path) -> None:
    held = room(tmp_path, BOUNDED)
    disk.free_byte -= 100 * MEBIBYTE
    held.check()
    disk.free_byte -= 1
    with pytest.raises(
        NodeError, match=r"lost 100 MiB in this trial, more than the limit of 100 MiB; write less"
    ):
        held.check()


def test_without_a_limit_the_reserve_is_kept(disk: Disk, tmp_path: Path) -> None:
    held = room(tmp_path, USUAL_BOUNDS)
    disk.free_byte = 3 * GIBIBYTE
    held.check()
    disk.free_byte = GIBIBYTE
    with pytest.raises(NodeError, match=r"has only 1 GiB left, after 49 GiB in this trial"):
        held.check()


def test_who_takes_little_of_a_disk_that_was_full_before_goes_on(disk: Disk, tmp_path: Path) -> None:
    disk.free_byte = GIBIBYTE
    held = room(tmp_path, USUAL_BOUNDS)
    disk.free_byte -= 100 * MEBIBYTE
    held.check()


@pytest.mark.parametrize(
    ("bounds", "storage", "changes"),
    [
        (Bounds(), Storage.DISK, {}),
        (BOUNDED, Storage.TMPFS, {}),
        (BOUNDED, Storage.DISK, {"elsewhere": Elsewhere()}),
    ],
    ids=["a result that began without bounds", "memory", "another host"],
)
def test_nobody_looks_where_nothing_is_to_be_kept(
    disk: Disk, tmp_path: Path, bounds: Bounds, storage: Storage, changes: dict[str, object]
) -> None:
    held = room(tmp_path, bounds, storage, **changes)
    disk.free_byte = 0
    held.check()
