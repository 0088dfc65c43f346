# SPDX-License-Identifier: Apache-2.0
"""Sarus: ``sarus run``, whose nodes are an OCI runtime's on a squashfs of the image.

Sarus gives a container a mount namespace, a PID namespace where it is told to, and no other: it has the host's /dev/shm
and host name. A node has a /dev/shm of its own, mounted where Sarus looks for the host's. Sarus cannot enter a
container, so the node's first process starts the commands. Sources: Sarus user guide; Sarus 1.7.0.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tare.environments.sarus_image import (
    PROGRAM,
    REFERENCE,
    image_repository,
    repository_place,
    showing,
)
from tare.errors import NodeError
from tare.host import cgroups, process
from tare.host.cgroups.hierarchies import V1, group_mounts
from tare.host.kernel_files import inner_numbers, write_text
from tare.host.privileges import ordinary_user
from tare.host.removal import remove_what_goes
from tare.nodes import confined, layer
from tare.nodes.files import make_folder
from tare.nodes.provider import MADE_NETWORKS, WORK_DIRECTORY, Node, NodeSpec, Probe, Provider, Shared
from tare.records import NetworkKind

_LEAST = (1, 7)
"""The first version that names a container as it is told."""
_INSTALL = "install Sarus {}.{} or later (github.com/eth-cscs/sarus), which no distribution packages"
_CONFIGURE = "let the administrator of Sarus name a directory that exists as its centralizedRepositoryDir"
_PROBE_LIMIT_S = 5.0
_SEEN = Path("/media")
"""Where ``sarus run`` sees what it mounts, in its own mount namespace: the node's folder is closed to users."""
_OWN_SHM = 'mount -t tmpfs -o "$1" tare /dev/shm && shift && exec "$@"'
_SEPARATORS = ",="
"""What ``--mount`` cannot have in a path, in no way of writing it."""
_NOTES = Path("/run/runc")
"""Where Sarus has its runtime note a container, by user and name."""


class Sarus(Provider):
    technology = "sarus"
    networks = MADE_NETWORKS | {NetworkKind.HOST, NetworkKind.DEFAULT}
    device_refusal = None
    option_names: Mapping[str, str] = {}
    shares = frozenset({Shared.HOST_NAME})

    def probe(self) -> Probe:
        if ordinary_user():
            reason = "its set-user-id rights end in the user namespace of an ordinary user's nodes"
            return Probe(usable=False, reason=reason, remedy="run as root")
        probe = confined.probe_root()
        return _probe_tool() if probe.usable else probe

    def prepare(self, image_root: Path, image_digest: str) -> None:
        image_repository(image_root, image_digest)

    def start(self, spec: NodeSpec) -> Node:
        run = _run(spec)
        repository = image_repository(spec.image_root, spec.image_digest)
        layer.prepare(spec)
        make_folder(_way_in(spec), spec.user)
        group = confined.create_group(spec)
        argv = [
            *confined.begin(spec, _everywhere(spec, group), spec.network.namespace),
            *_seeing(spec, repository),
        ]
        process.start_idle([*argv, *run], log=spec.directory / "init.log")
        first = _claim(spec, group)
        _withdraw_way_in(spec)
        facts = {"root files": "squashfs, mounted by the kernel, under overlay in memory"}
        return Node(spec=spec, init_pid=first, made_as_user=spec.user is not None, facts=facts)

    def prefix(self, node: Node) -> list[str]:
        return confined.enter_attended(node.spec)

    def helpers(self, node: Node) -> list[int]:
        """Sarus and its runtime, which wait for the node's first process."""
        own = cgroups.own_group(node.spec.name).processes(1)
        return [pid for pid in own if len(inner_numbers(pid)) == 1]

    def stop(self, spec: NodeSpec) -> None:
        confined.remove(spec)
        _runtimes_groups(spec).remove()
        for notes in _NOTES.glob(f"*/{_container(spec)}"):
            remove_what_goes(notes)
            with suppress(OSError):  # the same user has another container
                notes.parent.rmdir()


def _probe_tool() -> Probe:
    remedy = _INSTALL.format(*_LEAST)
    try:
        version = process.run_checked([PROGRAM, "--version"], timeout_s=_PROBE_LIMIT_S).stdout.strip()
    except NodeError as error:
        return Probe(usable=False, reason=str(error), remedy=remedy)
    if not _is_recent(version):
        said = version[:80] or "it printed nothing"
        return Probe(usable=False, reason=f"too old or unknown: {said}", remedy=remedy)
    try:
        repository_place()
    except NodeError as error:
        return Probe(usable=False, reason=str(error), remedy=_CONFIGURE)
    return Probe(usable=True, version=f"Sarus {version}")


def _is_recent(version: str) -> bool:
    match = re.match(r"(\d{1,4})\.(\d{1,4})\.", version)
    return match is not None and (int(match[1]), int(match[2])) >= _LEAST


