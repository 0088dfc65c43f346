# SPDX-License-Identifier: Apache-2.0
"""Pure readers of the kernel's own reports: text of a file below /proc or /sys → a few words.

Sources: proc(5), cgroups(7), and the kernel's Documentation/ABI for /sys. Each raises ``ValueError`` when the text
does not match those pages.
"""

import re
from collections import Counter
from collections.abc import Mapping

from tare.units import KIBIBYTE

_BRACKETED = re.compile(r"\[([^\]]+)\]")


def keyed(text: str, separator: str = ":") -> dict[str, str]:
    """Read ``key<separator>value`` lines; the first of equal keys counts, as in /proc/cpuinfo's first processor."""
    pairs: dict[str, str] = {}
    for line in text.splitlines():
        key, parted, value = line.partition(separator)
        if parted:
            pairs.setdefault(key.strip(), value.strip())
    return pairs


def required(text: str, key: str) -> str:
    """Read one of ``keyed``'s values."""
    value = keyed(text).get(key)
    if not value:
        raise ValueError(f"it gives no {key}")
    return value


def flags(cpuinfo: str) -> frozenset[str]:
    """Read the CPU flags that every processor of /proc/cpuinfo has (``flags`` on x86, ``Features`` on Arm)."""
    lines = re.findall(r"^(?:flags|Features)\s*:(.*)$", cpuinfo, re.MULTILINE)
    return frozenset.intersection(*(frozenset(line.split()) for line in lines)) if lines else frozenset()


def processor_model(cpuinfo: str) -> str:
    """Name the processors; Arm gives numbers where x86 gives a name."""
    names = Counter(re.findall(r"^(?:model name|cpu model|cpu)\s*:\s*(.+)$", cpuinfo, re.MULTILINE))
    if not names:
        fields = keyed(cpuinfo)
        if "CPU part" not in fields:
            raise ValueError("it names no model")
        names = Counter([f"implementer {fields.get('CPU implementer')}, part {fields['CPU part']}"])
    return ", ".join(names)


def memory_size_byte(meminfo: str, key: str) -> int:
    """Read one size of /proc/meminfo, whose kB are 1024 bytes."""
    amount, _, unit = keyed(meminfo).get(key, "").partition(" ")
    if not amount.isdecimal() or unit != "kB":
        raise ValueError(f"it gives no {key} in kB")
    return int(amount) * KIBIBYTE


def selected(text: str) -> str:
    """Read the choice in brackets, ``always [madvise] never`` → madvise."""
    match = _BRACKETED.search(text)
    if not match:
        raise ValueError("it marks no choice with brackets")
    return match[1]


def control_groups(mounts: str, v2_controllers: str | None) -> str:
    """Say which control-group versions are mounted, with their controllers.

    ``mounts`` is /proc/self/mounts; ``v2_controllers`` the text of the version 2 root's cgroup.controllers.
    """
    entries = [line.split(" ") for line in mounts.splitlines() if line.count(" ") >= 3]  # noqa: PLR2004 - mounts(5)
    legacy: set[str] = set()
    for _, point, kind, options, *_ in entries:
        if kind == "cgroup":
            named = {option for option in options.split(",") if option in point.rsplit("/", 1)[-1].split(",")}
            legacy |= named
    unified = any(entry[2] == "cgroup2" for entry in entries)
    modern = f"version 2: {(v2_controllers or '').strip() or 'no controllers'}" if unified else ""
    old = f"version 1: {' '.join(sorted(legacy))}" if legacy else ""
    return "; ".join(filter(None, (old, modern))) or "none mounted"


def mitigations(vulnerabilities: Mapping[str, str]) -> str:
    """Summarise /sys/devices/system/cpu/vulnerabilities: file name → its text."""
    if not vulnerabilities:
        raise ValueError("the kernel lists no vulnerabilities")
    open_ones = sorted(name for name, state in vulnerabilities.items() if state.startswith("Vulnerable"))
    mitigated = sorted(name for name, state in vulnerabilities.items() if state.startswith("Mitigation"))
    parts = [f"mitigated: {', '.join(mitigated) or 'none'}"]
    if open_ones:
        parts.append(f"vulnerable: {', '.join(open_ones)}")
    return "; ".join(parts)


def virtualization(
    cpu_flags: frozenset[str], *, firmware: str = "", clocksources: str = "", hypervisor: str = ""
) -> str:
    """Say what this host runs on, much as systemd-detect-virt(1) would, from files alone.

    ``firmware``: DMI's vendor and product; ``clocksources``: the kernel's offers, where paravirtual ones name their
    hypervisor; ``hypervisor``: the name in /sys/hypervisor or the device tree. On x86 CPUID's bit decides.
    """
    if named := hypervisor.strip("\0\n "):
        return named
    vendor = next((name for mark, name in _FIRMWARE.items() if mark in firmware), None)
    clock = next((name for mark, name in _CLOCKSOURCES.items() if mark in clocksources.split()), None)
    text = " on ".join(dict.fromkeys(filter(None, (vendor, clock))))
    if "hypervisor" in cpu_flags:
        return text or "a virtual machine of unknown make"
    return text or "none"


_FIRMWARE = {
    "QEMU": "QEMU",
    "KVM": "KVM",
    "VMware": "VMware",
    "VirtualBox": "VirtualBox",
    "Xen": "Xen",
    "Microsoft Corporation Virtual Machine": "Hyper-V",
    "Amazon EC2": "Amazon EC2",
    "Google Compute Engine": "Google Compute Engine",
    "OpenStack": "OpenStack",
    "Bochs": "Bochs",
    "Parallels": "Parallels",
}
_CLOCKSOURCES = {"kvm-clock": "KVM", "hyperv_clocksource_tsc_page": "Hyper-V", "xen": "Xen"}
