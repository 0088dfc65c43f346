# SPDX-License-Identifier: Apache-2.0
"""What counts this host's energy: RAPL, by the kernel's powercap (power/powercap/powercap.rst).

A package is a processor's socket; a domain ``dram`` below it is its memory. A platform's domain (``psys``), and
``core`` and ``uncore`` below a package, would count the same energy again.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/")
PACKAGE, MEMORY = "package", "dram"
_FOLDER = "sys/class/powercap"
_ZONE = re.compile(r"intel-rapl:\d+(:\d+)?")
"""``intel-rapl-mmio`` shows the same counters once more. AMD's have this name too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnergyCounter:
    """One counter, in microjoules."""

    name: str
    """Such as "package-0", or "package-0 dram"."""
    kind: str
    """``PACKAGE`` or ``MEMORY``."""
    path: Path
    range_uj: int
    """It begins again at 0 after this value."""


def energy_counters(root: Path = ROOT) -> list[EnergyCounter]:
    """The counters of all packages and of their memory, in the order of their names; an incomplete one is left out."""
    zones = [path for path in sorted((root / _FOLDER).glob("intel-rapl:*")) if _ZONE.fullmatch(path.name)]
    counters = [_counter(zone) for zone in zones]
    return [counter for counter in counters if counter is not None]


def _counter(zone: Path) -> EnergyCounter | None:
    try:
        name = (zone / "name").read_text().strip()
        range_uj = int((zone / "max_energy_range_uj").read_text())
        below = zone.name.count(":") > 1
        above = (zone.parent / zone.name.rpartition(":")[0] / "name").read_text().strip() if below else ""
    except (OSError, ValueError):
        return None
    kind = MEMORY if name == MEMORY and above.startswith(PACKAGE) else PACKAGE
    if range_uj <= 0 or (kind is PACKAGE and (below or not name.startswith(PACKAGE))):
        return None
    return EnergyCounter(
        name=f"{above} {name}".strip(), kind=kind, path=zone / "energy_uj", range_uj=range_uj
    )


def energy(root: Path = ROOT) -> str:
    """The counters in words; "none", with why, where they cannot be read: only root may, since Linux 5.10."""
    counters = energy_counters(root)
    if not counters:
        return "none (no RAPL, as in most virtual machines)"
    names = ", ".join(counter.name for counter in counters)
    try:
        for counter in counters:
            counter.path.read_bytes()
    except OSError as error:
        return f"none ({names} by RAPL cannot be read: {error.strerror})"
    return f"{names} by RAPL"
