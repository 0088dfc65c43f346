# SPDX-License-Identifier: Apache-2.0
"""Signals: counts from before and after every trial that may explain its loss (docs/signals.md).

In: the running nodes of a trial. Out: signals, and the names of missing ones, each with why. It must not judge, nor
turn a missing value into 0.
"""

from collections.abc import Mapping

from tare.host.energy import MEMORY, PACKAGE
from tare.signals.disks import Disks
from tare.signals.family import SignalFamily
from tare.signals.hardware import Energy, Exits, Frequency, Temperature, Throttling
from tare.signals.memory import HostMemory, MemoryLimit, NodeMemory
from tare.signals.network import Interfaces, Queues, Switch, Tcp, TcpExtended
from tare.signals.numa import RemoteMemory
from tare.signals.pressure import HostPressure, NodePressure
from tare.signals.processors import Processors, SoftInterrupts
from tare.signals.quota import Quota, QuotaAbove

FAMILIES: tuple[SignalFamily, ...] = (
    Quota(),
    QuotaAbove(),
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
    Energy(PACKAGE),
    Energy(MEMORY),
    Exits(),
)
"""All signals read, in the order of the report."""
UNREAD: Mapping[str, str] = {
    "dtlb_misses": "this version does not read the processors' own counters (perf_event_open)",
}
"""Signals that could explain a loss but are not read by this version: named in every trial, with why."""
