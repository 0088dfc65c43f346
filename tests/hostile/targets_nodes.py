# SPDX-License-Identifier: Apache-2.0
"""What nodes say, and what the host's kernel and tracer say of them."""

import json
import os
import select
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tare.environments.fake import Fake
from tare.host.cgroups import parse_processors
from tare.journal import lines
from tare.measure import protocol
from tare.measure.agent import parse_request
from tare.measure.attempt import Attempt
from tare.measure.clock_line import ClockProbe
from tare.measure.clocks import compare, host_start_ns
from tare.measure.inspection import quality_of
from tare.measure.instances import record
from tare.measure.node_pipe import NodePipe
from tare.measure.observation import add_costs
from tare.measure.parity import read_parity
from tare.measure.starts import start_clocks, start_offsets
from tare.measure.steal import parse_schedstat
from tare.measure.stopwatch import Stopwatch
from tare.measure.strace import parse_calls
from tare.measure.turns.slices import answer_of
from tare.measure.verify_limits import _facts
from tare.nodes.provider import Node
from tare.records import Environment, Layout, Limits, Trial, Workload
from tare.signals import FAMILIES
from tare.signals.disks import Disks
from tare.signals.family import SignalFamily
from tare.signals.numa import near_line
from tare.signals.place import Place
from tare.signals.watch import Found, _figures
from tests.conftest import REPOSITORY
from tests.environments.environment_example import described
from tests.hostile.target import Target

OUTPUTS = REPOSITORY / "tests" / "outputs"
_NODE = Node(spec=described(processors=(0,)), init_pid=None)
_PROBES = [ClockProbe(asked_ns=10, node_ns=15, answered_ns=20)]
_CLOCK = {"resolution_ns": 1, "least_step_ns": 20, "readings": 1000, "backward_steps": 0}
_LIMITS = {"nofile": "1024:1048576", "core": "0:unlimited"}
_CONFINEMENT = {
    "seccomp": "2",
    "seccomp_filters": "1",
    "effective_capabilities": "00000000a80425fb",
    "user": "0 0 0 0",
    "no_new_privileges": "0",
    "groups": "0 1",
    "security_label": None,
    "nice": 0,
    "scheduler": 0,
    "io_priority": 4,
    "oom_score_adjustment": "0",
    "timer_slack_ns": 50000,
    "limits": _LIMITS,
    "namespaces": {"mnt": "mnt:[4026531840]", "net": "net:[4026531992]"},
}
READY = {
    "pid": 7,
    "processors": [0, 1],
    "online_processors": 2,
    "hostname": "tare-1",
    "kernel_release": "6.1",
    "uid": 0,
    "shm_byte": 1 << 20,
    "memory_total_byte": 1 << 30,
    "memory_limit_byte": None,
    "cpu_quota": 1.5,
    "variables": ["PATH"],
    "clock_source": "tsc",
    "monotonic_ns": 12345678901,
    "confinement": _CONFINEMENT,
    "transparent_huge_pages": "madvise",
    "mappings": 19,
    "system_call_ns": 90.5,
    "clock_read_ns": 20,
}
DONE = {
    "start_ns": 100,
    "executed_ns": 400_100,
    "end_ns": 2_000_000_100,
    "wall_s": 2,
    "user_s": 1.5,
    "system_s": 0.25,
    "minor_faults": 12,
    "maximum_rss_byte": 4096,
    "major_faults": 0,
    "voluntary_switches": 3,
    "involuntary_switches": 4,
    "exit_code": 0,
    "signal": None,
    "timed_out": False,
    "error": None,
    "leftover_processes": 0,
}
QUALITY = {
    "source": "tsc",
    "tsc_flags": ["constant_tsc"],
    "invariant_tsc": True,
    "pairs": 1,
    "exchanges": 100,
    "clocks": [{"name": "CLOCK_MONOTONIC", **_CLOCK}],
    "backward_exchanges": 0,
    "worst_backward_ns": 0,
}
CLOCKS = {"monotonic_raw_ns": 5, "monotonic_ns": 6, "realtime_ns": 1_700_000_000_000_000_000}
TOOK = {"wall_ns": 90, "begin_ns": 10, "end_ns": 100, "line": "slice 75000000 - - -"}
_SIGNALS = {
    "NodeMemory": ("memory.stat.v1", "memory.stat.v2"),
    "MemoryLimit": ("memory.events",),
    "Quota": ("cpu.stat.v1", "cpu.stat.v2"),
    "Tcp": ("snmp",),
    "TcpExtended": ("netstat",),
    "Interfaces": ("net-dev",),
    "Queues": ("queues.bin",),
    "Processors": ("stat",),
    "SoftInterrupts": ("softirqs",),
    "HostMemory": ("vmstat",),
    "HostPressure": ("pressure-cpu", "pressure-io"),
    "RemoteMemory": ("memory.numa_stat.v1", "memory.numa_stat.v2-two"),
    "Disks": ("diskstats",),
}
"""Family of signals → its recorded texts."""


