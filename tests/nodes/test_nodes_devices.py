# SPDX-License-Identifier: Apache-2.0
"""Devices by their kind and by their path, on hosts that have them and on hosts that have none."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.host.device_trees import Nodes, fabric_host, nvidia_host, write

from tare.nodes.devices import (
    KINDS,
    Device,
    are_fabric,
    asks_fabric,
    check_asked,
    closed_to,
    find_devices,
    is_possible,
    said,
    seen_below,
)

FUSE = Device(path=Path("/dev/fuse"), major=10, minor=229)


def test_every_node_of_a_kind_is_found_with_its_numbers(tmp_path: Path) -> None:
    root = nvidia_host(tmp_path)
    assert said(find_devices("nvidia", root, Nodes(root))) == (
        "/dev/nvidia-uvm 511:0, /dev/nvidia0 195:0, /dev/nvidia1 195:1, /dev/nvidiactl 195:255"
    )
    assert said(find_devices("dri", root, Nodes(root))) == "/dev/dri/card0 226:0, /dev/dri/renderD128 226:128"


def test_a_fabric_is_all_nodes_in_its_folder(tmp_path: Path) -> None:
    root = fabric_host(tmp_path)
    assert said(find_devices("infiniband", root, Nodes(root))) == (
        "/dev/infiniband/rdma_cm 10:58, /dev/infiniband/uverbs0 231:192"
    )


def test_a_folder_of_devices_is_their_kind_by_another_name(tmp_path: Path) -> None:
    root = fabric_host(tmp_path)
    assert check_asked("/dev/infiniband/") == "infiniband"
    assert find_devices("/dev/infiniband", root, Nodes(root)) == find_devices("infiniband", root, Nodes(root))


def test_verbs_are_a_fabric_by_their_kind_by_their_path_and_as_devices() -> None:
    verbs = Device(path=Path("/dev/infiniband/uverbs3"), major=231, minor=195)
    assert asks_fabric(["nvidia", "infiniband"])
    assert asks_fabric([str(verbs.path)])
    assert are_fabric([FUSE, verbs])
    assert not are_fabric([FUSE])


@pytest.mark.parametrize(
    "changed",
    [{"path": Path("/etc/passwd")}, {"path": Path("/dev/infiniband")}, {"major": 4096}, {"minor": -1}],
)
def test_a_device_that_no_node_can_have_is_recognized(changed: dict[str, Any]) -> None:
    assert is_possible(FUSE)
    assert not is_possible(replace(FUSE, **changed))


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_that_a_host_has_not_is_refused_in_one_sentence(kind: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"this host has no .*/dev/") as refusal:
        find_devices(kind, tmp_path)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("gpu", "none of nvidia, amd, dri, infiniband"),
        ("dev/fuse", "no path such as /dev/fuse"),
        ("/etc/passwd", "no plain path below /dev"),
        ("/dev/../etc/passwd", "no plain path below /dev"),
        ("/dev/a,b", "no plain path below /dev"),
        ("/dev/a:b", "no plain path below /dev"),
        ("/dev/null", "every node has of its own"),
        ("/dev/mem", "no command may have"),
        ("/dev/pts/0", "every node has of its own"),
    ],
)
def test_what_is_no_device_to_pass_is_refused(asked: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        check_asked(asked)


def test_a_file_is_no_device_and_a_missing_one_cannot_be_looked_at(tmp_path: Path) -> None:
    write(tmp_path, {"dev/thing": ""})
    with pytest.raises(ValueError, match="/dev/thing is no character device"):
        find_devices("/dev/thing", tmp_path)
    with pytest.raises(ValueError, match="/dev/other cannot be looked at: No such file"):
        find_devices("/dev/other", tmp_path)


def test_who_may_not_open_a_device_is_told_the_group_that_may(tmp_path: Path) -> None:
    write(tmp_path, {"dev/kfd": ""})
    device = Device(path=tmp_path / "dev/kfd", major=235, minor=0)
    ours = Nodes(tmp_path, 0o660, (0, 109))
    assert "--as 65530:109" in (closed_to(device, 65530, 65530, ours) or "")
    assert closed_to(device, 65530, 109, ours) is None
    assert closed_to(device, 0, 0, ours) is None
    assert "--as root" in (closed_to(device, 65530, 109, Nodes(tmp_path, 0o600, (0, 109))) or "")
    assert closed_to(device, 1, 1, Nodes(tmp_path)) is None


def test_a_node_shows_what_it_has_at_the_paths(tmp_path: Path) -> None:
    assert seen_below([FUSE], tmp_path) == "/dev/fuse missing"
    write(tmp_path, {"dev/fuse": ""})
    assert seen_below([FUSE], tmp_path) == "/dev/fuse no device"
    null = Device(path=Path("/dev/null"), major=1, minor=3)
    assert seen_below([null], Path("/")) == said([null])
