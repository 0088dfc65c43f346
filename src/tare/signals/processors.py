# SPDX-License-Identifier: Apache-2.0
"""The host kernel's work on the processors of the trial: /proc/stat (proc(5)), in ticks of mostly 10 ms."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tare.records import Scope
from tare.signals.family import File, Kind, SignalFamily, TextSource
from tare.signals.place import Place

TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
_COLUMNS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessorTimes:
    """Times of several processors together since the host started, in seconds."""

    working_s: float
    """Work for processes: user (guests included), nice and system."""
    softirq_s: float
    interrupt_s: float
    steal_s: float
    """Time taken by a hypervisor below, if it reports any."""
    iowait_s: float


def parse_times(text: bytes, processors: Sequence[int]) -> ProcessorTimes:
    """Times of these processors of the host; ``ValueError`` if a line is missing or incomplete."""
    # Interrupts have long lines.
    rows = (line.split() for line in text.splitlines() if line.startswith(b"cpu"))
    lines = {parts[0]: parts[1:] for parts in rows}
    sums = dict.fromkeys(_COLUMNS, 0)
    for processor in processors:
        numbers = lines.get(b"cpu%d" % processor, [])
        if len(numbers) < len(_COLUMNS) or not all(number.isdigit() for number in numbers):
            raise ValueError(f"it gives no whole line of processor {processor}")
        for column, number in zip(_COLUMNS, numbers, strict=False):
            sums[column] += int(number)
    return ProcessorTimes(
        working_s=(sums["user"] + sums["nice"] + sums["system"]) * TICK_S,
        softirq_s=sums["softirq"] * TICK_S,
        interrupt_s=sums["irq"] * TICK_S,
        steal_s=sums["steal"] * TICK_S,
        iowait_s=sums["iowait"] * TICK_S,
    )


class Processors(SignalFamily):
    """Times of the trial's processors, and the whole host's context switches."""

    kinds = (
        Kind(name="softirq_s", unit="s", scope=Scope.HOST),
        Kind(name="interrupt_s", unit="s", scope=Scope.HOST),
        Kind(name="host_steal_s", unit="s", scope=Scope.HOST),
        Kind(name="iowait_s", unit="s", scope=Scope.HOST),
        Kind(name="host_switches", unit="1", scope=Scope.HOST),
    )

    def sources(self, place: Place) -> Sequence[TextSource]:  # noqa: ARG002 - the same for every place
        return [File("/proc/stat")]

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:
        times = parse_times(text, place.processors)
        figures = {
            "softirq_s": times.softirq_s,
            "interrupt_s": times.interrupt_s,
            "host_steal_s": times.steal_s,
            "iowait_s": times.iowait_s,
        }
        for line in text.splitlines():
            name, _, number = line.partition(b" ")
            if name == b"ctxt" and number.strip().isdigit():
                figures["host_switches"] = int(number)
        return figures


class SoftInterrupts(SignalFamily):
    """How often the host's kernel had packets to receive, on any processor: NET_RX of /proc/softirqs."""

    kinds = (Kind(name="network_softirqs", unit="1", scope=Scope.HOST),)

    def sources(self, place: Place) -> Sequence[TextSource]:  # noqa: ARG002 - the same for every place
        return [File("/proc/softirqs")]

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:  # noqa: ARG002 - the same for every place
        for line in text.splitlines():
            name, _, rest = line.partition(b":")
            numbers = rest.split() if name.strip() == b"NET_RX" else []
            if numbers and all(number.isdigit() for number in numbers):
                return {"network_softirqs": sum(map(int, numbers))}
        raise ValueError("it has no line NET_RX")