def _container(spec: NodeSpec) -> str:
    """Not the node's name: with version 2 of control groups the runtime's group lies beside the node's."""
    return f"{spec.name}-sarus"


def _run(spec: NodeSpec) -> list[str]:
    """The argv that starts the node, in a mount namespace as of ``_seeing``. Raises ``NodeError``."""
    mounts = [_mount(_SEEN / "work", WORK_DIRECTORY, writable=True)]
    mounts += [
        _mount(_SEEN / str(number), str(bound.path), writable=bound.writable)
        for number, bound in enumerate(spec.binds)
    ]
    return [
        *_user(spec),
        *("env", "--ignore-environment", f"PATH={process.tool_environment()['PATH']}"),
        *(PROGRAM, "run", "--centralized-repository", f"--name={_container(spec)}"),
        *("--pid=private", "--workdir=/", *mounts),
        *(f"--device={device.path}" for device in spec.devices),
        *(REFERENCE, *_init(spec)),
    ]


def _user(spec: NodeSpec) -> list[str]:
    """Who starts Sarus: it takes the real user for its own, as a set-user-id program does (setpriv(1))."""
    if spec.user is None:
        return []
    ids = [f"--ruid={spec.user.uid}", f"--rgid={spec.user.gid}"]
    return ["setpriv", *ids, "--clear-groups", "--"]


def _mount(source: Path, target: str, *, writable: bool) -> str:
    if set(target) & set(_SEPARATORS):
        raise NodeError(
            f"Sarus cannot mount {target}: its --mount takes no comma and no equals sign in a path"
        )
    return f"--mount=type=bind,source={source},destination={target}{'' if writable else ',readonly'}"


def _seeing(spec: NodeSpec, repository: Path) -> list[str]:
    """The argv prefix of ``sarus run``: it sees the image's repository, the node's /dev/shm and what it mounts."""
    open_folder = spec.directory / "layer" / "seen"
    places = [(repository, repository_place()), (spec.work, open_folder / "work")]
    places += [
        (source, open_folder / str(number)) for number, (source, _) in enumerate(layer.bound_sources(spec))
    ]
    shm = f"size={spec.shm_byte},mode=1777,nosuid,nodev"
    return showing([*places, (open_folder, _SEEN)], ["sh", "-c", _OWN_SHM, "sh", shm])


def _init(spec: NodeSpec) -> list[str]:
    """The idle init, which makes its socket where the command's user may make it too."""
    *words, socket = confined.attending_init(spec)
    return [*words, f"{socket}{_WAY}/{_SOCKET}"]


_WAY, _SOCKET = ".way", "socket"


def _way_in(spec: NodeSpec) -> Path:
    """The folder of the socket, as the host sees it."""
    return spec.work / f"{Path(confined.attending_init(spec)[-1]).name}{_WAY}"


def _withdraw_way_in(spec: NodeSpec) -> None:
    way = _way_in(spec)
    try:
        (way / _SOCKET).rename(way.with_name(way.name.removesuffix(_WAY)))
        way.rmdir()
    except OSError as error:
        raise NodeError(f"the node's first process made no socket to enter by: {error.strerror}") from error
    confined.withdraw_socket(spec)


def _everywhere(spec: NodeSpec, group: cgroups.Group) -> cgroups.Group:
    """The node's group in every hierarchy of version 1: in each, the runtime makes one below the group of Sarus."""
    if group.version != V1:
        return group
    own = {
        key: f"{point}/{cgroups.PARENT}/{spec.name}"
        for key, point in cgroups.find_hierarchies().mounts.items()
    }
    others = {str(point): f"{point}/{cgroups.PARENT}/{spec.name}" for point in group_mounts()}
    others = {key: path for key, path in others.items() if path not in own.values()}
    try:
        for path in others.values():
            Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NodeError(f"cannot make the control group {error.filename}: {error.strerror}") from error
    return cgroups.Group(V1, {**own, **others})


def _runtimes_groups(spec: NodeSpec) -> cgroups.Group:
    """The runtime's groups of version 2: beside the node's or, where version 1 has the limits, at the top."""
    names = (_container(spec), f"{cgroups.PARENT}/{_container(spec)}")
    paths = [path for name in names for path in cgroups.named_groups(name).paths]
    return cgroups.Group(V1, {path: path for path in paths})


def _claim(spec: NodeSpec, group: cgroups.Group) -> int:
    """Move the node's first process from the runtime's group, which has no limits, into the node's; return its id."""
    beside = _runtimes_groups(spec)
    both = cgroups.Group(group.version, {path: path for path in (*group.paths, *beside.paths)})
    first = confined.first_process(both)
    try:
        for file in group.process_files:
            write_text(file, str(first))
    except OSError as error:
        raise NodeError(f"cannot move the node's first process: {error.strerror}") from error
    for emptied in beside.directories:
        with suppress(OSError):
            emptied.rmdir()
    return first
