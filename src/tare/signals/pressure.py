# SPDX-License-Identifier: Apache-2.0
"""Pressure stall information: how long some, or all, of the active tasks waited for a resource.

The totals in microseconds are used, not the averages, whose windows overlap trials (the kernel's accounting/psi.rst).
It is the union over tasks: two that wait together for a second count one. ``full`` of cpu is undefined for a host.
"""

from collections.abc import Mapping, Sequence

from tare.records import Scope
from tare.signals.family import File, Kind, SignalFamily, TextSource, group_files
from tare.signals.place import Place

_MICROSECOND_S = 1e-6
_FOLDER = "/proc/pressure"


def parse_pressure(text: bytes) -> dict[str, float]:
    """``some`` and ``full`` → seconds so far; ``ValueError`` if both are missing."""
    pressure = {}
    for line in text.decode(errors="replace").splitlines():
        name, *fields = line.split()
        total = dict(field.partition("=")[::2] for field in fields).get("total", "")
        if name in {"some", "full"} and total.isdecimal():
            pressure[name] = int(total) * _MICROSECOND_S
    if not pressure:
        raise ValueError("it holds no total of some or full")
    return pressure


class NodePressure(SignalFamily):
    """Pressure on one resource, in the nodes' control groups."""

    def __init__(self, resource: str) -> None:
        self._resource = resource
        self.kinds = (
            Kind(name=f"psi_{resource}_some_s", unit="s", scope=Scope.NODE, lost_time=True),
            Kind(name=f"psi_{resource}_full_s", unit="s", scope=Scope.NODE),
        )

    def sources(self, place: Place) -> Sequence[TextSource]:
        return group_files(place, "cpu", f"{self._resource}.pressure", unified=True)

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:  # noqa: ARG002 - the same for every place
        return {f"psi_{self._resource}_{name}_s": time_s for name, time_s in parse_pressure(text).items()}


class HostPressure(SignalFamily):
    """Pressure on one resource, on the whole host."""

    def __init__(self, resource: str) -> None:
        self._resource = resource
        self._told = ("some",) if resource == "cpu" else ("some", "full")
        self.kinds = tuple(
            Kind(name=f"host_psi_{resource}_{name}_s", unit="s", scope=Scope.HOST) for name in self._told
        )

    def sources(self, place: Place) -> Sequence[TextSource]:  # noqa: ARG002 - the same for every place
        return [File(f"{_FOLDER}/{self._resource}")]

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:  # noqa: ARG002 - the same for every place
        pressure = parse_pressure(text)
        return {
            f"host_psi_{self._resource}_{name}_s": pressure[name] for name in self._told if name in pressure
        }
