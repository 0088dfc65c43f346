# SPDX-License-Identifier: Apache-2.0
"""The facts about this host that every session records beside its figures.

Read from files below /proc, /sys and /etc, without starting a process. A fact that cannot be read says why.
"""

import functools
import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from tare.errors import HostError
from tare.host import devices, readings
from tare.host.cgroups import parse_processors
from tare.host.energy import energy
from tare.units import format_byte, format_duration

ROOT = Path("/")
_CPU = "sys/devices/system/cpu"
_CLOCK = "sys/devices/system/clocksource/clocksource0"
_LABELS = (
    *("kernel", "distribution", "processor", "microcode", "processors online", "SMT", "NUMA nodes"),
    *("governor", "turbo", "virtualization", "container", "clocksource", "control groups", "mitigations"),
)
"""The labels of ``host_facts`` that do not change while the host stays as it is."""
_MACHINE_ID = Path("/etc/machine-id")


@functools.cache
def cpu_flags() -> frozenset[str]:
    """The CPU flags that all processors of this host have; empty when /proc/cpuinfo lists none."""
    try:
        return readings.flags((ROOT / "proc/cpuinfo").read_text())
    except OSError:
        return frozenset()


def online_processors() -> tuple[int, ...]:
    """The processors that this process may use, ascending (sched_getaffinity(2))."""
    return tuple(sorted(os.sched_getaffinity(0)))


def memory_byte() -> int:
    """The host's memory; raises ``HostError`` when /proc/meminfo cannot be read."""
    try:
        return readings.memory_size_byte((ROOT / "proc/meminfo").read_text(), "MemTotal")
    except (OSError, ValueError) as error:
        raise HostError(f"/proc/meminfo does not report this host's memory ({error}); mount /proc") from error


def host_facts(root: Path = ROOT) -> dict[str, str]:
    """Label → value of every fact, always all labels; ``root`` is the folder that holds /proc, /sys and /etc."""
    return {label: _told(fact, root) for label, fact in _FACTS.items()}


def _told(fact: Callable[[Path], str], root: Path) -> str:
    try:
        return fact(root)
    except OSError as error:
        return f"not readable: {error.filename}: {error.strerror}"
    except ValueError as error:
        return f"not readable: {error}"


def _text(root: Path, path: str) -> str:
    return (root / path).read_text(errors="replace").strip()


def _optional(root: Path, path: str) -> str | None:
    try:
        return _text(root, path)
    except OSError:
        return None


def _distribution(root: Path) -> str:
    name = readings.keyed(_text(root, "etc/os-release"), "=").get("PRETTY_NAME")
    if not name:
        raise ValueError("/etc/os-release gives no PRETTY_NAME")
    return name.strip("\"'")


def _processor(root: Path) -> str:
    return readings.processor_model(_text(root, "proc/cpuinfo"))


def _online(root: Path) -> str:
    text = _text(root, f"{_CPU}/online")
    return f"{len(parse_processors(text))} ({text})"


def _threads_per_core(root: Path) -> str:
    active = _optional(root, f"{_CPU}/smt/active")
    if active is not None:
        return "on" if active == "1" else "off"
    siblings = parse_processors(_text(root, f"{_CPU}/cpu0/topology/thread_siblings_list"))
    return "on" if len(siblings) > 1 else "off"


def _governor(root: Path) -> str:
    paths = sorted((root / _CPU).glob("cpu[0-9]*/cpufreq/scaling_governor"))
    if not paths:
        raise ValueError("no frequency scaling is visible here")
    return ", ".join(sorted({path.read_text().strip() for path in paths}))


def _turbo(root: Path) -> str:
    if (off := _optional(root, f"{_CPU}/intel_pstate/no_turbo")) is not None:
        return "off" if off == "1" else "on"
    if (boost := _optional(root, f"{_CPU}/cpufreq/boost")) is not None:
        return "on" if boost == "1" else "off"
    raise ValueError("neither intel_pstate/no_turbo nor cpufreq/boost is here")


def _virtualization(root: Path) -> str:
    names = ("sys/class/dmi/id/sys_vendor", "sys/class/dmi/id/product_name")
    return readings.virtualization(
        readings.flags(_text(root, "proc/cpuinfo")),
        firmware=" ".join(filter(None, (_optional(root, name) for name in names))),
        clocksources=_optional(root, f"{_CLOCK}/available_clocksource") or "",
        hypervisor=_optional(root, "sys/hypervisor/type")
        or _optional(root, "proc/device-tree/hypervisor/compatible")
        or "",
    )


