# SPDX-License-Identifier: Apache-2.0
"""Apptainer: ``apptainer exec`` from a writable root, in namespaces of its own, as root or as an ordinary user.

It has no control group of its own when no flag asks for limits, so the node stays in Tare's. Source: apptainer-exec(1).
"""

import csv
import io
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from tare.host import process
from tare.host.privileges import ordinary_user
from tare.nodes import confined, layer, unprivileged
from tare.nodes.provider import MADE_NETWORKS, WORK_DIRECTORY, Node, NodeSpec, Probe, Shared
from tare.nodes.unprivileged import AlsoUnprivileged
from tare.records import NetworkKind

_PROGRAM = "apptainer"
_PATTERN = r"apptainer version (\d{1,6})\.(\d{1,6})"
_LEAST = (1, 2)
"""The first version whose ``--no-mount`` knows ``bind-paths``."""
_NOT_MOUNTED = "tmp,hostfs,cwd,bind-paths"
"""Mounts that the tool would take from the host, where a node has its own."""
_CAP_SYS_RESOURCE = 24
_INSTALL = "install Apptainer {}.{} or later from apptainer.org; Debian 12 has no package"


_WITH_SHM = (
    'mkdir "$0" && mount -t tmpfs -o "$1" "$2" "$0" && shift 2 && '
    'APPTAINER_CONFIGDIR="${0%/*}/configuration" exec "$@"'
)
"""The node's /dev/shm, for the tool's own has no limit; the tool's folder, out of the user's home."""


class Apptainer(AlsoUnprivileged):
    technology = "apptainer"
    networks = MADE_NETWORKS | {NetworkKind.HOST, NetworkKind.DEFAULT}
    device_refusal = None
    option_names: Mapping[str, str] = {}
    shares = frozenset({Shared.DEVICES})

    def probe(self) -> Probe:
        probe = unprivileged.probe() if ordinary_user() else confined.probe_root()
        return _probe_version() if probe.usable else probe

    def start(self, spec: NodeSpec) -> Node:
        run = _run(spec)
        if ordinary_user():
            return unprivileged.start(spec, run, attends=True)
        return confined.start(spec, run, spec.network.namespace)

    def prefix(self, node: Node) -> list[str]:
        return confined.enter_attended(node.spec)


def _probe_version() -> Probe:
    """Ask it as its nodes do: as root of a user namespace, for it refuses a user whom the host has no name for."""
    remedy = _INSTALL.format(*_LEAST)
    if shutil.which(_PROGRAM, path=process.tool_environment()["PATH"]) is None:
        return Probe(usable=False, reason=f"{_PROGRAM} is not on this host", remedy=remedy)
    mapped = ["unshare", "--user", "--map-root-user"] if ordinary_user() else []
    probe = confined.probe_version([*mapped, _PROGRAM, "--nocolor", "--version"], _PROGRAM)
    match = re.match(_PATTERN, probe.version or "")
    if probe.usable and (match is None or (int(match[1]), int(match[2])) < _LEAST):
        said = (probe.version or "")[:80] or "it printed nothing"
        return Probe(usable=False, reason=f"too old or unknown: {said}", remedy=remedy)
    return probe


def _run(spec: NodeSpec) -> list[str]:
    """The argv in whose root Tare's init is the first process of a PID namespace."""
    shm = spec.directory / "layer" / "shm"
    return [
        *("sh", "-c", _WITH_SHM, str(shm), f"size={spec.shm_byte},mode=1777,nosuid,nodev", spec.name),
        *(_PROGRAM, "--silent", "exec", *rights(), "--pid", "--no-init", "--ipc", "--uts"),
        *("--writable", "--contain", "--cleanenv", "--no-home", "--no-mount", _NOT_MOUNTED),
        *("--hostname", spec.name, "--pwd", "/"),
        *_mount(shm, "/dev/shm", writable=True),
        *(word for each in spec.devices for word in _mount(each.path, str(each.path), writable=True)),
        *_mount(spec.work, WORK_DIRECTORY, writable=True),
        *_home(spec),
        *_binds(spec),
        str(spec.directory / "root"),
    ]


def _home(spec: NodeSpec) -> list[str]:
    """It shows the root without what is mounted below it."""
    home = layer.own_home(spec)
    return [] if home is None else _mount(home, "/root", writable=True)


def rights() -> list[str]:
    """Options that drop what this root lacks, or the tool asks for it in vain; in a user namespace it lacks nothing."""
    if ordinary_user():
        return []
    permitted = re.search(r"^CapPrm:\s*([0-9a-f]+)$", Path("/proc/self/status").read_text(), re.MULTILINE)
    complete = permitted is not None and int(permitted[1], 16) >> _CAP_SYS_RESOURCE & 1
    return [] if complete else ["--drop-caps", "CAP_SYS_RESOURCE"]


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
