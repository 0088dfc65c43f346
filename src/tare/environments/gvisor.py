# SPDX-License-Identifier: Apache-2.0
"""gVisor: runsc by hand, with a bundle of our own, in our control group.

Its sandbox process, the sentry, is the node's kernel: the host sees neither the node's processes nor its sockets. It
reads its network namespace once, as it starts. docs/gvisor.md lists the other differences.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Self

from tare.engines import engine, oci_runtime
from tare.environments import gvisor_node
from tare.errors import NodeError
from tare.host import cgroups, mounts, process
from tare.host.removal import remove_what_goes
from tare.host.scratch import scratch_folder
from tare.host.told import process_id
from tare.nodes import confined, layer
from tare.nodes.group import with_sandbox
from tare.nodes.provider import MADE_NETWORKS, TOOLS_DIRECTORY, Node, NodeSpec, Probe, Provider, Victim
from tare.records import NetworkKind, OptionValue

PLATFORMS = ("systrap", "ptrace", "kvm")
"""How the sentry intercepts the node's system calls; the first is runsc's own default."""

_LINK = (
    "link add eth0 type veth peer name nowhere",
    "link set nowhere addrgenmode none up",
    "link set eth0 addrgenmode none up",
    "address add 198.18.0.10/32 dev eth0",
)
"""Commands of ip(8): an interface that leads nowhere. Without one Open MPI finds no address for its own processes to
reach each other, as it ignores gVisor's loopback (docs/gvisor.md)."""

_RUN = Path("/run")
"""The folder for runsc's state of a node: a short path, since it holds a socket, and a plain one, since runsc reads
it as a pattern."""

