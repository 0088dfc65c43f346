# SPDX-License-Identifier: Apache-2.0
"""Guest exits to the hypervisor: KVM's count over all guests of the host, in debugfs, for root only."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tare.measure.signals.family import File, Kind, SignalFamily, TextSource, Unreadable
from tare.measure.signals.hardware import number
from tare.measure.signals.place import Place
from tare.records import Scope


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
