# SPDX-License-Identifier: Apache-2.0
"""The list of planted causes: in which environment, with which program, and which known cause it is.

The programs are short: one run is many of them.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench import plants
from bench.planted_size import Reference
from tare.nodes.provider import TOOLS_DIRECTORY, Provider
from tare.records import Environment, NetworkKind, OptionValue, Storage, Turns, Way, Workload

PLANTED, WORK = "planted", "work"
_NODES = Path("/sys/devices/system/node")
_FILTER_RULES = 500
_TURNS = Turns(slice_s=0.006, rounds=22, processes=2)
"""As in the preset ``quick``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plant:
    """One cause, planted."""

    cause: str | None
    """Name of the known cause; ``None``: nothing is planted."""
    workload: Workload
    metric: str = "wall_s"
    """Of the claim that is to be explained."""
    technology: str = "docker"
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    """``{folder}`` is where ``files`` are."""
    network: NetworkKind = NetworkKind.NONE
    providers: tuple[Provider, ...] = ()
    """What takes the place of technologies of the same names."""
    layout: str = "1c1p1i"
    storage: Storage = Storage.TMPFS
    shm_mebibyte: int = 64
    turns: Turns | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    size: Reference | None = None
    """How large it is by itself, where that can be measured without Tare."""
    missing: Callable[[], str | None] = lambda: None
    """Why this host cannot have it."""

    def environment(self, folder: Path) -> Environment:
        """Writes its files into ``folder``."""
        for name, text in self.files.items():
            (folder / name).write_text(text)
        options = {
            name: value.replace("{folder}", str(folder)) if isinstance(value, str) else value
            for name, value in self.options.items()
        }
        return Environment(name=PLANTED, technology=self.technology, options=options, network=self.network)


def _command(*argv: str) -> Workload:
    return Workload(name=WORK, kind="command", options={"argv": list(argv)})


def _slices(kind: str, piece: str) -> Workload:
    return Workload(name=WORK, kind=kind, options={"pieces": [piece]}, way=Way.SLICES)


def _burn(iterations: int) -> Workload:
    """0.12 s for each 100 million."""
    return _command("{tools}/burn", str(iterations))


_PING_PONG = """
use IO::Socket::INET; use Socket qw(IPPROTO_TCP TCP_NODELAY);
my $door = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") or die "listen: $!";
if (!fork) {
    my $far = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $door->sockport) or die "connect: $!";
    setsockopt($far, IPPROTO_TCP, TCP_NODELAY, 1);
    for (1 .. 12000) { syswrite($far, "x"); sysread($far, my $word, 1) or die }
    exit 0;
}
my $near = $door->accept or die "accept: $!";
setsockopt($near, IPPROTO_TCP, TCP_NODELAY, 1);
for (1 .. 12000) { sysread($near, my $word, 1) or die; syswrite($near, "x") }
wait; exit($? >> 8);
"""
_SMALL_WRITES = f"""
use IO::Handle;
my $sum = 0;
open(my $log, ">", "log") or die "log: $!";
for my $turn (1 .. 1500) {{
    $sum += $_ for 1 .. 3000;
    syswrite($log, "$sum\\n");
    $log->sync if $ENV{{{plants.SYNCHRONOUS}}};
}}
"""
_LOGGED = """
use IO::Handle;
STDOUT->autoflush;
open(my $log, ">", "log") or die "log: $!";
while (<STDIN>) {
    my $sum = 0;
    for my $turn (1 .. 40) {
        $sum += $_ for 1 .. 3000;
        syswrite($log, "$sum\\n");
        $log->sync or die "sync: $!";
    }
    print "$sum\\n";
}
"""
_SLICES = f"{TOOLS_DIRECTORY}/slices"
_FORKS = Reference(operation="fork and exit", program=(_SLICES,), turn="fork-exit 100", operations=120)
_SYNCS = Reference(
    operation="an iteration of 40 fsyncs",
    program=("perl", "-e", _LOGGED.replace("1 .. 40", "1 .. 320")),
    operations=8,
)
"""Eight at once, so that the time of asking, a thirtieth of one, does not count as native."""
_CHASE = Reference(
    operation="a step of the pointer chase",
    program=(_SLICES, "--huge-pages", "on"),
    turn=f"chase:{128 << 20}:64 30000",
    operations=36_000,
)
"""As long as a slice with Tare: a longer one finds more of the page tables in the cache. A fifth is to warm up."""
_CLOCK_READINGS = "use Time::HiRes qw(clock_gettime); for (1 .. 1_000_000) { clock_gettime(1) }"
_TOUCHED_PAGES = """
import mmap
size = 64 << 20
for turn in range(6):
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(mmap.MADV_HUGEPAGE)
        memory[::4096] = bytes(size // 4096)
        for again in range(5):
            sum(memory[::4096])
"""
"""Huge pages are asked for, as most kernels give none unasked."""
_FIRST_TOUCHES = """
import mmap, sys
size = 128 << 20
for line in sys.stdin:
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(mmap.MADV_HUGEPAGE)
        memory[::4096] = bytes(size // 4096)
    print("touched", flush=True)
"""
"""Beyond all caches, where it matters who touched the same pages before."""
_TOUCHES = Reference(
    operation="first touching 128 MiB", program=("python3", "-c", _FIRST_TOUCHES), operations=1
)
_FULL_SHM = """
for turn in 1 2 3 4 5 6; do
    if fallocate -l 48M /dev/shm/part; then
        dd if=/dev/zero of=/dev/shm/part bs=1M count=48 conv=notrunc || exit 1
    else
        dd if=/dev/zero of=part bs=1M count=48 conv=fsync || exit 1
    fi
    rm -f /dev/shm/part part
done 2>&1
"""
"""It falls back to the disk when /dev/shm is full. Open MPI in a node without a network would not start."""


