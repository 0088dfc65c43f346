# SPDX-License-Identifier: Apache-2.0
"""Podman: the node's own root as ``--rootfs``, or an image in Podman's storage on request.

With ``--rootfs`` only Podman's notes on the container are stored, in a small memory file system that belongs to the
node: the user's containers are never seen, and what a killed Podman leaves in its notes goes with the node. Control
groups are the node's own too, as a killed monitor leaves its groups behind.

An ordinary user's Podman runs in the node's user namespace, with one user and no subordinate ids: just as it would run
by itself with none.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from tare.engines import engine, engine_arguments, engine_images
from tare.environments import podman_network
from tare.errors import NodeError
from tare.host import cgroups, mounts, process
from tare.host.privileges import ordinary_user
from tare.host.removal import remove_what_goes
from tare.host.told import process_id
from tare.nodes import confined, layer, unprivileged
from tare.nodes.provider import MADE_NETWORKS, TOOLS_DIRECTORY, Chosen, Node, NodeSpec, Probe
from tare.nodes.unprivileged import AlsoUnprivileged, members
from tare.nodes.unprivileged.limits import data_limit_byte
from tare.records import NetworkKind, OptionValue
from tare.units import MEBIBYTE, format_byte

_NOTES = Path("/run/tare")
_USER_NOTES = Path("/dev/shm")
_LEAST_DATA_BYTE = 128 * MEBIBYTE
_CONFIGURATION = "containers.conf"
_OWN_LOCKS = '[engine]\nlock_type = "file"\n'
"""Otherwise all of a user's containers share their locks, the user's own and the nodes'."""
_NOTES_SIZE = "size=64m,mode=700"
_MONITOR = "conmon"


