# SPDX-License-Identifier: Apache-2.0
"""What the tools of the technologies print, and what guests say."""

import gzip
import io
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tare.engines import oci_runtime
from tare.environments import custom, docker, openvz, singularity
from tare.environments import qemu as qemu_provider
from tare.environments import vmware as vmware_provider
from tare.environments.libvirt import once, virsh
from tare.environments.qemu import host as qemu_host
from tare.environments.qemu import inside, monitor, processor
from tare.environments.virtualbox import machine as virtualbox
from tare.environments.virtualbox import vboxmanage
from tare.environments.vmware import described as vmware
from tare.environments.vmware.machine import EsxiHost
from tare.environments.xen import own as xen
from tare.environments.xen import xl
from tare.errors import NodeError, TareError
from tare.guests import bzimage, files, route
from tare.guests.group import parse_kills
from tare.guests.modules import ModuleIndex
from tare.host import mounts, process, readings
from tare.network import addresses, functions, reach
from tests.conftest import REPOSITORY
from tests.environments.environment_example import described
from tests.environments.qemu.test_qemu_command import machine
from tests.hostile.target import IN_MEMORY, Target

OUTPUTS = REPOSITORY / "tests" / "outputs"
_SPEC = described(Path("/nowhere/nodes/tare-1"))
_ROUTES = b'[{"dst":"198.18.0.0/15","dev":"eth0","metrics":[{"rto_min":5}]}]'
_MOVED = b'{"byte": 8388608, "s": 0.01, "named": true}'
_QMP = (
    b'{"QMP": {"version": {"qemu": {"micro": 0}}, "capabilities": []}}\n{"return": {}}\n{"timestamp": {}, "event": '
    b'"X"}\n{"return": [{"cpu-index": 0, "thread-id": 17}, {"cpu-index": 1, "thread-id": 18}]}\n'
    b'{"return": {"base-memory": 536870912, "plugged-memory": 0}}\n{"error": {"class": "x", "desc": "no"}}\n'
)
_PIPE_BYTE = 1 << 16
_FLAGS = frozenset({"avx2", "sse4_1"})
_ANSWERS = (
    b'{"QMP": {}}\n{"return": {}}\n{"return": "host-x86_64-cpu", "id": "type"}\n{"return": true, "id": "avx2"}\n'
    b'{"error": {"desc": "no"}, "id": "sse4_1"}\n'
)


def targets() -> Iterator[Target]:
    yield from _of_guests()
    yield from _of_qemu()
    yield from _of_hypervisors()
    yield from _of_containers()
    yield from _of_networks()
    yield from _of_the_host()


def _of_guests() -> Iterator[Target]:
    seen = [path.read_bytes() for path in sorted((OUTPUTS / "qemu").iterdir())]
    yield Target(name="guest's machine", seeds=seen, parse=lambda text: _seen(_text(text)))
    yield Target(name="guest's files", seeds=[b"5\nhello-\n0\n3\nabc", b"-\n-\n-\n-\n"], parse=_files)
    yield Target(
        name="guest's kills", seeds=[_read("signals/vmstat")], parse=lambda text: parse_kills(_text(text))
    )
    yield Target(name="guest's route", seeds=[_ROUTES, b""], parse=lambda text: route.kept_ms(_text(text)))
    kernel = _read("guest/bzimage-head.gz")
    yield Target(name="kernel's file", seeds=[gzip.decompress(kernel)], parse=bzimage.boot_image)
    dependencies = [_read(f"guest/modules/modules.{name}") for name in ("dep", "softdep", "alias", "builtin")]
    yield Target(
        name="kernel's modules",
        seeds=dependencies,
        parse=_modules,
        refusals=(TareError, KeyError),
    )


def _of_qemu() -> Iterator[Target]:
    yield Target(name="QEMU's monitor", seeds=[_QMP], parse=_monitor)
    yield Target(
        name="QEMU's processor",
        seeds=[_ANSWERS],
        parse=lambda text: processor.lacking(_text(text[:_PIPE_BYTE]), _FLAGS),
    )


