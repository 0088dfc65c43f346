# SPDX-License-Identifier: Apache-2.0
"""The program ``singularity``: an instance of the node's own root, with the tool's own limits; for root only.

It is SingularityCE's, or Apptainer's under its old name; ``apptainer`` itself is an environment of its own.

The tool puts an instance into its own control group, so the limits are set by its flags. Sources: apptainer(1),
apptainer-instance-start(1), their SingularityCE counterparts, and runs of SingularityCE 4.1 by hand.
"""

import csv
import io
import os
import pwd
import re
import shutil
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from tare.errors import NodeError
from tare.host import cgroups, mounts, process
from tare.host.told import told
from tare.nodes import confined, layer
from tare.nodes.provider import (
    MADE_NETWORKS,
    TOOLS_DIRECTORY,
    WORK_DIRECTORY,
    Node,
    NodeSpec,
    Probe,
    Provider,
    Shared,
)
from tare.records import NetworkKind

_SYSTEMD = Path("/run/systemd/system")
"""Whether systemd runs here: sd_booted(3)."""
_PROGRAM = "singularity"
_CAP_SYS_RESOURCE = 24
_PROBE_LIMIT_S = 5.0
_REMOVAL_LIMIT_S = 10.0
_FAILED_START_LIMIT_S = 0.5
_NOT_MOUNTED = "tmp,hostfs,cwd,bind-paths"
"""Mounts that the tool would take from the host, where a node has its own: --no-mount."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Flavour:
    """One descendant of Singularity."""

    name: str
    """The name of the control group above its instances', and, after a dot, of its folder at home."""
    pattern: str
    """The format of ``--version``; the groups are major and minor."""
    least: tuple[int, int]
    """The first version whose ``--no-mount`` knows ``bind-paths`` and that has flags for limits."""


_FLAVOURS = (
    _Flavour(name="apptainer", pattern=r"apptainer version (\d{1,6})\.(\d{1,6})", least=(1, 2)),
    _Flavour(
        name="singularity", pattern=r"singularity(?:-ce|pro)? version (\d{1,6})\.(\d{1,6})", least=(3, 11)
    ),
)
"""Apptainer also installs itself under the old name."""


class Singularity(Provider):
    technology = "singularity"
    networks = MADE_NETWORKS | {NetworkKind.HOST, NetworkKind.DEFAULT}
    option_names: Mapping[str, str] = {}
    shares = frozenset({Shared.DEVICES})

    def probe(self) -> Probe:
        probe = confined.probe_root()
        if not probe.usable:
            return probe
        if not _installed():
            return Probe(
                usable=False,
                reason="singularity is not on this host",
                remedy="install SingularityCE (sylabs.io), or use apptainer; Debian 12 has neither",
            )
        try:
            return _probe_version()
        except NodeError as error:
            return Probe(usable=False, reason=str(error), remedy=f"reinstall {_PROGRAM}")

    def start(self, spec: NodeSpec) -> Node:
        layer.prepare(spec)
        _furnish(spec, layer.mount_root(spec))
        argv = [*confined.join_network(spec), *_instance_start(spec)]
        done = process.run(argv, leaves_daemon=True)
        if done.code != 0:
            raise NodeError(f"{_PROGRAM} did not start the instance {spec.name}: {_reason(done)}")
        return Node(spec=spec, init_pid=_first_process(spec))

    def prefix(self, node: Node) -> list[str]:
        """An instance is entered with all its namespaces, including the network's."""
        inside = ["--cleanenv", *_dropped_capabilities(), "--pwd", "/", f"instance://{node.spec.name}"]
        return [_PROGRAM, "--silent", "exec", *inside]

    def helpers(self, node: Node) -> list[int]:
        """The process that waits for the instance's first one and removes its record at the end."""
        parent = 0 if node.init_pid is None else int(_status(node.init_pid).get("PPid", "0"))
        return [parent] if parent > 1 else []

    def stop(self, spec: NodeSpec) -> None:
        if (spec.directory / "root").exists():
            _stop_instance(spec)
            _kill_processes(spec)
            _remove_groups(spec)
            _remove_logs(spec)
        layer.remove(spec)