def targets() -> Iterator[Target]:
    for name, parse, said in (
        ("READY", _ready, READY),
        ("DONE", _done, DONE),
        ("QUALITY", _quality, QUALITY),
        ("CLOCKS", protocol.clock_readings, CLOCKS),
        ("TOOK", _took, TOOK),
        ("STEAL", protocol.steal_s, {"ticks": 12, "ticks_per_s": 100}),
        ("ERROR", protocol.complaint, {"message": "cannot enter"}),
    ):
        yield Target(name=f"stopwatch's {name}", seeds=[json.dumps(said).encode()], parse=parse)
    yield Target(name="stopwatch's PONG", seeds=[b"123456789012345678", b"0"], parse=protocol.clock_ns)
    yield Target(name="stopwatch's lines", seeds=[_conversation()], parse=_lines)
    request = {"node": "tare-1", "command": "PATH=/usr/bin orted -mca ess env"}
    yield Target(name="launch agent", seeds=[json.dumps(request).encode()], parse=parse_request, refusals=())
    tables = [path.read_bytes() for path in sorted((OUTPUTS / "calls").iterdir())]
    yield Target(name="strace's table", seeds=tables, parse=lambda text: parse_calls(_text(text)))
    yield Target(
        name="schedstat", seeds=[b"123 456 7\n"], parse=lambda text: parse_schedstat(_text(text)), refusals=()
    )
    yield Target(
        name="list of processors",
        seeds=[b"0-2,5\n", b"0"],
        parse=lambda text: _short_list(_text(text)),
        refusals=(ValueError,),
    )
    for family in {type(signal_family).__name__: signal_family for signal_family in FAMILIES}.values():
        if type(family).__name__ in _SIGNALS:
            yield _of_family(family)


def _of_family(family: SignalFamily) -> Target:
    name = type(family).__name__
    own = Disks(frozenset({"vda", "sda"})) if name == "Disks" else family
    place = Place(processors=(0, 1), group_processors=((0, 1),))

    texts = [(OUTPUTS / "signals" / text).read_bytes() for text in _SIGNALS[name]]
    seeds = [near_line((0,)) + text for text in texts] if name == "RemoteMemory" else texts
    return Target(
        name=f"signals of {name}",
        seeds=seeds,
        parse=lambda text: _figures(own, place, (text,)),
        refusals=(ValueError, ArithmeticError),
    )


def _text(text: bytes) -> str:
    return text.decode(errors="replace")


def _short_list(text: str) -> None:
    assert len(parse_processors(text)) < 1 << 22


def _ready(line: bytes) -> None:
    seen = protocol.ready(line)
    parity = read_parity(Fake(), _NODE, seen)
    add_costs(Found(), [seen])
    attempt = _attempt()
    attempt.measured.parity = parity
    attempt.measured.facts = _facts(seen, None, None)
    _journalled(attempt)


def _done(line: bytes) -> None:
    said = protocol.done(line)
    if said["error"] is not None:
        return
    host_start_ns(said["start_ns"], _PROBES)
    attempt = _attempt()
    clocks = compare(said["start_ns"], said["end_ns"], _PROBES, _PROBES)
    (offset,) = start_offsets([said], start_clocks([_PROBES]))
    attempt.measured.gathered.runs = [record(0, said, clocks, offset, 1.0)]
    _journalled(attempt)


def _quality(line: bytes) -> None:
    attempt = _attempt()
    attempt.measured.clock_quality = (quality_of(protocol.quality(line), 0, own_clock=True),)
    _journalled(attempt)


def _took(line: bytes) -> None:
    answer_of(protocol.took(line))


def _attempt() -> Attempt:
    trial = Trial(
        identity="b000",
        block=0,
        slot=0,
        environment=Environment(name="e", technology="fake"),
        replicate=0,
        layout=Layout(nodes=1, processors=1, instances=1),
        workload=Workload(name="w", kind="fake"),
        limits=Limits(memory_byte=1, shm_byte=1),
    )
    return Attempt(trial, "sha256:0", Path("/nowhere"))


def _journalled(attempt: Attempt) -> None:
    """What was believed must come out of the journal as it went in: else the next resume fails."""
    outcome = attempt.outcome()
    assert lines.decode(lines.encode(outcome), "journal") == outcome


def _conversation() -> bytes:
    said = (
        ("READY", READY),
        ("QUALITY", QUALITY),
        ("STEAL", {"ticks": None, "ticks_per_s": 100}),
        ("CLOCKS", CLOCKS),
        ("PONG", 17),
        ("TOOK", TOOK),
        ("DONE", DONE),
    )
    return b"".join(f"{word} {json.dumps(fields)}\n".encode() for word, fields in said)


class _Ended:
    """A stopwatch's process that has said all that it says."""

    stdin = None
    stderr: Any = None
    pid = 0

    def __init__(self, descriptor: int) -> None:
        self.stdout = os.fdopen(descriptor, "rb", buffering=0)
        self.stderr = Path(os.devnull).open("rb")  # noqa: SIM115 - closed with the conversation

    def wait(self, timeout: float = 0.0) -> int:  # noqa: ARG002 - as a real one is asked
        return 3


class _HeardPipe(NodePipe):
    """What is said comes from a descriptor, and nobody hears what is sent."""

    def __init__(self, descriptor: int) -> None:
        self._process = _Ended(descriptor)  # type: ignore[assignment]
        self._readable = select.poll()
        self._readable.register(descriptor, select.POLLIN)
        self._received = b""

    def send(self, line: bytes) -> None:
        """To nobody."""

    def close_input(self) -> None:
        """There is none."""

    def close(self) -> None:
        for stream in (self._process.stdout, self._process.stderr):
            stream.close()  # type: ignore[union-attr]


class _Heard(Stopwatch):
    def __init__(self, descriptor: int) -> None:
        self._pipe = _HeardPipe(descriptor)
        self.seen = {}
        self._went_ns = self._done_ns = 0


def _lines(text: bytes) -> None:
    """A whole conversation, as far as the pipe holds it."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    os.write(writing, text[:60_000])
    os.close(writing)
    with _Heard(reading) as heard:
        heard.wait_ready(0.01)
        heard.quality()
        heard.steal_s()
        heard.await_clocks()
        heard._probe_once()
        heard.await_took(0.01)
        heard.done()