_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_CAPABILITIES = [
    f"CAP_{name}"
    for name in (
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE"),
        *("NET_RAW", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
    )
]
"""A container's root capabilities, as Docker grants them."""

_NAMESPACES = ("pid", "mount", "ipc", "uts")

_VERSION_LIMIT_S = 10.0
_TRIAL_LIMIT_S = 10.0


class Gvisor(Provider):
    technology = "gvisor"
    networks = (MADE_NETWORKS - {NetworkKind.IPVLAN}) | {NetworkKind.HOST, NetworkKind.DEFAULT}
    """Without ipvlan: gVisor takes the address off the link, and ipvlan delivers by the link's addresses."""
    own_kernel = True
    device_refusal = "gVisor's own kernel shows no device of the host"
    memory_victim = Victim.NODE
    option_names: Mapping[str, str] = {
        "platform": f"how it gets hold of system calls: {', '.join(PLATFORMS)}",
        "runsc": "path of the runsc to use, instead of the one on PATH",
        "storage": engine.STORAGE_HELP,
    }

    def __init__(self, options: Mapping[str, OptionValue] | None = None) -> None:
        """Keep the options for ``probe``; nodes have their own."""
        self._options = options or {}

    def check_options(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        check_storage = engine.check_storage(options)
        if (platform := options.get("platform", PLATFORMS[0])) not in PLATFORMS:
            check_storage["platform"] = f"must be one of {', '.join(PLATFORMS)}, but is {platform!r}"
        if not isinstance(program := options.get("runsc", "runsc"), str) or not program:
            check_storage["runsc"] = f"must be the path of a program, but is {program!r}"
        return check_storage

    def refuse_uncached(self, options: Mapping[str, OptionValue]) -> str | None:  # noqa: ARG002 - whatever they are
        return gvisor_node.CACHES

    def configured(self, options: Mapping[str, OptionValue]) -> Self:
        return type(self)(options)

    def probe(self) -> Probe:
        """The version, and a sandbox that runs true(1): a platform can be present and yet run nothing."""
        probe = confined.probe_root()
        if not probe.usable:
            return probe
        try:
            runsc = _Runsc.of(self._options)
            version = _version(runsc.program)
        except NodeError as error:
            remedy = "run scripts/build-runsc and put build/gvisor on PATH, or install gVisor's runsc"
            return Probe(usable=False, reason=str(error), remedy=remedy)
        if complaint := runsc.complaint():
            return Probe(usable=False, reason=complaint, remedy="choose another platform of gVisor's")
        return Probe(usable=True, version=version)

    def start(self, spec: NodeSpec) -> Node:
        for option, complaint in self.check_options(spec.options).items():
            raise NodeError(f"the option {option} {complaint}")
        if spec.network.rto_min_s is not None:
            raise NodeError(
                "gVisor has a TCP of its own, which no rto_min of a route changes; leave it out here"
            )
        runsc = _Runsc.of(spec.options)
        layer.prepare(spec)
        bundle = configuration(spec, layer.mount_root(spec))
        _make_link(spec)
        oci_runtime.run(replace(spec, bounds=with_sandbox(spec.bounds)), bundle, runsc.run(spec))
        return Node(
            spec=spec,
            init_pid=process_id(_pid_file(spec).read_text(errors="replace"), "runsc"),
            variables=gvisor_node.MPI_VARIABLES,
            facts={"gVisor": f"{_version(runsc.program)}, platform {runsc.platform}"},
            own_kernel=True,
        )

    def prefix(self, node: Node) -> list[str]:
        return [_Runsc.of(node.spec.options).program, f"--root={_state(node.spec)}", "exec", node.spec.name]

    def helpers(self, node: Node) -> list[int]:
        return gvisor_node.kernel_processes(cgroups.own_group(node.spec.name))

    def stop(self, spec: NodeSpec) -> None:
        """Nothing of runsc's outlives its processes except files, so it need not be called."""
        confined.remove(spec)
        mounts.unmount_below(_state(spec))
        remove_what_goes(_state(spec))


def configuration(spec: NodeSpec, root: Path) -> dict[str, Any]:
    """The bundle of a node: root directory, its kind of limits, and the idle first process."""
    return {
        "ociVersion": "1.0.0",
        "process": {
            "user": {"uid": 0, "gid": 0},
            "args": [f"{TOOLS_DIRECTORY}/init"],
            "env": [_PATH],
            "cwd": "/",
            "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), _CAPABILITIES),
        },
        "root": {"path": str(root)},
        "hostname": spec.name,
        "mounts": _mounts(spec, root),
        "linux": {"namespaces": [*({"type": kind} for kind in _NAMESPACES), *oci_runtime.network(spec)]},
    }


def _mounts(spec: NodeSpec, root: Path) -> list[dict[str, Any]]:
    shm = ["nosuid", "nodev", "mode=1777", f"size={spec.shm_byte}"]
    mounted: list[dict[str, Any]] = [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["ro", "nosuid", "nodev"]},
        {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"},
        {"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": shm},
    ]
    if not engine.has_own_storage(spec.options) and _is_plain_folder(root / "tmp"):
        # An empty /tmp would get a file system in gVisor's own memory, and so another medium than the rest.
        mounted.append(oci_runtime.bind(root / "tmp", "/tmp", writable=True))
    return [*mounted, *oci_runtime.shared_mounts(spec)]


def _is_plain_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Runsc:
    """The program and its settings."""

    program: str
    platform: str
    own_storage: bool

    @classmethod
    def of(cls, options: Mapping[str, OptionValue]) -> Self:
        """Read the options; ``NodeError`` if there is no such program."""
        asked = str(options.get("runsc", "runsc"))
        program = shutil.which(asked, path=process.tool_environment()["PATH"])
        if program is None:
            raise NodeError(f"the program {asked!r} is not on this host")
        platform = str(options.get("platform", PLATFORMS[0]))
        return cls(program=program, platform=platform, own_storage=engine.has_own_storage(options))

    def run(self, spec: NodeSpec) -> list[str]:
        """The argv that starts the node and ends once it is up; runsc sets no limits, as ours apply."""
        network = "host" if spec.network.kind is NetworkKind.HOST else "sandbox"
        return [
            *(self.program, f"--root={_state(spec)}", f"--platform={self.platform}", f"--network={network}"),
            *("--ignore-cgroups", *([] if self.own_storage else ["--overlay2=none"])),
            *("run", "--detach", f"--pid-file={_pid_file(spec)}", f"--bundle={spec.directory}", spec.name),
        ]

    def complaint(self) -> str | None:
        """Why a sandbox with the host's root, read-only, cannot run true(1); ``None`` if it can."""
        with scratch_folder("gvisor") as folder:
            argv = [self.program, f"--root={folder}", f"--platform={self.platform}", "--network=none"]
            try:
                done = process.run(
                    [*argv, "--ignore-cgroups", "do", "true"],
                    timeout_s=_TRIAL_LIMIT_S,
                    variables={"TMPDIR": str(folder)},
                )
            except NodeError:
                limit = f"{_TRIAL_LIMIT_S:.0f} s"
                return (
                    f"a sandbox of the platform {self.platform} does not get to its first program in {limit}"
                )
        return f"a sandbox fails: {done.last_words}" if done.code != 0 else None


@cache
def _version(program: str) -> str:
    """The version that it reports."""
    done = process.run_checked([program, "--version"], timeout_s=_VERSION_LIMIT_S)
    return done.stdout.partition("\n")[0].strip()


def _state(spec: NodeSpec) -> Path:
    return _RUN / spec.name


def _pid_file(spec: NodeSpec) -> Path:
    return spec.directory / "sandbox.pid"


def _make_link(spec: NodeSpec) -> None:
    if spec.network.kind is not NetworkKind.NONE or spec.network.namespace is None:
        return
    commands = spec.directory / "link"
    commands.write_text("".join(f"{line}\n" for line in _LINK))
    process.run_checked([*confined.join_network(spec), "ip", "-batch", str(commands)])