def _reason(done: process.Completed) -> str:
    """The line that it marks fatal; the reason itself goes to standard output, and the parts that give up to stderr."""
    lines = [line.strip() for line in f"{done.stdout}\n{done.stderr}".splitlines()]
    fatal = [line.removeprefix("FATAL:").strip() for line in lines if line.startswith("FATAL:")]
    return fatal[0] if fatal else done.last_words


def _installed() -> bool:
    return shutil.which(_PROGRAM, path=process.tool_environment()["PATH"]) is not None


def _probe_version() -> Probe:
    said = process.run_checked([_PROGRAM, "--version"], timeout_s=_PROBE_LIMIT_S).stdout.strip()
    for flavour in _FLAVOURS:
        if match := re.match(flavour.pattern, said, re.IGNORECASE):
            if (int(match[1]), int(match[2])) >= flavour.least:
                return _probe_cgroups(said)
            wanted = f"{flavour.name} {'.'.join(map(str, flavour.least))}"
            return Probe(usable=False, reason=f"{said} is too old", remedy=f"install {wanted} or later")
    reason = f"{_PROGRAM} is of an unknown version: {said[:80] or 'it printed nothing'}"
    return Probe(usable=False, reason=reason, remedy="install a release of Apptainer or SingularityCE")


def _probe_cgroups(version: str) -> Probe:
    """Check its control groups: the tool requests them from systemd unless its configuration says otherwise."""
    setting = ["config", "global", "--get", "systemd cgroups"]
    done = process.run([_PROGRAM, *setting], timeout_s=_PROBE_LIMIT_S)
    if done.code == 0 and done.stdout.strip() == "yes" and not _SYSTEMD.is_dir():
        return Probe(
            usable=False,
            reason=f"{_PROGRAM} wants systemd for its control groups, and systemd does not run here",
            remedy=f'{_PROGRAM} config global --set "systemd cgroups" no',
        )
    return Probe(usable=True, version=version)


def _furnish(spec: NodeSpec, root: Path) -> None:
    """Add what the image lacks: the script with which an instance starts, and /dev/shm of the stated size."""
    scripts = root / ".singularity.d"
    if scripts.is_symlink():
        raise NodeError(f"the image's /{scripts.name} is a link; an instance needs a directory there")
    scripts.mkdir(exist_ok=True)
    (scripts / "startscript").unlink(missing_ok=True)
    (scripts / "startscript").symlink_to(f"{TOOLS_DIRECTORY}/init")
    shm = _shm(spec)
    shm.mkdir()
    options = f"size={spec.shm_byte},mode=1777"
    mounts.mount("tare", shm, "tmpfs", mounts.MS_NOSUID | mounts.MS_NODEV, options)


def _shm(spec: NodeSpec) -> Path:
    return spec.directory / "layer" / "shm"


def _instance_start(spec: NodeSpec) -> list[str]:
    return [
        *(_PROGRAM, "--silent", "instance", "start", "--pid-file", str(_pid_file(spec))),
        *("--writable", "--contain", "--cleanenv", "--no-home", "--no-mount", _NOT_MOUNTED),
        *("--hostname", spec.name, *_dropped_capabilities(), *_limits(spec)),
        *_mount(_shm(spec), "/dev/shm", writable=True),
        *_mount(spec.work, WORK_DIRECTORY, writable=True),
        *_binds(spec),
        *(str(spec.directory / "root"), spec.name),
    ]


def _limits(spec: NodeSpec) -> list[str]:
    quota = [] if spec.cpu_quota is None else ["--cpus", f"{spec.cpu_quota:g}"]
    swap = ["--memory-swap", str(spec.memory_byte)] if cgroups.find_hierarchies().counts_swap() else []
    processors = cgroups.format_processors(spec.processors)
    most = [] if spec.bounds.processes is None else ["--pids-limit", str(spec.bounds.processes)]
    return ["--cpuset-cpus", processors, *quota, "--memory", str(spec.memory_byte), *swap, *most]


def _binds(spec: NodeSpec) -> list[str]:
    parts: list[str] = []
    for source, bound in layer.bound_sources(spec):
        parts += _mount(source, str(bound.path), writable=bound.writable)
    return parts