class Podman(AlsoUnprivileged):
    technology = "podman"
    networks = MADE_NETWORKS | {NetworkKind.HOST, NetworkKind.DEFAULT}
    device_refusal = None
    option_names: Mapping[str, str] = {
        "storage": engine.STORAGE_HELP,
        "seccomp": engine.PROFILE_HELP,
        engine_arguments.OPTION: engine_arguments.HELP,
    }

    def __init__(self, options: Mapping[str, OptionValue] | None = None) -> None:
        """Keep the options for ``prepare``; nodes have their own."""
        self._options = options or {}

    def check_options(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        return engine.check_run(options)

    def chosen(self, options: Mapping[str, OptionValue]) -> Chosen:
        return engine_arguments.chosen(options)

    def configured(self, options: Mapping[str, OptionValue]) -> Self:
        return type(self)(options)

    def probe(self) -> Probe:
        user = ordinary_user()
        if user and engine.has_own_storage(self._options):
            reason = "without root its nodes have Tare's layer, and not its own storage"
            return Probe(usable=False, reason=reason, remedy="leave out the option storage, or run as root")
        if user and (flags := engine_arguments.held_by_group(self._options)):
            reason = f"without root its nodes have no control group to keep {', '.join(flags)}"
            return Probe(usable=False, reason=reason, remedy="leave that out of arguments, or run as root")
        probe_tool = unprivileged.probe_tool if user else confined.probe_tool
        probe = probe_tool(["podman", "--version"], "podman")
        if probe.usable and (runtime := _runtime()) is not None:
            beneath = confined.probe_version([runtime, "--version"], runtime)
            return probe if beneath.usable else beneath
        return probe

    def prepare(self, image_root: Path, image_digest: str) -> None:
        if engine.has_own_storage(self._options):
            engine_images.remove_old(_podman(), image_digest)
            engine_images.ensure(_podman(), image_root, engine_images.reference(image_digest))

    def start(self, spec: NodeSpec) -> Node:
        engine.require(self.check_options(spec.options))
        if ordinary_user():
            _make_notes(spec)
            words = [*_aside(spec), *_podman(spec), "run", *_user_words(spec)]
            return unprivileged.start(spec, words, limits_memory=True)
        layer.prepare(spec)
        if not engine.has_own_storage(spec.options):
            layer.mount_root(spec)
            _notes(spec).mkdir(parents=True)
            mounts.mount("tare", _notes(spec), "tmpfs", mounts.MS_NOSUID | mounts.MS_NODEV, _NOTES_SIZE)
        if podman_network.is_made(spec):
            podman_network.note_absent()
        with _network(spec) as network:
            process.run_checked(
                [*_aside(spec), *_podman(spec), "run", *_words(spec, network)],
                timeout_s=120,
                leaves_daemon=True,
            )
        pid = process_id(_pid_file(spec).read_text(errors="replace"), "podman")
        if engine_arguments.CPU_WEIGHT in self.chosen(spec.options).labels:
            _lift_weight(spec, pid)
        own = engine.has_own_storage(spec.options)
        return Node(spec=spec, init_pid=pid, facts={"storage driver": _root_kind(pid)} if own else {})

    def prefix(self, node: Node) -> list[str]:
        """``podman exec`` without its detach keys, which Podman would look for in all input."""
        # nsenter(1) would be ten times faster, but give the command capabilities and system calls that Podman denies.
        user = ordinary_user()
        way = unprivileged.enter_outside(node, limits_memory=True) if user else []
        enter = [*_podman(node.spec), "exec", "--interactive", "--detach-keys=", node.spec.name]
        return [*way, *_aside(node.spec), *enter]

    def helpers(self, node: Node) -> list[int]:
        """The container's monitor, and one for each command running in it."""
        if ordinary_user():
            return [pid for pid in members.members(node.spec.name) if engine.is_called(pid, _MONITOR)]
        return engine.supervisors(node, _MONITOR)

    def stop(self, spec: NodeSpec) -> None:
        if ordinary_user():
            super().stop(spec)
            remove_what_goes(_notes(spec))
            return
        try:
            _remove_container(spec)
        finally:
            # A monitor's last act is a Podman that may still be at work; and a killed monitor leaves its groups.
            cgroups.named_groups(_parent_group(spec).lstrip("/")).remove()
        if podman_network.is_made(spec):
            podman_network.remove_unused()
        _remove_notes(spec)
        layer.remove(spec)


def _lift_weight(spec: NodeSpec, pid: int) -> None:
    """Move the weight up: it counts among the children of one parent, so the node's group takes the container's."""
    for name in ("cpu.shares", "cpu.weight"):
        file = cgroups.group_of(pid).file("cpu", name)
        levels = [] if file is None else file.parents
        for below in (level for level in levels if level.parent.name == spec.name):
            with suppress(FileNotFoundError):
                (below.parent / name).write_text((below / name).read_text())


def _aside(spec: NodeSpec) -> list[str]:
    """The prefix that changes the directory: out of memory, a monitor leaves a file "oom" there, not in the user's."""
    return ["env", f"--chdir={spec.directory}"]


def _remove_container(spec: NodeSpec) -> None:
    """Remove it only where one may exist: Podman would otherwise create its notes again."""
    noted = spec.directory / "layer" if engine.has_own_storage(spec.options) else _notes(spec)
    remover = [*_podman(spec), "rm", "--force", "--volumes", "--time", "0"]
    if noted.exists() and not engine.remove_known(remover, spec):
        engine.remove_labelled(_podman(spec), remover, spec)


def _podman(spec: NodeSpec | None = None) -> list[str]:
    """The command with everything that all calls for a node must share; without systemd and a journal of events."""
    words = [*_variables(spec), "podman", "--cgroup-manager", "cgroupfs", "--events-backend", "none"]
    if (runtime := _runtime()) is not None:
        words += ["--runtime", runtime]
    if spec is None or engine.has_own_storage(spec.options):
        return words
    notes = _notes(spec)
    places = ("--root", str(notes / "root"), "--runroot", str(notes / "run"), "--tmpdir", str(notes / "tmp"))
    return [*words, *places, "--storage-driver", "vfs"]


def _variables(spec: NodeSpec | None) -> list[str]:
    """For an ordinary user's Podman, the variables that it sets itself for its children in its own namespace."""
    if spec is None or not ordinary_user():
        return []
    variables = {
        "_CONTAINERS_USERNS_CONFIGURED": "done",
        "_CONTAINERS_ROOTLESS_UID": os.geteuid(),
        "XDG_RUNTIME_DIR": _notes(spec),
        "CONTAINERS_CONF": _notes(spec) / _CONFIGURATION,
    }
    return ["env", *(f"{name}={value}" for name, value in variables.items())]


def _enough(data_byte: int) -> int:
    """The limit itself, unless the runtime cannot prepare a container within it."""
    if data_byte < _LEAST_DATA_BYTE:
        least = format_byte(_LEAST_DATA_BYTE)
        raise NodeError(
            f"without root a node of podman's takes a memory limit of at least {least}: give it more"
        )
    return data_byte


def _runtime() -> str | None:
    """Podman's own choice, except for control groups version 1: crun refuses them with version 2 mounted beside."""
    return "runc" if cgroups.find_hierarchies().version == cgroups.V1 else None


def _words(spec: NodeSpec, network: list[str]) -> list[str]:
    """The arguments of ``podman run``."""
    return [
        *("--detach", "--pull", "never", "--name", spec.name, "--hostname", spec.name),
        *(*engine.identified(spec), "--pidfile", str(_pid_file(spec))),
        *("--systemd=false", "--http-proxy=false"),
        *("--cgroup-parent", _parent_group(spec), *network),
        *(*engine.limits(spec), *engine.seccomp(spec), *engine.devices(spec), *engine.shared_mounts(spec)),
        *(*engine_arguments.words(spec.options), *_root(spec), f"{TOOLS_DIRECTORY}/init"),
    ]


def _root(spec: NodeSpec) -> list[str]:
    if engine.has_own_storage(spec.options):
        return [engine_images.reference(spec.image_digest)]
    return ["--rootfs", str(spec.directory / "root")]


def _user_words(spec: NodeSpec) -> list[str]:
    """Attached, since its processes are identified where it runs; it stays in its start's control group and network."""
    hidden = [] if cgroups.find_hierarchies().version == cgroups.V1 else ["--cgroups=disabled"]
    network = [] if spec.network.kind is NetworkKind.DEFAULT else ["--network", "host"]
    # Not on Podman itself, which needs more than a small node may have.
    data_byte = data_limit_byte(spec)
    own = engine_arguments.resource_limits(spec.options)
    memory = [] if data_byte is None else [f"--ulimit=data={_enough(data_byte)}:{data_byte}"]
    return [
        *("--pull", "never", "--name", spec.name, "--hostname", spec.name, *hidden, *network),
        *("--systemd=false", "--http-proxy=false", *engine.resource_limits("data", *own), *memory),
        *("--shm-size", str(spec.shm_byte)),
        *(*engine.seccomp(spec), *engine.devices(spec), *engine.shared_mounts(spec)),
        *(*engine_arguments.words(spec.options), *_root(spec)),
    ]


@contextmanager
def _network(spec: NodeSpec) -> Iterator[list[str]]:
    """The namespace through a descriptor of ours: runc does not accept a path with a comma."""
    namespace = spec.network.namespace
    if namespace is not None:
        with namespace.open("rb") as held:
            yield ["--network", f"ns:/proc/{os.getpid()}/fd/{held.fileno()}"]
    elif spec.network.kind is NetworkKind.DEFAULT:
        yield []
    else:
        yield ["--network", "host" if spec.network.kind is NetworkKind.HOST else "none"]


def _root_kind(pid: int) -> str:
    """The kind of file system of the node's root, from its own list of mounts."""
    try:
        entries = mounts.parse_mounts(Path(f"/proc/{pid}/mounts").read_text(errors="replace"))
    except OSError as error:
        raise NodeError(f"the node's first process has ended: {error.strerror}") from error
    return next((entry.kind for entry in entries if entry.point == Path("/")), "not told")


def _notes(spec: NodeSpec) -> Path:
    """Outside the node's folder: Podman accepts no ``--runroot`` of more than 50 characters."""
    return _USER_NOTES / f"podman-{spec.name}" if ordinary_user() else _NOTES / spec.name


def _make_notes(spec: NodeSpec) -> None:
    """Make them; for an ordinary user, in a folder open to everybody: they must not exist yet."""
    try:
        _notes(spec).mkdir(mode=0o700)
        (_notes(spec) / _CONFIGURATION).write_text(_OWN_LOCKS)
    except OSError as error:
        raise NodeError(f"cannot make {_notes(spec)} for Podman's notes: {error.strerror}") from error


def _remove_notes(spec: NodeSpec) -> None:
    mounts.unmount_below(_notes(spec))
    remove_what_goes(_notes(spec))
    with suppress(OSError):
        _NOTES.rmdir()


def _pid_file(spec: NodeSpec) -> Path:
    return spec.directory / "init.pid"


def _parent_group(spec: NodeSpec) -> str:
    """Its path from the root of the hierarchies: otherwise it would be relative to the monitor's own group."""
    return f"/{cgroups.PARENT}/{spec.name}"
