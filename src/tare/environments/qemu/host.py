# SPDX-License-Identifier: Apache-2.0
"""The features of this host that a machine depends on: QEMU, the time stamp counter's rate, huge pages, vhost."""

import os
import re
from contextlib import suppress
from functools import cache
from pathlib import Path

from tare.environments.qemu.command import PROGRAM
from tare.environments.qemu.options import Accelerator, Devices, QemuOptions, Vhost
from tare.errors import NodeError
from tare.host import process
from tare.host.distribution import to_install
from tare.host.mounts import mounts_text, parse_mounts
from tare.nodes.provider import TOOLS_DIRECTORY
from tare.units import MEBIBYTE, format_byte
from tare.untrusted import figure, object_from_json

_LIMIT_S = 10.0
_VHOST = Path("/dev/vhost-net")
_ROOT = Path("/")
_HUGE_PAGES = Path("sys/kernel/mm/hugepages")


@cache
def qemu_version() -> str:
    """QEMU's version number, read once; ``NodeError`` with the package to install."""
    try:
        done = process.run_checked([PROGRAM, "--version"], timeout_s=_LIMIT_S)
    except NodeError as error:
        raise NodeError(f"{error}; {to_install('qemu-system-x86')}") from error
    match = re.search(r"version (\S+)", done.stdout)
    return match[1] if match else done.stdout.partition("\n")[0]


@cache
def tsc_khz(image_root: Path, root: Path = _ROOT) -> int | None:
    """Rate of the time stamp counter; ``None`` if it is not reported. It stays the same until the host reboots."""
    done = process.run([f"{image_root}{TOOLS_DIRECTORY}/machine"], timeout_s=_LIMIT_S)
    rate = None
    with suppress(ValueError):
        rate = object_from_json(done.stdout).get("tsc_khz")
    return rate if type(rate) is int else constant_khz((root / "proc/cpuinfo").read_text())


def constant_khz(cpuinfo: str) -> int | None:
    """The first processor's rate, if its counter never changes; such a rate is not measured again."""
    flags = re.search(r"^flags\s*:(.*)$", cpuinfo, re.MULTILINE)
    words = set(flags[1].split()) if flags else set()
    rate = re.search(r"^cpu MHz\s*:\s*([\d.]+)$", cpuinfo, re.MULTILINE)
    if rate is None or not {"constant_tsc", "nonstop_tsc"} <= words or "aperfmperf" in words:
        return None
    return round(figure(rate[1]) * 1000)


def uses_vhost(options: QemuOptions, accelerator: Accelerator) -> bool:
    """Whether to use it; ``NodeError`` when requested and the host has none. By default only with KVM, its purpose."""
    there = os.access(_VHOST, os.R_OK | os.W_OK)
    if options.vhost is Vhost.ON and not there:
        raise NodeError(
            f"{_VHOST} cannot be opened: `modprobe vhost_net` as root, or leave the option vhost out"
        )
    if options.vhost is Vhost.ON:
        return True
    wanted = options.vhost is Vhost.AUTO and options.devices is Devices.PARAVIRTUAL
    return wanted and there and accelerator is Accelerator.KVM


def huge_pages_for(memory_byte: int, root: Path = _ROOT) -> Path:
    """A mount of huge pages with enough free for that much memory; ``NodeError`` with the remedy."""
    page_byte = _huge_page_byte((root / "proc/meminfo").read_text())
    if memory_byte % page_byte:
        raise NodeError(
            f"huge pages of {format_byte(page_byte)} do not add up to the guest's {format_byte(memory_byte)}"
        )
    needed, free = memory_byte // page_byte, _free_huge_pages(root, page_byte)
    if free < needed:
        raise NodeError(
            f"the guest needs {needed} huge pages of {format_byte(page_byte)}, and {free} are reserved and free: "
            f"`sysctl vm.nr_hugepages={needed - free}` more, or leave the option huge_pages out"
        )
    mounted = [mount.point for mount in parse_mounts(mounts_text()) if mount.kind == "hugetlbfs"]
    if not mounted:
        raise NodeError("no hugetlbfs is mounted: `mount -t hugetlbfs none /dev/hugepages`")
    return mounted[0]


def _huge_page_byte(meminfo: str) -> int:
    match = re.search(r"^Hugepagesize:\s*(\d+) kB$", meminfo, re.MULTILINE)
    if match is None:
        raise NodeError("this host's kernel has no huge pages; leave the option huge_pages out")
    return int(match[1]) * 1024


def _free_huge_pages(root: Path, page_byte: int) -> int:
    try:
        return int((root / _HUGE_PAGES / f"hugepages-{page_byte // 1024}kB/free_hugepages").read_text())
    except (OSError, ValueError):
        return 0


def monitor_memory_byte(accelerator: Accelerator) -> int:
    """Memory that QEMU itself may use besides the guest's; software emulation keeps translated code too."""
    return (768 if accelerator is Accelerator.TCG else 256) * MEBIBYTE