def _container(root: Path) -> str:
    marks = {"run/.containerenv": "podman", ".dockerenv": "docker"}
    if names := [name for mark, name in marks.items() if (root / mark).exists()]:
        return names[0]
    return _optional(root, "run/systemd/container") or "none seen"


def _control_groups(root: Path) -> str:
    mounts = _text(root, "proc/self/mounts")
    points = [line.split(" ")[1] for line in mounts.splitlines() if line.split(" ")[2:3] == ["cgroup2"]]
    controllers = _optional(root, f"{points[0].lstrip('/')}/cgroup.controllers") if points else None
    return readings.control_groups(mounts, controllers)


def _memory(root: Path) -> str:
    meminfo = _text(root, "proc/meminfo")
    sizes = (readings.memory_size_byte(meminfo, key) for key in ("MemTotal", "MemAvailable"))
    total, available = (format_byte(size) for size in sizes)
    return f"{total}, {available} available"


def _swap(root: Path) -> str:
    meminfo = _text(root, "proc/meminfo")
    total, free = (readings.memory_size_byte(meminfo, key) for key in ("SwapTotal", "SwapFree"))
    return f"{format_byte(total)}, {format_byte(total - free)} used" if total else "none"


def _mitigations(root: Path) -> str:
    paths = sorted((root / f"{_CPU}/vulnerabilities").glob("*"))
    mitigations = readings.mitigations({path.name: path.read_text().strip() for path in paths})
    command_line = (_optional(root, "proc/cmdline") or "").split()
    switched = [word for word in command_line if word.startswith("mitigations=")]
    return "; ".join([*switched, mitigations])


def _uptime(root: Path) -> str:
    return format_duration(float(_text(root, "proc/uptime").split(maxsplit=1)[0]))


def _load(root: Path) -> str:
    return " ".join(_text(root, "proc/loadavg").split()[:3])


def _randomization(root: Path) -> str:
    states = {"0": "off", "1": "stack and libraries", "2": "full"}
    value = _text(root, "proc/sys/kernel/randomize_va_space")
    if value not in states:
        raise ValueError(f"randomize_va_space holds {value!r}")
    return states[value]


_FACTS: dict[str, Callable[[Path], str]] = {
    "kernel": lambda root: _text(root, "proc/sys/kernel/osrelease"),
    "distribution": _distribution,
    "processor": _processor,
    "microcode": lambda root: readings.required(_text(root, "proc/cpuinfo"), "microcode"),
    "processors online": _online,
    "SMT": _threads_per_core,
    "NUMA nodes": lambda root: str(len(parse_processors(_text(root, "sys/devices/system/node/online")))),
    "governor": _governor,
    "turbo": _turbo,
    "transparent huge pages": lambda root: readings.selected(
        _text(root, "sys/kernel/mm/transparent_hugepage/enabled")
    ),
    "virtualization": _virtualization,
    "container": _container,
    "clocksource": lambda root: _text(root, f"{_CLOCK}/current_clocksource"),
    "control groups": _control_groups,
    "GPUs": devices.gpus,
    "fabrics": devices.fabrics,
    "energy": energy,
    "memory": _memory,
    "swap": _swap,
    "load average": _load,
    "mitigations": _mitigations,
    "address space randomization": _randomization,
    "uptime": _uptime,
}
"""Label → its reader, in the order of every report."""


def lacking_memory(arms: int, limit_byte: int, meminfo: Path = Path("/proc/meminfo")) -> str | None:
    """Why ``arms`` times ``limit_byte`` do not fit the memory available now (proc(5), MemAvailable); ``None``: they do.

    ``HostError`` when the host does not report it.
    """
    try:
        available_byte = readings.memory_size_byte(meminfo.read_text(), "MemAvailable")
    except (OSError, ValueError) as error:
        raise HostError(f"{meminfo} does not report the available memory ({error}); mount /proc") from error
    if arms * limit_byte <= available_byte:
        return None
    return (
        f"{arms} nodes of {format_byte(limit_byte)} at the same time need {format_byte(arms * limit_byte)}, and this "
        f"host has {format_byte(available_byte)} available; give them less memory, or run them one after the other"
    )


def host_identity(facts: Mapping[str, str], machine_id: Path = _MACHINE_ID) -> str:
    """A digest of the host's lasting facts and its machine-id(5), from which neither can be recovered."""
    try:
        own = machine_id.read_text().strip()
    except OSError:
        own = ""
    text = "\n".join((f"tare calibrate {own}", *(f"{label}: {facts.get(label, '')}" for label in _LABELS)))
    return hashlib.sha256(text.encode()).hexdigest()[:32]
