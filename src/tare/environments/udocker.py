# SPDX-License-Identifier: Apache-2.0
"""udocker: ``udocker run`` in one of its execution modes, as root or as an ordinary user.

The container is the node's root, bound to where a udocker repository of the node's own keeps a container's files. One
``udocker run`` starts the node's first process, which starts the commands: udocker has no way to enter what runs. In
its P modes a single PRoot then traces all processes of the node, as with one ``udocker run ID mpirun ...``.
docs/udocker.md lists what differs from udocker by hand. Source: the user manual and the source text of 1.3.17.
"""

import json
import os
import platform
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Self

from tare.errors import NodeError
from tare.host import process
from tare.host.distribution import to_install
from tare.host.kernel_files import read_text
from tare.host.privileges import ordinary_user
from tare.host.scratch import scratch_folder
from tare.nodes import confined, layer, root_mounts, unprivileged
from tare.nodes.provider import MADE_NETWORKS, TOOLS_DIRECTORY, Chosen, Node, NodeSpec, Probe, Shared
from tare.nodes.unprivileged import AlsoUnprivileged
from tare.records import NetworkKind, OptionValue, User

PROGRAM = "udocker"
_PROBE_LIMIT_S = 5.0
_SEEN = "/mnt"
"""Where udocker sees its repository, in a mount namespace of its own: a short path without colons, open to users."""
_REPOSITORY = f"{_SEEN}/udocker"
_CONFIGURATION = "/etc/udocker.conf"
_FROM_HOST = ("/etc/resolv.conf", "/etc/host.conf", "/lib/modules")
"""What udocker shows of the host by default beside /dev, /proc and /sys; the node keeps the image's."""
_REPLACED = "resolv.conf host.conf passwd group"
"""Files of /etc that a container in a mode of runc's has as links, from its first run on."""

_SHOWING = f"""
set -e
mount -t tmpfs -o mode=755 tare {_SEEN}
mkdir -m 755 {_REPOSITORY}
mount --bind "$1" {_REPOSITORY}
mount --bind "$2" "{_REPOSITORY}/bin/$(basename "$2")"
mount --rbind "$3" "$4"
[ ! -f {_CONFIGURATION} ] || mount --bind /dev/null {_CONFIGURATION}
shift 4
"""
"""Of a shell: shows the repository, the engine's program and, in it, the root; then the mode's own part."""
_SHOWING_P = """
mount --rbind "$0/dev" /dev
mount --rbind "$0/sys" /sys
exec "$@"
"""
"""udocker shows the host's /dev and /sys, which here are the node's own."""
_SHOWING_R = f"""
while read -r _ _ _ _ point _; do
    case $point in /sys/fs/cgroup/*) mount -o remount,bind,ro "$point" || :;; esac
done </proc/self/mountinfo
mkdir {_SEEN}/shm "$0/.bind_host_files"
mount --bind "$0/dev/shm" {_SEEN}/shm
for name in {_REPLACED}; do
    [ -f "$0/etc/$name" ] || continue
    cp "$0/etc/$name" "$0/../.bind_orig_files/#etc#$name"
    ln -sf "/.bind_host_files/#etc#$name" "$0/etc/$name"
done
exec "$@"
"""
"""runc makes no control group where it may not. udocker would rename the files itself, but across a mount it cannot."""


class Mode(StrEnum):
    """What runs a container, as udocker names it."""

    P1 = "P1"
    """PRoot, which the kernel asks about some system calls (seccomp)."""
    P2 = "P2"
    """PRoot, which the kernel asks about all of them."""
    R1 = "R1"
    """runc, in a user namespace."""

    @property
    def traced(self) -> bool:
        return self is not Mode.R1