def _of_hypervisors() -> Iterator[Target]:
    info = _read("vmware/vm-info.json")
    yield Target(name="govc vm.info", seeds=[info], parse=lambda text: vmware.machine(_text(text)))
    parent = {"type": "ClusterComputeResource", "value": "domain-c8"}
    values = {"summary.hardware.cpuMhz": 2294, "summary.config.product.fullName": "ESXi", "parent": parent}
    collected = [{"name": name, "val": value} for name, value in values.items()]
    yield Target(name="govc object.collect", seeds=[json.dumps(collected).encode()], parse=_govc)
    about = b'{"about": {"fullName": "VMware vCenter Server 8"}}'
    yield Target(name="govc about", seeds=[about], parse=lambda text: vmware_provider._name(_text(text)))
    shown = [_read(f"libvirt/test-{name}.txt") for name in ("domifaddr", "dominfo", "vcpuinfo")]
    shown += [b"global_period  : 100000\nglobal_quota   : 50000\n", b"Domain: 'a'\n  cpu.time=1500000000\n"]
    yield Target(name="virsh", seeds=shown, parse=lambda text: _all(_text(text), _VIRSH))
    yield Target(name="virsh dumpxml", seeds=[_read("libvirt/test-domain.xml")], parse=_domain)
    listed = [
        b"Name  ID Mem VCPUs State Time(s)\ntare-1 3 512 2 -b---- 12.3\n",
        b"tare-1 3 0 1 -b- 2.0 0-3 / all\n",
        b"Name ID Weight Cap\ntare-1 3 256 50\n",
        _read("xen/info.txt"),
    ]
    yield Target(name="xl", seeds=listed, parse=lambda text: _all(_text(text), _XL))
    yield Target(name="VBoxManage", seeds=[_read("virtualbox/showvminfo.txt")], parse=_virtualbox)


def _of_containers() -> Iterator[Target]:
    numbers = [b"12345\n", b"12345 overlay2\n", b""]
    yield Target(
        name="docker inspect", seeds=numbers, parse=lambda text: _said(text, lambda: docker._run(_SPEC, []))
    )
    runtimes = [b'{"runc": {"path": "runc"}, "runsc": {"path": "/usr/bin/runsc"}}']
    asked = docker.Docker({"runtime": "runsc"})
    yield Target(name="docker info", seeds=runtimes, parse=lambda text: _said(text, asked._probe_runtime))
    instances = b'{"instances": [{"instance": "tare-1", "pid": 5, "img": "/nowhere/nodes/tare-1/root"}]}'
    yield Target(
        name="singularity",
        seeds=[instances],
        parse=lambda text: _said(text, lambda: singularity._is_listed(_SPEC)),
    )
    yield Target(
        name="OCI runtime's spec",
        seeds=[_read(f"oci/{runtime}-spec.json") for runtime in ("crun", "runc")],
        parse=lambda text: oci_runtime.completed(oci_runtime.parse(text, "runc"), _SPEC, Path("/root")),
    )
    yield Target(
        name="vzlist and prlctl",
        seeds=[
            b"running /nowhere/nodes/tare-1/openvz\n",
            b"prlctl version 7.0.220\n",
            b"vzctl version 4.9\n",
        ],
        parse=lambda text: _said(text, _openvz),
    )
    command = described(options={"init_pid": ["tool"]})
    yield Target(
        name="custom init_pid",
        seeds=numbers,
        parse=lambda text: _said(text, lambda: custom._first_process(command)),
    )


def _of_networks() -> Iterator[Target]:
    shown = _read("network/addresses.json")
    yield Target(
        name="ip address", seeds=[shown, b""], parse=lambda text: addresses.parse_addresses(_text(text))
    )
    yield Target(
        name="ip address, unused",
        seeds=[shown, b""],
        parse=lambda text: functions.unused_among(_text(text)),
    )
    yield Target(
        name="transfer", seeds=[_MOVED], parse=lambda text: reach.read_transfer(_done(text), "198.18.0.1")
    )
    pings = [path.read_bytes() for path in sorted((OUTPUTS / "network").glob("ping-*.txt"))]
    yield Target(
        name="ping", seeds=pings, parse=lambda text: reach.read_round_trip_s(_done(text), "198.18.0.1")
    )


def _of_the_host() -> Iterator[Target]:
    folder = OUTPUTS / "host" / "virtual-machine" / "proc"
    table = (folder / "self" / "mounts").read_bytes()
    yield Target(
        name="mounts",
        seeds=[table],
        parse=lambda text: mounts.parse_mounts(_text(text)),
        refusals=(ValueError,),
    )
    cpuinfo = (folder / "cpuinfo").read_bytes()
    yield Target(name="cpuinfo", seeds=[cpuinfo], parse=_cpuinfo, refusals=(ValueError,))


def _read(name: str) -> bytes:
    return (OUTPUTS / name).read_bytes()


