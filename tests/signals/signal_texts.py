# SPDX-License-Identifier: Apache-2.0
"""Recorded texts of every family (tests/outputs/README.md), and a place to understand them in."""

from pathlib import Path

from tare.signals.disks import Disks
from tare.signals.family import SignalFamily
from tare.signals.hardware import Energy, Exits, Frequency, Temperature, Throttling
from tare.signals.memory import HostMemory, MemoryLimit, NodeMemory
from tare.signals.network import Interfaces, Queues, Switch, Tcp, TcpExtended
from tare.signals.numa import RemoteMemory
from tare.signals.place import Place
from tare.signals.pressure import HostPressure, NodePressure
from tare.signals.processors import Processors, SoftInterrupts
from tare.signals.quota import Quota, QuotaAbove

FOLDER = Path(__file__).parents[1] / "outputs" / "signals"
NUMA = ("v1", "v1-two", "v2-two")
PLACE = Place(processors=(0, 1))
RECORDED: dict[type[SignalFamily], tuple[str | bytes, ...]] = {
    Quota: ("cpu.stat.v1", "cpu.stat.v2"),
    QuotaAbove: ("cpu.stat.v1", "cpu.stat.v2"),
    NodePressure: ("pressure-cpu", "pressure-io"),
    HostPressure: ("pressure-cpu", "pressure-io"),
    NodeMemory: ("memory.stat.v1", "memory.stat.v2"),
    RemoteMemory: tuple(b"near 0\n" + (FOLDER / f"memory.numa_stat.{name}").read_bytes() for name in NUMA),
    MemoryLimit: ("memory.events", b"17\n"),
    Tcp: ("snmp",),
    TcpExtended: ("netstat",),
    Interfaces: ("net-dev",),
    Switch: ("net-dev",),
    Queues: ("queues.bin",),
    Processors: ("stat",),
    SoftInterrupts: ("softirqs",),
    HostMemory: ("vmstat",),
    Disks: ("diskstats",),
    Frequency: (b"2600000\n",),
    Temperature: (b"54000\n",),
    Throttling: (b"3\n",),
    Energy: (b"123456789\n",),
    Exits: (b"90210\n",),
}
"""Family → names of files, or the text itself where no file is it."""


def text(name: str | bytes) -> bytes:
    return name if isinstance(name, bytes) else (FOLDER / name).read_bytes()


def texts_of(family: SignalFamily) -> list[bytes]:
    return [text(name) for name in RECORDED[type(family)]]
