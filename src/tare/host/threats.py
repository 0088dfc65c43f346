# SPDX-License-Identifier: Apache-2.0
"""What on this host threatens a measurement, and what to do about it.

The judgements follow what benchmarking guides agree on (the Linux kernel's admin-guide on cpufreq and transparent
huge pages; pyperf's and LLVM's system tuning pages): steady clock, no neighbours, no surprises from memory.
"""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tare.units import GIBIBYTE, format_byte

LOAD_PER_PROCESSOR = 0.5
FREE_BYTE = 5 * GIBIBYTE
"""Room for the image, its builder and a campaign's output."""
_NULL = (1, 3)
"""Device number of /dev/null, null(4)."""
_STEADY_CLOCKS = frozenset(
    {"tsc", "kvm-clock", "arch_sys_counter", "xen", "timebase", "hyperv_clocksource_tsc_page"}
)
_NEEDED_CONTROLLERS = ("cpuset", "cpu", "memory")
_UNREADABLE = "not readable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Threat:
    """One thing that can spoil a measurement here."""

    subject: str
    """The fact concerned, such as "governor"."""
    remark: str
    """The statement about the subject, such as "is powersave: the clock follows the load"."""
    remedy: str


def find_threats(facts: Mapping[str, str], processors: int) -> list[Threat]:
    """Judge the facts of ``host_facts``; a fact that could not be read threatens nothing."""
    readable = {label: value for label, value in facts.items() if not value.startswith(_UNREADABLE)}
    threats = []
    for subject, judge in _JUDGES.items():
        if subject in readable and (said := judge(readable[subject], processors)):
            threats.append(Threat(subject=subject, remark=said[0], remedy=said[1]))
    return threats


_Said: TypeAlias = tuple[str, str] | None


def _governor(value: str, _: int) -> _Said:
    if value == "performance":
        return None
    return f"is {value}: the clock follows the load", "cpupower frequency-set --governor performance"


def _turbo(value: str, _: int) -> _Said:
    if value == "off":
        return None
    return (
        "is on: the clock depends on temperature and on how many cores work",
        "leave it for everyday figures; switch it off (cpufreq/boost or intel_pstate/no_turbo) for small differences",
    )


def _threads(value: str, _: int) -> _Said:
    if value == "off":
        return None
    return (
        "is on: two processors of a layout may be threads of one core",
        "echo off > /sys/devices/system/cpu/smt/control, or read layouts as threads",
    )


def _huge_pages(value: str, _: int) -> _Said:
    if value != "always":
        return None
    return (
        "are given whenever some are free, so memory-bound figures depend on what ran before",
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
    )


def _load(value: str, processors: int) -> _Said:
    try:
        last_minute = float(value.split(maxsplit=1)[0])
    except (ValueError, IndexError):
        return None
    if last_minute <= LOAD_PER_PROCESSOR * processors:
        return None
    return (
        f"is {last_minute:g} on {processors} processors: something else is running",
        "see top; end it or wait",
    )


def _swap(value: str, _: int) -> _Said:
    if value == "none":
        return None
    return f"is on ({value}): a node at its memory limit gets slow instead of failing", "swapoff --all"


def _clock(value: str, _: int) -> _Said:
    if value in _STEADY_CLOCKS:
        return None
    return (
        f"is {value}: each look at the clock costs a microsecond or more",
        "see dmesg for why tsc was given up",
    )


def _virtualization(value: str, _: int) -> _Said:
    if value == "none":
        return None
    return (
        f"is {value}: unseen neighbours may take this host's time",
        "trust the noise floor of the report, or measure on a machine of your own",
    )


def _control_groups(value: str, _: int) -> _Said:
    words = set(value.replace(";", " ").replace(":", " ").split())
    missing = [name for name in _NEEDED_CONTROLLERS if name not in words]
    if not missing:
        return None
    return (
        f"lack {', '.join(missing)}: nodes cannot be held to their limits",
        "mount them, or boot with systemd.unified_cgroup_hierarchy=1",
    )


_JUDGES: dict[str, Callable[[str, int], _Said]] = {
    "governor": _governor,
    "turbo": _turbo,
    "SMT": _threads,
    "transparent huge pages": _huge_pages,
    "load average": _load,
    "swap": _swap,
    "clocksource": _clock,
    "virtualization": _virtualization,
    "control groups": _control_groups,
}


def device_threats(null: Path = Path("/dev/null")) -> Iterator[Threat]:
    """Yield a threat when ``null`` is no longer the null device: a root program may have overwritten it."""
    try:
        status = null.stat()
    except OSError as error:
        remark = f"cannot be looked at: {error.strerror}"
    else:
        if stat.S_ISCHR(status.st_mode) and (os.major(status.st_rdev), os.minor(status.st_rdev)) == _NULL:
            return
        remark = "is not the null device: what programs throw away is kept, or fails"
    yield Threat(subject=str(null), remark=remark, remedy=f"rm -f {null} && mknod -m 666 {null} c 1 3")


def space_threats(directory: Path, free_byte: Callable[[Path], int] | None = None) -> Iterator[Threat]:
    """Yield a threat when the file system that holds, or will hold, ``directory`` is nearly full."""
    there = next(path for path in (directory, *directory.parents) if path.exists())
    left_byte = (free_byte or _free_byte)(there)
    if left_byte < FREE_BYTE:
        remark = f"has {format_byte(left_byte)} free; an image and a campaign want {format_byte(FREE_BYTE)}"
        yield Threat(
            subject=str(directory), remark=remark, remedy="free some, or set TARE_STATE to a folder elsewhere"
        )


def _free_byte(path: Path) -> int:
    file_system = os.statvfs(path)
    return file_system.f_bavail * file_system.f_frsize
