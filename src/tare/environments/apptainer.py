# SPDX-License-Identifier: Apache-2.0
"""Apptainer: ``apptainer exec`` from a SIF or a sandbox, in namespaces of its own, as root or as an ordinary user.

A SIF's root is read-only, as people run it; home, /tmp, /var/tmp and /etc/hosts are then the node's own layer's. A
sandbox is that layer's root, writable. Apptainer has no control group of its own when no flag asks for limits, so the
node stays in Tare's. Source: apptainer-exec(1).
"""

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Self

from tare.environments import apptainer_fakeroot, apptainer_sif
from tare.environments.apptainer_sif import PROGRAM
from tare.host.privileges import ordinary_user
from tare.nodes import confined, layer, unprivileged
from tare.nodes.provider import MADE_NETWORKS, WORK_DIRECTORY, Node, NodeSpec, Probe, Shared
from tare.nodes.unprivileged import AlsoUnprivileged
from tare.records import NetworkKind, OptionValue

_PATTERN = r"apptainer version (\d{1,6})\.(\d{1,6})"
_LEAST = (1, 2)
"""The first version whose ``--no-mount`` knows ``bind-paths``."""
_NOT_MOUNTED = "tmp,hostfs,cwd,bind-paths"
"""Mounts that the tool would take from the host, where a node has its own."""
_WRITTEN = ("tmp", "var/tmp", "root", "etc/hosts")
_CAP_SYS_RESOURCE = 24
_INSTALL = "install Apptainer {}.{} or later from apptainer.org; Debian 12 has no package"


_WITH_SHM = (
    'mkdir "$0" && mount -t tmpfs -o "$1" "$2" "$0" && shift 2 && '
    'APPTAINER_CONFIGDIR="${0%/*}/configuration" exec "$@"'
)
"""The node's /dev/shm, for the tool's own has no limit; the tool's folder, out of the user's home."""


class Form(StrEnum):
    """What the image is run from."""

    SIF = "sif"
    SANDBOX = "sandbox"