def _mount(source: Path, target: str, *, writable: bool) -> list[str]:
    """One line of CSV (RFC 4180), as ``--mount`` reads it: a path may hold commas and colons."""
    line = io.StringIO()
    fields = ["type=bind", f"source={source}", f"destination={target}", *([] if writable else ["ro"])]
    csv.writer(line).writerow(fields)
    return ["--mount", line.getvalue().removesuffix("\r\n")]


def _dropped_capabilities() -> list[str]:
    """Drop what root lacks: the tool asks for every capability, which fails then, as in many containers."""
    permitted = int(_status("self")["CapPrm"], 16)
    return [] if permitted >> _CAP_SYS_RESOURCE & 1 else ["--drop-caps", "CAP_SYS_RESOURCE"]


def _status(pid: int | str) -> dict[str, str]:
    """proc(5) status; empty when the process is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines()
    except OSError:
        return {}
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def _pid_file(spec: NodeSpec) -> Path:
    return spec.directory / "singularity.pid"


def _first_process(spec: NodeSpec) -> int:
    try:
        return int(_pid_file(spec).read_text())
    except (OSError, ValueError) as error:
        raise NodeError(f"the instance {spec.name} has no first process; it ended at once") from error


def _stop_instance(spec: NodeSpec) -> None:
    """Stop it by the tool, if the tool is here and knows the instance."""
    if _installed() and _is_listed(spec):
        process.run([_PROGRAM, "--silent", "instance", "stop", "--force", spec.name])


class _Instance(TypedDict):
    img: str


class _Instances(TypedDict):
    instances: list[_Instance]


def _is_listed(spec: NodeSpec) -> bool:
    """Whether there is an instance of this name that runs from this node's root, and no other's."""
    done = process.run([_PROGRAM, "--silent", "instance", "list", "--json", spec.name])
    if done.code != 0:
        raise NodeError(f"cannot ask {_PROGRAM} for the instance {spec.name}: {done.last_words}")
    listed = told(_Instances, done.stdout, f"{_PROGRAM} instance list")["instances"]
    return any(instance["img"] == str(spec.directory / "root") for instance in listed)


def _kill_processes(spec: NodeSpec) -> None:
    """Kill what the tool has forgotten: the instance may live on after the waiting process was killed."""
    deadline = time.monotonic() + _REMOVAL_LIMIT_S
    while left := _processes_in(spec.directory / "root"):
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            raise NodeError(f"processes {left} of the instance {spec.name} do not die")
        time.sleep(0.01)


def _processes_in(root: Path) -> list[int]:
    """Processes whose root directory is this overlay (proc(5), root); none when it is not mounted."""
    entries = mounts.parse_mounts(mounts.mounts_text())
    if not any(entry.point == root and entry.kind == "overlay" for entry in entries):
        return []
    device, pids = root.stat().st_dev, []
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - names are wanted
        with suppress(OSError):
            if Path(f"/proc/{name}/root/.").stat().st_dev == device:
                pids.append(int(name))
    return pids


def _remove_groups(spec: NodeSpec) -> None:
    """Remove empty groups left by a killed or failing tool: the instance's, and groups named after no process."""
    common = [group for flavour in _FLAVOURS for group in cgroups.named_groups(flavour.name).directories]
    own = []
    with suppress(NodeError):
        own = [group / str(_first_process(spec)) for group in common]
    deadline = time.monotonic() + (0 if own else _FAILED_START_LIMIT_S)
    while True:
        groups = [group for path in common for group in path.glob("[0-9]*")]
        dead = [group for group in groups if not Path("/proc", group.name).exists()]
        _remove_empty([*own, *dead, *common])
        if time.monotonic() > deadline or not any(path.exists() for path in common):
            return
        time.sleep(0.02)  # a first process that never got to its command is still starting


def _remove_empty(groups: list[Path]) -> None:
    for group in groups:
        with suppress(OSError):
            group.rmdir()


def _remove_logs(spec: NodeSpec) -> None:
    """Remove the tool's log of an instance's output, below the home of the user who started it."""
    home = Path(pwd.getpwuid(os.geteuid()).pw_dir)
    for flavour in _FLAVOURS:
        for log in (home / f".{flavour.name}" / "instances" / "logs").glob(f"*/*/{spec.name}.*"):
            log.unlink(missing_ok=True)