def _text(text: bytes) -> str:
    return text.decode(errors="replace")


def _all(text: str, readers: tuple[Callable[[str], object], ...]) -> None:
    """Every one of them, though the first refuses: a text is of one of them alone."""
    refused = []
    for read in readers:
        try:
            read(text)
        except NodeError as error:
            refused.append(error)
    if len(refused) == len(readers):
        raise refused[0]


_VIRSH = (
    virsh.parse_cpu_s,
    virsh.parse_affinity,
    virsh.parse_memory_byte,
    virsh.parse_quota,
    virsh.parse_address,
)
_XL = (xl.parse_list, xl.parse_affinity, xl.parse_cap, xl.parse_info)


def _seen(text: str) -> None:
    document = inside.parse(text)
    for devices in ("paravirtual", "emulated"):
        list(inside.differences(machine({"devices": devices}), document))
    inside.facts(machine({"devices": "paravirtual"}), document)
    xen.verify("pvh", {**document, "block_devices": [{"drivers": ["vbd"]}]})
    xen._drivers(document)


def _files(text: bytes) -> None:
    folder = Path(tempfile.mkdtemp(prefix="tare-hostile-", dir=IN_MEMORY))
    try:
        files.place(text, folder, ["a", "b/c", "d", "e"])
    finally:
        shutil.rmtree(folder)


def _modules(text: bytes) -> None:
    folder = Path(tempfile.mkdtemp(prefix="tare-hostile-", dir=IN_MEMORY))
    try:
        for name in ("dep", "softdep", "alias", "builtin"):
            (folder / f"modules.{name}").write_bytes(_read(f"guest/modules/modules.{name}"))
        which = "softdep" if b"softdep" in text else "alias" if b"alias " in text else "dep"
        (folder / f"modules.{which}").write_bytes(text)
        ModuleIndex(folder).load_order(["virtio_blk", "overlay"])
    finally:
        shutil.rmtree(folder)


class _Connection:
    """QEMU's socket, of which the whole conversation is known beforehand."""

    def __init__(self, said: bytes) -> None:
        self._said = said

    def makefile(self, _mode: str) -> io.BufferedRWPair:
        return io.BufferedRWPair(io.BytesIO(self._said), io.BytesIO())


def _monitor(text: bytes) -> None:
    asked = monitor.Monitor(_Connection(text))  # type: ignore[arg-type]
    asked.greet()
    monitor.virtual_processors(asked)
    qemu_provider._base_memory_byte(asked)


class _Govc:
    def __init__(self, said: str) -> None:
        self._said = said

    def ask(self, *_: str) -> str:
        return self._said


def _govc(text: bytes) -> None:
    EsxiHost.of(_Govc(_text(text)), "HostSystem:host-1")  # type: ignore[arg-type]


def _domain(text: bytes) -> None:
    once.processor_count(_text(text))
    once.limited(_text(text), (0, 1), 1 << 28, 0.5, pinned=True)


def _virtualbox(text: bytes) -> None:
    result = vboxmanage.parse(_text(text))
    for key in ("cpus", "memory", "cpuexecutioncap"):
        vboxmanage.number(result, key)
    with _answering(virtualbox.VirtualboxMachine, "_told", result), _saying(text):
        own = virtualbox.VirtualboxMachine(described(options={"vm": "m"}))
        own.settings()
        own.facts()
        own.address()


def _done(text: bytes) -> process.Completed:
    return process.Completed(code=0, stdout=_text(text), stderr="")


@contextmanager
def _saying(text: bytes) -> Iterator[None]:
    """Whatever is run prints this."""
    done = _done(text)
    with _answering(process, "run", done), _answering(process, "run_checked", done):
        yield


@contextmanager
def _answering(owner: object, name: str, answer: object) -> Iterator[None]:
    """As ``unittest.mock`` does it, whose object takes longer than most parsers."""
    before = getattr(owner, name)
    setattr(owner, name, lambda *_, **__: answer)
    try:
        yield
    finally:
        setattr(owner, name, before)


def _said(text: bytes, ask: Callable[[], object]) -> None:
    with _saying(text):
        ask()


def _openvz() -> None:
    openvz._status("container")
    for tool in openvz._TOOLS:
        openvz._probe_version(tool)


def _cpuinfo(text: bytes) -> None:
    said = _text(text)
    qemu_host.constant_khz(said)
    readings.flags(said)
    readings.processor_model(said)