class Apptainer(AlsoUnprivileged):
    technology = "apptainer"
    networks = MADE_NETWORKS | {NetworkKind.HOST, NetworkKind.DEFAULT}
    device_refusal = None
    option_names: Mapping[str, str] = {
        "form": f'"{Form.SIF}", by default where one can be mounted, or "{Form.SANDBOX}"',
        "fakeroot": "true: with --fakeroot, for an ordinary user and from a SIF",
    }
    shares = frozenset({Shared.DEVICES})

    def __init__(self, options: Mapping[str, OptionValue] | None = None) -> None:
        """Keep the options for ``probe`` and ``prepare``; nodes have their own."""
        self.options: Mapping[str, OptionValue] = options or {}

    def check_options(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        complaints = {}
        if options.get("form", Form.SIF) not in tuple(Form):
            complaints["form"] = f'must be "{Form.SIF}" or "{Form.SANDBOX}", not {options["form"]!r}'
        if not isinstance(options.get("fakeroot", False), bool):
            complaints["fakeroot"] = f"must be true or false, not {options['fakeroot']!r}"
        elif options.get("fakeroot") and options.get("form") == Form.SANDBOX:
            complaints["fakeroot"] = "changes nothing in a writable sandbox: leave it out, or run a SIF"
        return complaints

    def configured(self, options: Mapping[str, OptionValue]) -> Self:
        return type(self)(options)

    def probe(self) -> Probe:
        probe = unprivileged.probe() if ordinary_user() else confined.probe_root()
        if probe.usable:
            probe = _probe_version()
        return _probe_form(probe, self.options) if probe.usable else probe

    def prepare(self, image_root: Path, image_digest: str) -> None:
        if _form(self.options) is Form.SIF:
            apptainer_sif.image_sif(image_root, image_digest)

    def start(self, spec: NodeSpec) -> Node:
        sif = _sif(spec)
        run = _run(spec, sif)
        if ordinary_user():
            node = unprivileged.start(spec, run, attends=True)
        else:
            node = confined.start(spec, run, spec.network.namespace)
        facts = {**node.facts, "root files": _root_files(node, sif)}
        if not spec.options.get("fakeroot"):
            return replace(node, facts=facts)
        faked = apptainer_fakeroot.variables(spec.name)
        facts["fakeroot"] = apptainer_fakeroot.told(faked)
        return replace(node, facts=facts, variables={**node.variables, **faked})

    def prefix(self, node: Node) -> list[str]:
        return confined.enter_attended(node.spec)

    def helpers(self, node: Node) -> list[int]:
        """The programs that serve an ordinary user's SIF and its fakeroot."""
        if not ordinary_user():
            return []
        faking = apptainer_fakeroot.servers(node.spec.name) if node.spec.options.get("fakeroot") else []
        return [*apptainer_sif.servers(node.spec.name), *faking]


def _form(options: Mapping[str, OptionValue]) -> Form:
    """The one asked for, else what people run where this host can."""
    if "form" in options:
        return Form(str(options["form"]))
    return Form.SANDBOX if apptainer_sif.obstacle() else Form.SIF


def _sif(spec: NodeSpec) -> Path | None:
    """The image's SIF; ``None``: the node is run from a sandbox."""
    if _form(spec.options) is Form.SANDBOX:
        return None
    return apptainer_sif.image_sif(spec.image_root, spec.image_digest)


def _root_files(node: Node, sif: Path | None) -> str:
    if sif is None or node.init_pid is None:
        return "sandbox, in Tare's layer"
    return apptainer_sif.root_files(node.spec.name, node.init_pid, sif)


def _probe_form(probe: Probe, options: Mapping[str, OptionValue]) -> Probe:
    """Say which form is run; a SIF that is asked for and cannot be run makes it unusable."""
    if options.get("fakeroot") and not ordinary_user():
        reason, remedy = "root needs no fakeroot", "leave out fakeroot, or run as an ordinary user"
        return Probe(usable=False, reason=reason, remedy=remedy)
    if options.get("form") == Form.SANDBOX:
        return probe
    obstacle = apptainer_sif.obstacle()
    if obstacle is None:
        return replace(probe, version=f"{probe.version}, from a SIF")
    if "form" in options or options.get("fakeroot"):
        return Probe(usable=False, reason=obstacle.reason, remedy=f"{obstacle.remedy}; or choose a sandbox")
    return replace(probe, version=f"{probe.version}, from a sandbox, since {obstacle.reason}")


def _probe_version() -> Probe:
    remedy = _INSTALL.format(*_LEAST)
    if apptainer_sif.missing(PROGRAM):
        return Probe(usable=False, reason=f"{PROGRAM} is not on this host", remedy=remedy)
    probe = confined.probe_version([*apptainer_sif.as_root(), PROGRAM, "--nocolor", "--version"], PROGRAM)
    match = re.match(_PATTERN, probe.version or "")
    if probe.usable and (match is None or (int(match[1]), int(match[2])) < _LEAST):
        said = (probe.version or "")[:80] or "it printed nothing"
        return Probe(usable=False, reason=f"too old or unknown: {said}", remedy=remedy)
    return probe


def _run(spec: NodeSpec, sif: Path | None) -> list[str]:
    """The argv in whose root Tare's init is the first process of a PID namespace."""
    shm = spec.directory / "layer" / "shm"
    root = spec.directory / "root"
    form = ["--writable", *_home(spec)] if sif is None else _written(spec, root)
    return [
        *("sh", "-c", _WITH_SHM, str(shm), f"size={spec.shm_byte},mode=1777,nosuid,nodev", spec.name),
        *(PROGRAM, "--silent", "exec", *rights(), *_fakeroot(spec), "--pid", "--no-init", "--ipc", "--uts"),
        *("--contain", "--cleanenv", "--no-home", "--no-mount", _NOT_MOUNTED),
        *("--hostname", spec.name, "--pwd", "/"),
        *_mount(shm, "/dev/shm", writable=True),
        *(word for each in spec.devices for word in _mount(each.path, str(each.path), writable=True)),
        *_mount(spec.work, WORK_DIRECTORY, writable=True),
        *form,
        *_binds(spec),
        str(sif or root),
    ]


def _fakeroot(spec: NodeSpec) -> list[str]:
    return ["--fakeroot"] if spec.options.get("fakeroot") else []


def _written(spec: NodeSpec, root: Path) -> list[str]:
    """What commands write beside their own folder, in the layer: Apptainer would show the host's there."""
    paths = [path for path in _WRITTEN if _is_plain(spec.image_root / path)]
    return [word for path in paths for word in _mount(root / path, f"/{path}", writable=True)]


def _is_plain(path: Path) -> bool:
    return path.exists() and not path.is_symlink()


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
