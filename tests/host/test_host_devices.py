# SPDX-License-Identifier: Apache-2.0
"""GPUs, fabrics and energy counters of hosts that have them, and of hosts that have none."""

from pathlib import Path

import pytest
from tests.host.device_trees import (
    OPEN_NVIDIA,
    VERSION,
    Nodes,
    energy_host,
    fabric_host,
    nvidia_host,
    write,
)

from tare.host.devices import (
    KINDS,
    Device,
    check_asked,
    closed_to,
    fabrics,
    find_devices,
    gpus,
    nvidia_driver,
    said,
    seen_below,
)
from tare.host.energy import MEMORY, PACKAGE, energy, energy_counters
from tare.host.facts import host_facts

FUSE = Device(path=Path("/dev/fuse"), major=10, minor=229)


def test_a_host_without_any_says_so_in_one_line_each(tmp_path: Path) -> None:
    result = host_facts(tmp_path)
    assert (result["GPUs"], result["fabrics"]) == ("none", "none")
    assert result["energy"] == "none (no RAPL, as in most virtual machines)"


def test_gpus_are_named_by_their_driver_and_others_by_their_kernel_driver(tmp_path: Path) -> None:
    assert gpus(nvidia_host(tmp_path)) == f"2x NVIDIA A100-SXM4-80GB (driver {VERSION}); ast"


def test_the_ports_of_a_fabric_are_named_with_their_rate_and_state(tmp_path: Path) -> None:
    assert fabrics(fabric_host(tmp_path)).split("; ") == [
        "mlx5_0 InfiniBand 100 Gb/sec (4X EDR), active",
        "mlx5_1 port 1 Ethernet 25 Gb/sec (1X EDR), active",
        "mlx5_1 port 2 Ethernet 40 Gb/sec (4X QDR), down",
    ]


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


def test_the_libraries_are_those_for_computing_of_the_loaded_version_with_all_their_names(
    tmp_path: Path,
) -> None:
    driver = nvidia_driver(nvidia_host(tmp_path), "x86_64")
    assert driver.version == VERSION
    assert set(driver.files) == {
        *("libcuda.so", "libcuda.so.1", f"libcuda.so.{VERSION}", f"libnvidia-ml.so.{VERSION}")
    }
    assert {path.name for path in driver.files.values()} == {
        f"libcuda.so.{VERSION}",
        f"libnvidia-ml.so.{VERSION}",
    }


def test_libraries_of_another_version_than_the_module_are_none(tmp_path: Path) -> None:
    root = write(nvidia_host(tmp_path), {"proc/driver/nvidia/version": OPEN_NVIDIA})
    with pytest.raises(ValueError, match=r"libcuda.so.580.65.06, .* is in no library folder"):
        nvidia_driver(root, "x86_64")
    with pytest.raises(ValueError, match="not loaded"):
        nvidia_driver(tmp_path / "elsewhere")


@pytest.mark.parametrize("text", ["", "NVRM version: none\n", "\0\xff"])
def test_a_broken_version_is_no_driver(text: str, tmp_path: Path) -> None:
    write(tmp_path, {"proc/driver/nvidia/version": text})
    with pytest.raises(ValueError, match="not loaded"):
        nvidia_driver(tmp_path)


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


def test_packages_and_their_memory_are_counted_once(tmp_path: Path) -> None:
    counters = energy_counters(energy_host(tmp_path))
    assert [(counter.name, counter.kind) for counter in counters] == [
        ("package-0", PACKAGE),
        ("package-0 dram", MEMORY),
        ("package-1", PACKAGE),
    ]
    assert energy(tmp_path) == "package-0, package-0 dram, package-1 by RAPL"


def test_a_zone_without_range_is_left_out(tmp_path: Path) -> None:
    root = energy_host(tmp_path)
    (root / "sys/class/powercap/intel-rapl:1/max_energy_range_uj").write_text("0\n")
    (root / "sys/class/powercap/intel-rapl:0:0/max_energy_range_uj").write_text("many\n")
    assert [counter.name for counter in energy_counters(root)] == ["package-0"]


def test_counters_that_cannot_be_read_are_none_with_the_reason(tmp_path: Path) -> None:
    root = energy_host(tmp_path)
    (root / "sys/class/powercap/intel-rapl:1/energy_uj").unlink()
    assert energy(root) == (
        "none (package-0, package-0 dram, package-1 by RAPL cannot be read: No such file or directory)"
    )