def _profile() -> str:
    """A filter that looks at the arguments of reading and writing: the kernel cannot keep its answer for a call."""
    rules = [
        {
            "names": ["read", "write"],
            "action": "SCMP_ACT_ERRNO",
            "args": [{"index": 2, "value": 1_000_000_000 + number, "op": "SCMP_CMP_EQ"}],
        }
        for number in range(_FILTER_RULES)
    ]
    return json.dumps({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": rules})


def _other_node() -> int | None:
    """A NUMA node beside the first that has memory."""
    names = (entry.name.removeprefix("node") for entry in _NODES.glob("node*"))
    numbers = [int(name) for name in names if name.isdigit()]
    return max(numbers) if len(numbers) > 1 else None


def _one_node_only() -> str | None:
    return None if _other_node() is not None else "this host has one NUMA node, so no memory is remote"


PLANTS: Mapping[str, Plant] = {
    "refused-copy": Plant(
        cause="refused-single-copy",
        workload=_slices("messages", "messages"),
        metric="message bandwidth",
        layout="1c2p1i",
        shm_mebibyte=256,
        turns=_TURNS,
    ),
    "weight": Plant(
        cause="cpu-weight",
        workload=_burn(40_000_000),
        options={"arguments": "--cpu-shares 64"},
        providers=(plants.ContestedNative(), plants.ContestedDocker()),
    ),
    "small-pages": Plant(
        cause="no-huge-pages",
        workload=_command("python3", "-c", _TOUCHED_PAGES),
        technology=plants.SmallPages.technology,
        providers=(plants.SmallPages(),),
    ),
    "small-pages-touched": Plant(
        cause="no-huge-pages",
        workload=Workload(
            name=WORK,
            kind="command",
            options={"argv": ["python3", "-c", _FIRST_TOUCHES], "turns": True},
            way=Way.SLICES,
        ),
        metric="iteration",
        technology=plants.SmallPages.technology,
        providers=(plants.SmallPages(),),
        turns=_TURNS,
        size=_TOUCHES,
    ),
    "small-pages-of-memory": Plant(
        cause="no-huge-pages",
        workload=Workload(
            name=WORK,
            kind="memory",
            options={"operations": ["chase"], "sizes": ["128 MiB"], "huge_pages": True},
            way=Way.SLICES,
        ),
        metric="pointer chase of 128 MiB and more",
        technology=plants.SmallPages.technology,
        providers=(plants.SmallPages(),),
        turns=_TURNS,
        size=_CHASE,
    ),
    "quota": Plant(cause="cpu-quota", workload=_burn(150_000_000), options={"arguments": "--cpus 0.5"}),
    "synchronous": Plant(
        cause="synchronous-writes",
        workload=_command("perl", "-e", _SMALL_WRITES),
        technology=plants.SynchronousWrites.technology,
        providers=(plants.SynchronousWrites(),),
        storage=Storage.DISK,
    ),
    "lost-packets": Plant(
        cause="tcp-timeout",
        workload=_command("perl", "-e", _PING_PONG),
        technology=plants.LostPackets.technology,
        network=NetworkKind.VETH,
        providers=(plants.LostPackets(),),
    ),
    "slow-clock": Plant(
        cause="slow-clock",
        workload=_command("perl", "-e", _CLOCK_READINGS),
        technology=plants.SlowClock.technology,
        providers=(plants.SlowClock(),),
    ),
    "filter": Plant(
        cause="system-call-filter",
        workload=_command("dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=400000"),
        options={"seccomp": "{folder}/profile.json"},
        files={"profile.json": _profile()},
    ),
    "slow-fork": Plant(
        cause="system-call-filter",
        workload=_slices("os", "fork-exit"),
        metric="fork and exit",
        technology="slow-fork",
        providers=(plants.SupervisedCall("slow-fork", "clone", 50),),
        turns=_TURNS,
        size=_FORKS,
    ),
    "mappings": Plant(
        cause="extra-mappings",
        workload=_slices("os", "fork-exit"),
        metric="fork and exit",
        technology=plants.Agent.technology,
        options={"variables": ["LD_PRELOAD=/opt/agent/agent.so"]},
        providers=(plants.Agent(),),
        turns=_TURNS,
        size=_FORKS,
    ),
    "slow-fsync": Plant(
        cause="system-call-filter",
        workload=Workload(
            name=WORK,
            kind="command",
            options={"argv": ["perl", "-e", _LOGGED], "turns": True},
            way=Way.SLICES,
        ),
        metric="iteration",
        technology="slow-fsync",
        providers=(plants.SupervisedCall("slow-fsync", "fsync", 100),),
        turns=_TURNS,
        size=_SYNCS,
    ),
    "small-shm": Plant(
        cause="small-shm",
        workload=_command("sh", "-c", _FULL_SHM),
        options={"arguments": "--shm-size 1m"},
        storage=Storage.DISK,
    ),
    "remote-memory": Plant(
        cause="remote-memory",
        workload=_slices("memory", "random"),
        metric="random access",
        options={"arguments": f"--cpuset-mems {_other_node()}"},
        turns=_TURNS,
        missing=_one_node_only,
    ),
}
NONE: Mapping[str, Plant] = {
    "nothing": Plant(
        cause=None,
        workload=_burn(150_000_000),
        technology=plants.Nothing.technology,
        providers=(plants.Nothing(),),
    ),
    "nothing, by TCP": Plant(
        cause=None,
        workload=_command("perl", "-e", _PING_PONG),
        technology=plants.Nothing.technology,
        providers=(plants.Nothing(),),
    ),
}
"""Of which no cause may be named."""
