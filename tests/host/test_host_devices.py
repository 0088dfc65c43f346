# SPDX-License-Identifier: Apache-2.0
"""GPUs, fabrics and energy counters of hosts that have them, and of hosts that have none."""

from pathlib import Path

import pytest
from tests.host.device_trees import (
    OPEN_NVIDIA,
    VERSION,
    energy_host,
    fabric_host,
    nvidia_host,
    write,
)

from tare.host.devices import driver_of, fabrics, gpus, nvidia_driver
from tare.host.energy import MEMORY, PACKAGE, energy, energy_counters
from tare.host.facts import host_facts


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


DEVICES = """\
Character devices:
  1 mem
  4 /dev/vc/0
  4 tty
 10 misc
231 infiniband_verbs

Block devices:
  8 sd
 10 other
"""


@pytest.mark.parametrize(
    ("major", "minor", "driver"),
    [
        (231, 192, "infiniband_verbs"),
        (1, 5, "mem"),
        (10, 229, "fuse"),
        (10, 3, "misc"),
        (8, 0, None),
        (99, 0, None),
    ],
)
def test_the_numbers_of_a_device_mean_a_driver_on_this_host(
    major: int, minor: int, driver: str | None, tmp_path: Path
) -> None:
    root = write(
        tmp_path, {"proc/devices": DEVICES, "proc/misc": "229 fuse\n 58 rdma_cm\nbroken line here\n"}
    )
    assert driver_of(major, minor, root) == driver
    assert driver_of(major, minor, tmp_path / "none") is None


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