class Udocker(AlsoUnprivileged):
    technology = "udocker"
    networks = MADE_NETWORKS | {NetworkKind.HOST, NetworkKind.DEFAULT}
    device_refusal = None
    option_names: Mapping[str, str] = {
        "mode": f"udocker's execution mode: {', '.join(Mode)}; by default {Mode.P1}, as udocker's",
        "engine": "path of the PRoot or runc to use, instead of the one that udocker would take",
    }
    shares = frozenset({Shared.HOST_NAME, Shared.PROCESS_IDS})

    def __init__(self, options: Mapping[str, OptionValue] | None = None) -> None:
        """Keep the options for ``probe``; nodes have their own."""
        self.options: Mapping[str, OptionValue] = options or {}
        if not _mode(self.options).traced:
            self.shares = frozenset({Shared.HOST_NAME})

    def check_options(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        complaints = {}
        if (mode := options.get("mode", Mode.P1)) not in tuple(Mode):
            complaints["mode"] = f"must be one of {', '.join(Mode)}, but is {mode!r}"
        if not isinstance(engine := options.get("engine", PROGRAM), str) or not engine:
            complaints["engine"] = f"must be the path of a program, but is {engine!r}"
        return complaints

    def chosen(self, options: Mapping[str, OptionValue]) -> Chosen:
        """The configuration that runc writes limits open files to 1024."""
        return Chosen() if _mode(options).traced else Chosen(labels=frozenset({"limit of nofile"}))

    def configured(self, options: Mapping[str, OptionValue]) -> Self:
        return type(self)(options)

    def probe(self) -> Probe:
        """The version, and PRoot that runs true(1): an old one starts no program of a newer C library."""
        probe = unprivileged.probe() if ordinary_user() else confined.probe_root()
        return _probe(self.options) if probe.usable else probe

    def start(self, spec: NodeSpec) -> Node:
        mode, engine = _mode(spec.options), _engine(spec.options)
        _make_repository(spec, mode, engine)
        run = _run(spec, mode, engine)
        node = _user_node(spec, run) if ordinary_user() else _root_node(spec, run)
        return replace(
            node,
            made_as_user=spec.user is not None,
            keeps_user=not mode.traced,
            own_hosts=mode.traced,
            facts={
                **node.facts,
                "udocker": f"{_version(_which(PROGRAM) or PROGRAM)}, mode {mode} by {engine.name}",
            },
        )

    def prefix(self, node: Node) -> list[str]:
        return confined.enter_attended(node.spec)

    def helpers(self, node: Node) -> list[int]:
        """PRoot or runc, and udocker itself."""
        engine = None if node.init_pid is None else _parent(node.init_pid)
        above = None if engine is None else _parent(engine)
        return [pid for pid in (engine, above) if pid is not None]


def _mode(options: Mapping[str, OptionValue]) -> Mode:
    """The one asked for, else udocker's default; a wrong one is for ``check_options`` to say."""
    asked = options.get("mode", Mode.P1)
    return Mode(str(asked)) if asked in tuple(Mode) else Mode.P1


@dataclass(frozen=True, slots=True)
class _Engine:
    """The program that a mode runs, and how udocker is told of it."""

    path: Path
    variable: str

    @property
    def name(self) -> str:
        return self.path.name


def _engine(options: Mapping[str, OptionValue]) -> _Engine:
    """The program asked for, else the one that udocker takes; ``NodeError`` if there is none."""
    mode = _mode(options)
    variable = f"UDOCKER_USE_{'PROOT' if mode.traced else 'RUNC'}_EXECUTABLE"
    asked = str(options.get("engine", ""))
    for name in [asked] if asked else _taken(mode):
        if path := _which(name):
            return _Engine(Path(path).absolute(), variable)
    looked = asked or ("PRoot" if mode.traced else "runc or crun")
    raise NodeError(f"{looked}, which runs udocker's mode {mode}, is not on this host")


def _taken(mode: Mode) -> list[str]:
    """What udocker would take, first to last: PRoot only from where ``udocker install`` puts it, runc from PATH too."""
    machine = {"aarch64": "arm64"}.get(platform.machine(), platform.machine())
    kinds = ("proot",) if mode.traced else ("runc", "crun")
    fetched = [f"{kind}{end}" for kind in kinds for end in (f"-{machine}-4_8_0", f"-{machine}", "")]
    home = process.tool_environment().get("HOME")
    installed = [f"{home}/.udocker/bin/{name}" for name in fetched] if home else []
    return installed if mode.traced else [*kinds, *installed]


def _which(name: str) -> str | None:
    return shutil.which(name, path=process.tool_environment()["PATH"])


def _probe(options: Mapping[str, OptionValue]) -> Probe:
    program = _which(PROGRAM)
    if program is None:
        return Probe(usable=False, reason="udocker is not on this host", remedy="pip install udocker")
    try:
        version = _version(program)
    except NodeError as error:
        return Probe(usable=False, reason=str(error), remedy="pip install --force-reinstall udocker")
    mode = _mode(options)
    if obstacle := _obstacle(options):
        return Probe(usable=False, reason=obstacle, remedy=_remedy(mode))
    return Probe(usable=True, version=f"{version}, mode {mode} by {_engine(options).name}")


def _obstacle(options: Mapping[str, OptionValue]) -> str | None:
    """Why the mode's engine cannot run a program as udocker has it do; ``None`` if it can."""
    mode = _mode(options)
    try:
        engine = _engine(options)
        argv = [str(engine.path), "--version"]
        if mode.traced:
            argv = [str(engine.path), "-0", "-k", os.uname().release, "-r", "/", "-w", "/", "true"]
        done = process.run(argv, timeout_s=_PROBE_LIMIT_S, variables=_seccomp(mode))
    except NodeError as error:
        return str(error)
    return f"{engine.name} fails: {done.last_words}" if done.code != 0 else None


def _remedy(mode: Mode) -> str:
    if mode.traced:
        return (
            f"udocker install, which fetches PRoot; or choose a PRoot by engine; or mode {Mode.R1}, with runc"
        )
    return to_install("runc")


@cache
def _version(program: str) -> str:
    """What it says of itself; ``NodeError`` if it does not run."""
    with scratch_folder(PROGRAM) as folder:
        own = {"HOME": str(folder), "UDOCKER_DIR": str(folder)}
        done = process.run([program, "--allow-root", "version"], timeout_s=_PROBE_LIMIT_S, variables=own)
    if (version := parse_version(done.stdout)) is None:
        raise NodeError(f"udocker fails: {done.last_words[:200]}")
    return version


def parse_version(text: str) -> str | None:
    """The version in the output of ``udocker version``; ``None``: it has none."""
    match = re.search(r"^version: (\d{1,6}(?:\.\d{1,6}){1,3}\w{0,10})$", text, re.MULTILINE)
    return None if match is None else match[1]


def _seccomp(mode: Mode) -> dict[str, str]:
    return {"PROOT_NO_SECCOMP": "1"} if mode is Mode.P2 else {}


def _container(spec: NodeSpec) -> str:
    """The container's folder in udocker's repository; its id is the node's name."""
    return f"containers/{spec.name}"


def _make_repository(spec: NodeSpec, mode: Mode, engine: _Engine) -> None:
    """Write what ``udocker create`` and ``udocker setup`` would, but for the root, which is mounted there."""
    repository = spec.directory / PROGRAM
    container = repository / _container(spec)
    folders = [repository / name for name in ("repos", "layers", "lib", "doc", "bin", "home", "tmp")]
    folders += [container.parent, container, container / "ROOT", container / ".bind_orig_files"]
    for folder in (repository, *folders):
        folder.mkdir()
    (repository / "bin" / engine.name).touch()
    (container / "container.json").write_text(json.dumps({"architecture": "", "config": {"Cmd": []}}))
    (container / "execmode").write_text(mode)
    if spec.user is not None:
        for path in (repository, *folders, *(path for path in container.iterdir() if path.is_file())):
            os.chown(path, spec.user.uid, spec.user.gid)


def _run(spec: NodeSpec, mode: Mode, engine: _Engine) -> list[str]:
    """The argv whose first process in the container is what follows."""
    root = f"{_REPOSITORY}/{_container(spec)}/ROOT"
    own = _SHOWING_P if mode.traced else _SHOWING_R
    shown = [str(spec.directory / PROGRAM), str(engine.path), str(spec.directory / "root"), root]
    return [
        *([] if ordinary_user() else ["unshare", "--mount", "--"]),
        *("sh", "-c", _SHOWING + own, root, *shown),
        *_as_user(spec, mode),
        *("env", "--ignore-environment", "--chdir=/", *_variables(mode, engine)),
        *(PROGRAM, "--allow-root", "--quiet", "run", "--nobanner", "--nometa", "--workdir=/"),
        *(f"--novol={path}" for path in (_FROM_HOST if mode.traced else _FROM_HOST[:2])),
        *(f"--volume={_SEEN}/shm:/dev/shm" for _ in range(not mode.traced)),
        *(f"--device={device.path}" for device in spec.devices if not mode.traced),
        *(f"--user={spec.user.uid}" for _ in range(mode.traced) if spec.user is not None),
        spec.name,
    ]


def _as_user(spec: NodeSpec, mode: Mode) -> list[str]:
    """Who starts udocker: the user, as people run it; else root, but for runc without rights over the host."""
    if spec.user is not None:
        return [f"{spec.image_root}{TOOLS_DIRECTORY}/drop", "--user", str(spec.user), "--"]
    if ordinary_user() or mode.traced:
        return []
    return ["unshare", "--user", "--map-root-user", "--mount", "--"]


def _variables(mode: Mode, engine: _Engine) -> list[str]:
    """The whole environment of udocker: the user's settings are not the node's, and nothing is fetched."""
    own = {
        "PATH": process.tool_environment()["PATH"],
        "HOME": f"{_REPOSITORY}/home",
        "UDOCKER_DIR": _REPOSITORY,
        "UDOCKER_TMP": f"{_REPOSITORY}/tmp",
        "UDOCKER_TARBALL": "",
        engine.variable: f"{_REPOSITORY}/bin/{engine.name}",
        "PYTHONUNBUFFERED": "1",  # else READY waits in it
        **_seccomp(mode),
    }
    return [f"{name}={value}" for name, value in own.items()]


def _user_node(spec: NodeSpec, run: list[str]) -> Node:
    node = unprivileged.start(spec, run, system=True, attends=True)
    return node if node.init_pid is None else replace(node, init_pid=_last_descendant(node.init_pid))


def _root_node(spec: NodeSpec, run: list[str]) -> Node:
    layer.prepare(spec)
    root = layer.mount_root(spec)
    root_mounts.mount_system(spec, root)
    root_mounts.mount_shared(spec, root)
    group = confined.create_group(spec)
    begun = confined.begin(spec, group, spec.network.namespace)
    with _lent(spec.work, spec.user):
        first = process.start_idle(
            [*begun, *run, *confined.attending_init(spec)], log=spec.directory / "init.log"
        )
        confined.withdraw_socket(spec)
    return Node(spec=spec, init_pid=_last_descendant(first))


@contextmanager
def _lent(work: Path, user: User | None) -> Iterator[None]:
    """A user's first process makes its socket in the work directory, which is root's before and after."""
    if user is None:
        yield
        return
    before = work.stat()
    os.chown(work, user.uid, user.gid)
    try:
        yield
    finally:
        os.chown(work, before.st_uid, before.st_gid)


def _last_descendant(pid: int) -> int:
    """The node's idle first process: the end of the chain from what was started, over udocker and its engine."""
    while children := _children(pid):
        pid = children[-1]
    return pid


def _children(pid: int) -> list[int]:
    """Of all the threads of a process (proc(5), /proc/PID/task/TID/children)."""
    threads = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(word) for thread in threads for word in (read_text(str(thread)) or "").split()]


def _parent(pid: int) -> int | None:
    match = re.search(r"^PPid:\s*(\d+)$", read_text(f"/proc/{pid}/status") or "", re.MULTILINE)
    return int(match[1]) if match and int(match[1]) > 1 else None
