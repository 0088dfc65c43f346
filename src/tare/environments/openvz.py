# SPDX-License-Identifier: Apache-2.0
"""OpenVZ: a container whose private area is the node's own root, by prlctl(8) (OpenVZ 7) or the older vzctl(8).

Written from the tools' manual pages (prlctl(8), vzctl(8), vzlist(8), ve.conf(5), ctid.conf(5)) and their sources, and
never run on an OpenVZ kernel: the tests drive it through transcripts based on these.
"""

import hashlib
import re
import shutil
import uuid
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path

from tare.errors import NodeError
from tare.host import cgroups, mounts, process
from tare.host.privileges import ordinary_user
from tare.nodes import layer, root_mounts
from tare.nodes.provider import (
    MADE_NETWORKS,
    TOOLS_DIRECTORY,
    WORK_DIRECTORY,
    Node,
    NodeGroup,
    NodeSpec,
    Probe,
    Provider,
)
from tare.records import NetworkKind

_KERNEL = Path("/proc/vz")
_CONFIGURATIONS = Path("/etc/vz/conf")
_RUNNING = Path("/var/run/ve")
_PROCESSES = Path("/proc")
_PROBE_LIMIT_S = 5.0
_RESERVED = 1_000_000_000
"""Container numbers begin here: far from people's own choices, and below vzctl's limit of 2147483644."""


class Openvz(Provider):
    technology = "openvz"
    own_limits = True
    bounds_processes = False
    option_names: Mapping[str, str] = {}
    networks = MADE_NETWORKS | {NetworkKind.DEFAULT}
    makes_namespace = True

    def probe(self) -> Probe:
        if ordinary_user():
            return Probe(usable=False, reason="vzctl and prlctl need root", remedy="run as root")
        tool = _installed()
        if tool is None:
            return Probe(
                usable=False,
                reason="neither prlctl nor vzctl is on this host",
                remedy="use a host with OpenVZ 7 or Virtuozzo, or vzctl 4.8 and its kernel; Debian 12 has neither",
            )
        if not _KERNEL.exists():
            reason = f"this kernel is not OpenVZ's: {_KERNEL} is missing"
            return Probe(usable=False, reason=reason, remedy="boot the kernel of OpenVZ")
        return _probe_version(tool)

    def start(self, spec: NodeSpec) -> Node:
        tool = _tool()
        if _status(tool.identity(spec)) is not None:
            raise NodeError(f"there is a container {tool.identity(spec)} already, and it is not this node's")
        layer.prepare(spec)
        tool.start(spec, layer.mount_root(spec))
        return Node(spec=spec, init_pid=tool.init_pid(spec))

    def prefix(self, node: Node) -> list[str]:
        return _tool().enter(node.spec)

    def group(self, node: Node) -> NodeGroup | None:
        """``None`` with vzctl, whose limits are beancounters of the kernel and not control groups."""
        return super().group(node) if _tool().has_groups else None

    def stop(self, spec: NodeSpec) -> None:
        tool = _installed()
        started = (spec.directory / "layer").exists()
        if tool is not None and started and (status := _status(tool.identity(spec))) is not None:
            state, private = status
            if private == tool.private(spec):
                tool.remove(spec, running=state == "running")
        layer.remove(spec)


class _Tool(ABC):
    """One of the two command lines."""

    program: str
    pattern: str
    """The format of ``--version``; the groups are major and minor."""
    least: tuple[int, int]
    has_groups: bool
    """Whether a container has control groups of its own."""

    @abstractmethod
    def identity(self, spec: NodeSpec) -> str:
        """The container's name in vzlist; derived from the node's name alone."""

    @abstractmethod
    def private(self, spec: NodeSpec) -> Path:
        """The container's private area, which identifies it as ours."""

    @abstractmethod
    def start(self, spec: NodeSpec, root: Path) -> None: ...

    @abstractmethod
    def enter(self, spec: NodeSpec) -> list[str]:
        """The prefix; unlike ``exec`` and ``exec2``, it must not join its arguments to one line for a shell."""

    @abstractmethod
    def init_pid(self, spec: NodeSpec) -> int | None: ...

    @abstractmethod
    def remove(self, spec: NodeSpec, *, running: bool) -> None: ...


