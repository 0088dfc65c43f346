# SPDX-License-Identifier: Apache-2.0
"""Caches are emptied by the kernel's own file, or a NodeError says why they are not."""

from pathlib import Path

import pytest

from tare.errors import NodeError
from tare.host import caches


def test_pages_and_names_are_dropped(tmp_path: Path) -> None:
    drop = tmp_path / "drop_caches"
    drop.touch()
    assert caches.may_empty(drop)
    caches.empty(drop)
    assert drop.read_text() == "3"


def test_a_kernel_that_refuses_is_named(tmp_path: Path) -> None:
    assert not caches.may_empty(tmp_path / "none")
    with pytest.raises(NodeError, match=r"this host's caches cannot be emptied by .*: Is a directory"):
        caches.empty(tmp_path)


def test_a_guest_is_told_through_its_way_in(tmp_path: Path) -> None:
    """The way in stands before both commands; here it is a program that keeps what it was given."""
    way = tmp_path / "way"
    way.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/said\ncat >>{tmp_path}/said\n')
    way.chmod(0o755)
    caches.empty_inside([str(way)])
    assert (tmp_path / "said").read_text() == f"sync\ntee {caches.DROP}\n3"


def test_a_guest_that_refuses_is_named() -> None:
    with pytest.raises(NodeError, match="ended with 1"):
        caches.empty_inside(["false"])
