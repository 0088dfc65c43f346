# SPDX-License-Identifier: Apache-2.0
"""Signals: what is counted before and after every trial beside it, and may explain its loss (docs/signals.md).

In: the running nodes of a trial. Out: signals, and the names of those that are missing, each with why. It must not
judge, nor turn what is missing into 0.
"""

from collections.abc import Mapping

from tare.measure.signals.disks import Disks
from tare.measure.signals.exits import Exits
from tare.measure.signals.family import SignalFamily
from tare.measure.signals.hardware import Energy, Frequency, Temperature, Throttling
from tare.measure.signals.host_memory import HostMemory
from tare.measure.signals.memory import MemoryLimit, NodeMemory
from tare.measure.signals.network import Interfaces, Switch, Tcp, TcpExtended
from tare.measure.signals.numa import RemoteMemory
from tare.measure.signals.pressure import HostPressure, NodePressure
from tare.measure.signals.processors import Processors, SoftInterrupts
from tare.measure.signals.queues import Queues
from tare.measure.signals.quota import Quota

FAMILIES: tuple[SignalFamily, ...] = (
    Quota(),
    NodePressure("cpu"),
    NodePressure("io"),
    NodePressure("memory"),
    NodeMemory(),
    MemoryLimit(),
    RemoteMemory(),
    Tcp(),
    TcpExtended(),
    Interfaces(),
    Switch(),
    Queues(),
    Processors(),
    SoftInterrupts(),
    HostPressure("cpu"),
    HostPressure("io"),
    HostPressure("memory"),
    HostMemory(),
    Disks(),
    Frequency(),
    Temperature(),
    Throttling(),
    Energy(),
    Exits(),
)
"""All that are read, in the order in which they are told."""
UNREAD: Mapping[str, str] = {
    "dtlb_misses": "this version does not read the processors' own counters (perf_event_open)",
}
"""Signals that could explain a loss and that this version does not read: named in every trial, with why."""