class _Prlctl(_Tool):
    program = "prlctl"
    pattern = r"prlctl version (\d{1,6})\.(\d{1,6})"
    least = (7, 0)
    has_groups = True

    def identity(self, spec: NodeSpec) -> str:
        return str(uuid.uuid5(uuid.NAMESPACE_OID, spec.name))

    def private(self, spec: NodeSpec) -> Path:
        return spec.directory / "openvz"

    def start(self, spec: NodeSpec, root: Path) -> None:
        """Use a registered directory (layout 4 of vzctl) rather than a disk image made from a template."""
        private = self.private(spec)
        for folder in ("fs", "dump", "scripts"):
            (private / folder).mkdir(parents=True)
        (private / ".ve.layout").symlink_to("4")
        (private / "ve.conf").write_text(_configuration(spec, private, self.identity(spec)))
        _make_first(root)
        mounts.bind(root, private / "fs", writable=True)
        process.run_checked(["prlctl", "register", str(private), "--uuid", self.identity(spec)])
        process.run_checked(["prlctl", "set", self.identity(spec), *_prlctl_limits(spec)])
        process.run_checked(["prlctl", "start", self.identity(spec)], timeout_s=120)
        # The container mounts its own /dev over whatever was there before.
        shm = ["mount", "-t", "tmpfs", "-o", f"nosuid,size={spec.shm_byte},mode=1777", "tare", "/dev/shm"]
        for argv in (["mkdir", "-p", "/dev/shm"], shm):
            process.run_checked([*self.enter(spec), *argv])

    def enter(self, spec: NodeSpec) -> list[str]:
        return ["prlctl", "exec", self.identity(spec), "--without-shell"]

    def init_pid(self, spec: NodeSpec) -> int | None:
        try:
            return int((_RUNNING / f"{self.identity(spec)}.init.pid").read_text())
        except (OSError, ValueError):
            return None

    def remove(self, spec: NodeSpec, *, running: bool) -> None:
        """Unregister it, never delete it: the user's own directories are bound below the private area."""
        if running:
            process.run_checked(["prlctl", "stop", self.identity(spec), "--kill"], timeout_s=120)
        process.run_checked(["prlctl", "unregister", self.identity(spec)])


class _Vzctl(_Tool):
    program = "vzctl"
    pattern = r"vzctl version (\d{1,6})\.(\d{1,6})"
    least = (4, 8)  # the first with --skip-remount
    has_groups = False

    def identity(self, spec: NodeSpec) -> str:
        digest = hashlib.sha256(spec.name.encode()).hexdigest()
        return str(_RESERVED + int(digest, 16) % _RESERVED)

    def private(self, spec: NodeSpec) -> Path:
        return spec.directory / "root"

    def start(self, spec: NodeSpec, root: Path) -> None:
        """``set --save`` makes the configuration of an existing private area; ``create`` refuses it."""
        container, mounted = self.identity(spec), _mounted(spec)
        _make_first(root)
        process.run_checked(["vzctl", "set", container, "--save", *_vzctl_settings(spec)])
        process.run_checked(["vzctl", "mount", container])
        root_mounts.populate_dev(mounted / "dev", spec.shm_byte)
        root_mounts.mount_shared(spec, mounted)
        process.run_checked(["vzctl", "start", container, "--skip-remount"], timeout_s=120)

    def enter(self, spec: NodeSpec) -> list[str]:
        return ["vzctl", "--quiet", "exec3", self.identity(spec)]

    def init_pid(self, spec: NodeSpec) -> int | None:
        """The process that is number 1 in its container (``envID`` and ``VPid``: lines of an OpenVZ kernel)."""
        wanted = {"envID": self.identity(spec), "VPid": "1"}
        for path in _PROCESSES.glob("[0-9]*/status"):
            try:
                lines = path.read_text(errors="replace").splitlines()
            except OSError:
                continue
            init_pid = {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}
            if wanted.items() <= init_pid.items():
                return int(path.parent.name)
        return None

    def remove(self, spec: NodeSpec, *, running: bool) -> None:
        """``destroy`` deletes the private area with everything mounted there, so it runs when nothing is."""
        container = self.identity(spec)
        if running:
            process.run_checked(["vzctl", "stop", container, "--fast"], timeout_s=120)
        process.run(["vzctl", "umount", container])
        layer.remove(spec)
        process.run_checked(["vzctl", "destroy", container])
        (_CONFIGURATIONS / f"{container}.conf.destroyed").unlink(missing_ok=True)


_TOOLS: tuple[_Tool, ...] = (_Prlctl(), _Vzctl())
"""OpenVZ 7 also has a vzctl, which is another program: prlctl is looked for first."""


