# SPDX-License-Identifier: Apache-2.0
"""Readings of the processors: frequency, temperature, energy, guests' exits. Most virtual machines see none of them."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from tare.host import energy
from tare.host.energy import PACKAGE, energy_counters
from tare.records import Scope
from tare.signals.family import File, Kind, SignalFamily, TextSource, Unreadable
from tare.signals.place import Place

_PROCESSORS = Path("/sys/devices/system/cpu")
_KILOHERTZ = 1000.0
_MILLIDEGREE = 0.001
_MICROJOULE = 1e-6
ENERGY = "energy_j"


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


class WrappingCounter(TextSource):
    """What a counter has grown by since it was first read, although it begins again at 0 after its range.

    It must be read often enough: only a step of less than half the range counts, as any other may have been a reset.
    """

    def __init__(self, path: str, range_of_it: int) -> None:
        self._file: TextSource = File(path)
        self._range = range_of_it
        self._last: int | None = None
        self._grown = 0
        self._unknown: str | None = None
        """Why the growth is not known."""
        self._by_turns = False

    def read(self) -> bytes:
        if not self._by_turns:
            self._count()
        if self._unknown is not None:
            raise Unreadable(self._unknown)
        return b"%d" % self._grown

    def begin_turn(self) -> None:
        """From the first turn on, only the growth within turns counts."""
        if not self._by_turns:
            self._by_turns, self._grown = True, 0
        self._last = None
        self._count()

    def end_turn(self) -> None:
        self._count()

    def _count(self) -> None:
        last = self._last
        try:
            self._last = number(self._file.read())
        except Unreadable as reason:
            self._unknown = str(reason)
        except ValueError as problem:
            self._unknown = f"what the kernel says is not understood: {problem}"
        else:
            step = 0 if last is None else (self._last - last) % (self._range + 1)
            self._grown += step
            if step > self._range // 2:
                self._unknown = "its count went back during the trial"


class Energy(SignalFamily):
    """Energy by RAPL, of all packages or of all their memory (the kernel's power/powercap/powercap.rst).

    The counters begin again after minutes to an hour at full load, and are also read while the command runs.
    """

    wraps = True

    def __init__(self, kind: str, root: Path | None = None) -> None:
        """``kind``: ``PACKAGE`` or ``MEMORY``; ``root``: ``None`` for this host's."""
        self._kind, self._root = kind, root
        self._name = ENERGY if kind == PACKAGE else "memory_energy_j"
        self.kinds = (Kind(name=self._name, unit="J", scope=Scope.HOST),)

    def sources(self, place: Place) -> Sequence[TextSource]:  # noqa: ARG002 - the same for every place
        counters = [
            counter for counter in energy_counters(self._root or energy.ROOT) if counter.kind == self._kind
        ]
        if not counters:
            what = "energy" if self._kind == PACKAGE else "energy of its memory"
            raise Unreadable(f"this host counts no {what} (no RAPL)")
        return [WrappingCounter(str(counter.path), counter.range_uj) for counter in counters]

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:  # noqa: ARG002 - the same for every place
        return {self._name: number(text) * _MICROJOULE}


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
