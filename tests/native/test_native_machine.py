# SPDX-License-Identifier: Apache-2.0
"""machine: what this very machine has, held against what it says of itself elsewhere."""

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.native.conversation import LIMIT_S

KEYS = [
    "kernel_release",
    "kernel_command_line",
    "processors",
    "memory_byte",
    "clock_source",
    "clock_sources",
    "tsc_khz",
    "tsc_khz_from",
    "hypervisor_bit",
    "hypervisor_signatures",
    "kvm_features",
    "booted_on",
    "steal_tick",
    "block_devices",
    "network_interfaces",
    "virtio_devices",
    "pci_devices",
    "modules",
]


@pytest.fixture(scope="module")
def seen(programs: Path) -> dict[str, Any]:
    done = subprocess.run([programs / "machine"], capture_output=True, text=True, check=True, timeout=LIMIT_S)
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_every_fact_has_its_place(seen: dict[str, Any]) -> None:
    assert list(seen) == KEYS


def test_the_kernel_is_this_one(seen: dict[str, Any]) -> None:
    assert seen["kernel_release"] == platform.release()
    assert seen["kernel_command_line"] == Path("/proc/cmdline").read_text().strip()
    assert seen["processors"] == os.sysconf("SC_NPROCESSORS_ONLN")
    assert seen["memory_byte"] == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def test_the_clock_source_is_one_of_those_there_are(seen: dict[str, Any]) -> None:
    assert seen["clock_source"] in seen["clock_sources"]
    assert (seen["tsc_khz"] is None) == (seen["tsc_khz_from"] is None)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="CPUID is of x86")
def test_the_hypervisor_bit_is_that_of_the_kernels_flags(seen: dict[str, Any]) -> None:
    flags = next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags"))
    value = "hypervisor" in flags.split()
    assert seen["hypervisor_bit"] == value
    assert (seen["hypervisor_signatures"] is not None) == value


def test_interfaces_and_disks_are_all_there(seen: dict[str, Any]) -> None:
    for key, folder in (("network_interfaces", "/sys/class/net"), ("block_devices", "/sys/block")):
        assert {device["name"] for device in seen[key]} == {path.name for path in Path(folder).iterdir()}
    (loopback,) = [device for device in seen["network_interfaces"] if device["name"] == "lo"]
    assert loopback["drivers"] == loopback["buses"] == []


def test_without_a_reader_machine_fails(programs: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [programs / "machine"], stdout=writer, stderr=subprocess.PIPE, check=False, timeout=LIMIT_S
    )
    os.close(writer)
    assert done.returncode != 0