def _installed() -> _Tool | None:
    path = process.tool_environment()["PATH"]
    return next((tool for tool in _TOOLS if shutil.which(tool.program, path=path)), None)


def _tool() -> _Tool:
    tool = _installed()
    if tool is None:
        raise NodeError("neither prlctl nor vzctl is on this host any more")
    return tool


def _probe_version(tool: _Tool) -> Probe:
    try:
        said = process.run_checked([tool.program, "--version"], timeout_s=_PROBE_LIMIT_S).stdout.strip()
    except NodeError as error:
        return Probe(usable=False, reason=str(error), remedy=f"reinstall {tool.program}")
    match = re.match(tool.pattern, said)
    if match is None or (int(match[1]), int(match[2])) < tool.least:
        least = ".".join(map(str, tool.least))
        reason = f"{tool.program} is of an unknown or too old version: {said[:80] or 'it printed nothing'}"
        return Probe(usable=False, reason=reason, remedy=f"install {tool.program} {least} or later")
    return Probe(usable=True, version=said)


def _status(container: str) -> tuple[str, Path] | None:
    """The container's status and private area (vzlist(8)); ``None`` if there is none of this name."""
    argv = ["vzlist", "--all", "--no-header", "--output", "status,private", container]
    done = process.run(argv)
    if done.code != 0 and "not found" in done.stderr:
        return None
    state, _, private = done.stdout.strip().partition(" ")
    if done.code != 0 or not private:
        raise NodeError(f"cannot ask vzlist for the container {container}: {done.last_words}")
    return state, Path(private.strip())


def _mounted(spec: NodeSpec) -> Path:
    """VE_ROOT: the tool's mount point for the private area."""
    return spec.directory / "mounted"


def _make_first(root: Path) -> None:
    """Make /sbin/init, which containers start; the folder may be a link, which must not lead out of the root."""
    folder = (root / "sbin").resolve()
    if not folder.is_relative_to(root.resolve()):
        raise NodeError(
            "the image's /sbin is an absolute link; OpenVZ needs an image whose /sbin/init can be set"
        )
    (folder / "init").unlink(missing_ok=True)
    (folder / "init").symlink_to(f"{TOOLS_DIRECTORY}/init")


def _vzctl_settings(spec: NodeSpec) -> list[str]:
    mounted, private = str(_mounted(spec)), str(spec.directory / "root")
    quota = [] if spec.cpu_quota is None else ["--cpulimit", _percent(spec.cpu_quota)]
    return [
        *("--private", private, "--root", mounted, "--hostname", spec.name),
        *("--ostemplate", "debian", "--onboot", "no", *_processors(spec), *quota),
        *("--ram", str(spec.memory_byte), "--swap", "0"),
    ]


def _prlctl_limits(spec: NodeSpec) -> list[str]:
    """The memory in whole MiB, as prlctl rounds it."""
    quota = [] if spec.cpu_quota is None else ["--cpulimit", _percent(spec.cpu_quota)]
    memory = ["--memsize", f"{spec.memory_byte >> 20}M", "--swap", "0"]
    return ["--hostname", spec.name, "--autostart", "off", *_processors(spec), *quota, *memory]


def _processors(spec: NodeSpec) -> list[str]:
    return ["--cpus", str(len(spec.processors)), "--cpumask", cgroups.format_processors(spec.processors)]


def _percent(quota: float) -> str:
    """The quota in per cent of one processor, as a whole number."""
    return str(max(1, round(quota * 100)))


def _configuration(spec: NodeSpec, private: Path, identity: str) -> str:
    """ve.conf(5); a bound directory keeps the guard of the layer's own mount."""
    sources = [(spec.work, WORK_DIRECTORY)]
    sources += [(source, str(bound.path)) for source, bound in layer.bound_sources(spec)]
    lines = {
        "NAME": spec.name,
        "VEID": identity,
        "UUID": identity,
        "VE_ROOT": str(_mounted(spec)),
        "VE_PRIVATE": str(private),
        "DISTRIBUTION": "debian",
        "ONBOOT": "no",
        "BINDMOUNT": " ".join(f"{_plain(str(source))}:{_plain(target)}" for source, target in sources),
    }
    return "".join(f'{key}="{value}"\n' for key, value in lines.items())


def _plain(path: str) -> str:
    if re.search(r"[\s:,\"\\$`]", path):
        raise NodeError(f"OpenVZ 7 cannot bind {path!r}: its configuration has no way to write such a name")
    return path
