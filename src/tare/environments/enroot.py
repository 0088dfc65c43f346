# SPDX-License-Identifier: Apache-2.0
"""enroot: ``enroot start --rw`` of an unpacked root, in its user and mount namespaces, with its system call filter.

The root is Tare's layer over the image, in the place of what ``enroot create`` unpacks. By itself enroot shows the
host's /dev, /sys and names of hosts and users, and a /tmp in memory; Tare's nodes have their own, by one mount over
all of them. No mounts.d, hooks.d or environ.d of the host or the user takes part, and the settings of a start are
enroot's own defaults, whatever enroot.conf says. Sources: enroot's documents "Configuration", "Image format", "start".
"""

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tare.errors import NodeError
from tare.host import process
from tare.host.privileges import ordinary_user
from tare.host.scratch import scratch_folder
from tare.nodes import confined, layer, root_mounts, unprivileged
from tare.nodes.provider import MADE_NETWORKS, TOOLS_DIRECTORY, Node, NodeSpec, Probe, Shared
from tare.nodes.unprivileged import AlsoUnprivileged
from tare.records import NetworkKind, User

_PROBE_LIMIT_S = 5.0
_INSTALL = "install a release from github.com/NVIDIA/enroot; distributions have no package"
_ALLOW = (
    "allow user namespaces: sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns"
)
_MADE = ("DATA", "RUNTIME", "CACHE")
"""Folders that enroot makes, whatever it is told to do."""
_NAMESPACES = ["enroot-nsenter", "--user", "--mount", "true"]
_SEEN = "/mnt"
"""Where enroot sees the node, in a mount namespace: its paths have no spaces, and the node's folder is closed."""
_SHOWING = (
    'mkdir "$0" && mount -t tmpfs -o size=64k,mode=755 tare "$0" && mkdir -m 755 "$0/root" "$0/all" "$0/none" && '
    'mkdir -m 1777 "$0/run" && echo \'exec "$@" 3>&-\' >"$0/rc" && mount --bind "$1" "$0/root" && '
    f'mount --rbind "$1" "$0/all" && mount --rbind "$0" {_SEEN} && shift && exec "$@"'
)
"""Show the root without what is mounted below, as enroot takes it; all of it; and a script in place of its /etc/rc."""
_SETTINGS = {
    "DATA_PATH": _SEEN,
    "RUNTIME_PATH": f"{_SEEN}/run/node",
    "CACHE_PATH": f"{_SEEN}/run/cache",
    "SYSCONF_PATH": f"{_SEEN}/none",
    "CONFIG_PATH": f"{_SEEN}/none",
    "LOGIN_SHELL": "yes",
    **dict.fromkeys(("ALLOW_SUPERUSER", "REMAP_ROOT"), "no"),
    **dict.fromkeys(("UNSHARE_PID", "UNSHARE_NET", "UNSHARE_IPC", "UNSHARE_UTS"), "no"),
}
"""Folders, and defaults of enroot's: a variable goes before enroot.conf."""
_LOCK = ".lock"
"""The file in the root that enroot opens as it starts, following a link."""


class Enroot(AlsoUnprivileged):
    technology = "enroot"
    networks = MADE_NETWORKS | {NetworkKind.HOST, NetworkKind.DEFAULT}
    device_refusal = None
    option_names: Mapping[str, str] = {}
    shares = frozenset({Shared.HOST_NAME, Shared.PROCESS_IDS})

    def probe(self) -> Probe:
        """``enroot-nsenter`` makes the namespaces of every start."""
        probe = unprivileged.probe() if ordinary_user() else confined.probe_root()
        return _probe_tool() if probe.usable else probe

    def start(self, spec: NodeSpec) -> Node:
        if (spec.image_root / _LOCK).is_symlink():
            raise NodeError(
                f"the image's /{_LOCK} is a link, by which enroot would write to the host: remove it"
            )
        node = _start_as_user(spec) if ordinary_user() else _start(spec)
        return replace(node, facts={**node.facts, "root files": "unpacked, in Tare's layer"})

    def prefix(self, node: Node) -> list[str]:
        """Not ``enroot exec``: its command may gain privileges, as those of ``enroot start`` may not."""
        return confined.enter_attended(node.spec)


def _probe_tool() -> Probe:
    try:
        with scratch_folder("enroot") as folder:
            variables = {f"ENROOT_{name}_PATH": str(folder) for name in _MADE}
            said = process.run(["enroot", "version"], timeout_s=_PROBE_LIMIT_S, variables=variables)
        tried = process.run(_NAMESPACES, timeout_s=_PROBE_LIMIT_S)
    except NodeError as error:
        return Probe(usable=False, reason=str(error), remedy=_INSTALL)
    if said.code != 0 or not (version := re.fullmatch(r"\d+\.\d+\.\d+\S*", said.stdout.strip())):
        return Probe(usable=False, reason=f"enroot fails: {said.last_words}", remedy=_INSTALL)
    if tried.code != 0:
        reason = f"enroot cannot make its namespaces: {tried.last_words}"
        return Probe(usable=False, reason=reason, remedy=_ALLOW)
    return Probe(usable=True, version=f"enroot {version[0]}")


def _start_as_user(spec: NodeSpec) -> Node:
    return unprivileged.start(spec, _run(spec), system=True, attends=True)


def _start(spec: NodeSpec) -> Node:
    layer.prepare(spec)
    root = layer.mount_root(spec)
    root_mounts.mount_system(spec, root)
    root_mounts.mount_shared(spec, root)
    group = confined.create_group(spec)
    if spec.user is not None:
        _hand_over(root / _LOCK, spec.work, spec.user)
    held = confined.begin(spec, group, spec.network.namespace)
    argv = [*held, "unshare", "--mount", "--", *_run(spec), *confined.attending_init(spec)]
    process.start_idle(argv, log=spec.directory / "init.log")
    confined.withdraw_socket(spec)
    if spec.user is not None:
        os.chown(spec.work, os.geteuid(), os.getegid())
    return Node(spec=spec, init_pid=confined.only_process(group), made_as_user=spec.user is not None)


def _hand_over(lock: Path, work: Path, user: User) -> None:
    """Let the user who starts enroot open its lock, and the node's first process make its socket."""
    os.close(os.open(lock, os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    os.chown(lock, user.uid, user.gid, follow_symlinks=False)
    os.chown(work, user.uid, user.gid)


def _run(spec: NodeSpec) -> list[str]:
    """The argv that runs enroot, as ``spec.user`` where there is one: inside there is nobody else to become."""
    show = ["sh", "-c", _SHOWING, str(spec.directory / "layer" / "enroot"), str(spec.directory / "root")]
    drop = [f"{_SEEN}/root{TOOLS_DIRECTORY}/drop", "--user", str(spec.user), "--"] if spec.user else []
    settings = [f"ENROOT_{name}={value}" for name, value in _SETTINGS.items()]
    mount = ["--mount", f"{_SEEN}/all:/:none:rbind"]
    return [
        *(*show, *drop, "env", "--chdir=/", *settings),
        *("enroot", "start", "--rw", "--rc", f"{_SEEN}/rc", "--env", "HOME=/", *mount, "--", "root"),
    ]
