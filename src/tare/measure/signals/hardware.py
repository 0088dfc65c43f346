# SPDX-License-Identifier: Apache-2.0
"""Readings of the processors: frequency, temperature, energy, guests' exits. Most virtual machines see none of them."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from tare.measure.signals.family import File, Kind, SignalFamily, TextSource, Unreadable
from tare.measure.signals.place import Place
from tare.records import Scope

_PROCESSORS = Path("/sys/devices/system/cpu")
_KILOHERTZ = 1000.0
_MILLIDEGREE = 0.001
_MICROJOULE = 1e-6
_PACKAGE = re.compile(r"intel-rapl:\d+")


def number(text: bytes) -> int:
    """The single integer in a file; ``ValueError`` for other content."""
    return int(text.decode(errors="replace").strip())


def _of_each(place: Place, folder: Path, name: str) -> list[str]:
    """This file of each of the trial's processors; empty if one lacks it."""
    paths = [f"{folder}/cpu{number}/{name}" for number in place.processors]
    return paths if all(map(os.path.exists, paths)) else []


class Frequency(SignalFamily):
    """Mean frequency of the trial's processors, from the kernel's cpufreq (admin-guide/pm/cpufreq.rst)."""

    kinds = (Kind(name="frequency_hz", unit="Hz", scope=Scope.HOST, level=True),)

    def __init__(self, folder: Path = _PROCESSORS) -> None:
        self._folder = folder

    def sources(self, place: Place) -> Sequence[TextSource]:
        paths = _of_each(place, self._folder, "cpufreq/scaling_cur_freq")
        if not paths:
            raise Unreadable("this host does not tell its processors' frequency (no cpufreq)")
        return [File(path) for path in paths]

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:  # noqa: ARG002 - the same for every place
        return {"frequency_hz": number(text) * _KILOHERTZ}

    def joined(self, values: Sequence[float]) -> float:
        return sum(values) / len(values)


class Temperature(SignalFamily):
    """The highest temperature of the host's thermal zones (the kernel's driver-api/thermal/sysfs-api.rst)."""

    kinds = (Kind(name="temperature_c", unit="°C", scope=Scope.HOST, level=True),)

    def __init__(self, folder: Path = Path("/sys/class/thermal")) -> None:
        self._folder = folder

    def sources(self, place: Place) -> Sequence[TextSource]:  # noqa: ARG002 - the same for every place
        paths = sorted(self._folder.glob("thermal_zone*/temp"))
        if not paths:
            raise Unreadable("this host has no thermal zone")
        return [File(str(path)) for path in paths]

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:  # noqa: ARG002 - the same for every place
        return {"temperature_c": number(text) * _MILLIDEGREE}

    def joined(self, values: Sequence[float]) -> float:
        return max(values)


class Throttling(SignalFamily):
    """How often the trial's processors slowed down for heat (x86: thermal_throttle/core_throttle_count)."""

    kinds = (Kind(name="thermal_throttles", unit="1", scope=Scope.HOST),)

    def __init__(self, folder: Path = _PROCESSORS) -> None:
        self._folder = folder

    def sources(self, place: Place) -> Sequence[TextSource]:
        paths = _of_each(place, self._folder, "thermal_throttle/core_throttle_count")
        if not paths:
            raise Unreadable("this host does not count throttling for heat")
        return [File(path) for path in paths]

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:  # noqa: ARG002 - the same for every place
        return {"thermal_throttles": number(text)}


class Energy(SignalFamily):
    """Energy of all processor packages, by RAPL (the kernel's power/powercap/powercap.rst). Its counter wraps.

    A difference below 0 is a wrap and is left out: about once an hour at full load.
    """

    kinds = (Kind(name="energy_j", unit="J", scope=Scope.HOST),)

    def __init__(self, folder: Path = Path("/sys/class/powercap")) -> None:
        self._folder = folder

    def sources(self, place: Place) -> Sequence[TextSource]:  # noqa: ARG002 - the same for every place
        paths = [path for path in sorted(self._folder.glob("intel-rapl:*")) if _PACKAGE.fullmatch(path.name)]
        if not paths:
            raise Unreadable("this host counts no energy (no RAPL)")
        return [File(str(path / "energy_uj")) for path in paths]

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:  # noqa: ARG002 - the same for every place
        return {"energy_j": number(text) * _MICROJOULE}


class Exits(SignalFamily):
    kinds = (Kind(name="kvm_exits", unit="1", scope=Scope.HOST),)

    def __init__(self, path: Path = Path("/sys/kernel/debug/kvm/exits")) -> None:
        self._path = path

    def sources(self, place: Place) -> Sequence[TextSource]:
        if not place.own_kernel:
            raise Unreadable("the nodes are no guests")
        try:
            there = self._path.exists()
        except PermissionError:
            there = False
        if not there:
            raise Unreadable("this host shows no count of KVM's exits (debugfs, as root, with KVM in use)")
        return [File(str(self._path))]

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:  # noqa: ARG002 - the same for every place
        return {"kvm_exits": number(text)}
