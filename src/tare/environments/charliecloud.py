# SPDX-License-Identifier: Apache-2.0
"""Charliecloud: ch-run(1), with its user and mount namespaces and no others.

By default it shows the host's /dev, /sys, /tmp and host names in the node; Tare's nodes get their own instead, by
ch-run's own ``--bind``, which comes after the defaults.
"""

from collections.abc import Mapping
from pathlib import Path

from tare.errors import NodeError
from tare.host import cgroups, mounts, process
from tare.host.distribution import to_install
from tare.host.privileges import ordinary_user
from tare.nodes import confined, layer, root_mounts, unprivileged
from tare.nodes.provider import MADE_NETWORKS, TOOLS_DIRECTORY, Node, NodeSpec, Probe, Shared
from tare.nodes.unprivileged import AlsoUnprivileged
from tare.records import NetworkKind

_PACKAGE = "charliecloud-runtime"
_PROBE_LIMIT_S = 5.0
_ALLOW = (
    "allow user namespaces: sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns"
)
_USER = {"USER": "root"}
"""ch-run does not start without it; it names a storage folder that is never used here."""
_SEEN = "/mnt"
"""Where a user's ch-run sees the node's root, in its own mount namespace: the node's folder is closed to users."""
_SHOWING = (
    f"mount -t tmpfs -o mode=755 tare {_SEEN} && mkdir -m 755 {_SEEN}/root {_SEEN}/own && "
    f'mount --rbind "$0" {_SEEN}/root && mount --rbind "$1" {_SEEN}/own && shift && exec "$@"'
)
_FROM_HOST = ("dev", "sys", "tmp", "etc/hosts", "etc/machine-id", "etc/resolv.conf")
"""What ch-run takes from the host by default; the files only where the image has them too."""


class Charliecloud(AlsoUnprivileged):
    technology = "charliecloud"
    networks = MADE_NETWORKS | {NetworkKind.HOST, NetworkKind.DEFAULT}
    device_refusal = None
    option_names: Mapping[str, str] = {}
    shares = frozenset({Shared.HOST_NAME, Shared.PROCESS_IDS})

    def probe(self) -> Probe:
        """ch-checkns(1) reports whether the kernel lets ch-run make its namespaces."""
        probe = unprivileged.probe() if ordinary_user() else confined.probe_root()
        if not probe.usable:
            return probe
        try:
            version = process.run(["ch-run", "--version"], timeout_s=_PROBE_LIMIT_S, variables=_USER)
            checked = process.run(["ch-checkns"], timeout_s=_PROBE_LIMIT_S, variables=_USER)
        except NodeError as error:
            return Probe(usable=False, reason=str(error), remedy=to_install(_PACKAGE))
        if version.code != 0:
            return Probe(
                usable=False, reason=f"ch-run fails: {version.last_words}", remedy=f"reinstall {_PACKAGE}"
            )
        if checked.code != 0:
            reason = f"ch-run cannot make its namespaces: {checked.last_words}"
            return Probe(usable=False, reason=reason, remedy=_ALLOW)
        return Probe(usable=True, version=version.last_words)  # 0.31 prints it to standard error

    def start(self, spec: NodeSpec) -> Node:
        run = _run(spec, _options(spec), folder=_own(spec))
        if ordinary_user():
            return unprivileged.start(spec, run, system=True, again=_own(spec))
        layer.prepare(spec)
        _mount_below(spec, layer.mount_root(spec))
        group = confined.create_group(spec)
        held = confined.begin(spec, group, spec.network.namespace)
        argv = [*held, *run, f"{TOOLS_DIRECTORY}/init"]
        process.start_idle(argv, log=spec.directory / "init.log")
        return Node(spec=spec, init_pid=confined.only_process(group), made_as_user=spec.user is not None)

    def prefix(self, node: Node) -> list[str]:
        run = _run(node.spec, [f"--join-pid={node.init_pid}"])
        if ordinary_user():
            return [*unprivileged.enter_outside(node), *run]
        group = cgroups.own_group(node.spec.name)
        return [*confined.join(node.spec, group, node.spec.network.namespace), *run]


def _own(spec: NodeSpec) -> Path:
    """The node's root once more, in the place of directories that ch-run would take from the host."""
    return spec.directory / "layer" / "own"


def _mount_below(spec: NodeSpec, root: Path) -> None:
    """Mount all of it below the root: ch-run binds the root with everything mounted there."""
    root_mounts.mount_system(spec, root)
    root_mounts.mount_shared(spec, root)
    _own(spec).mkdir()
    mounts.bind(root, _own(spec), writable=True)


def _options(spec: NodeSpec) -> list[str]:
    """Options of ch-run for a node's first process; bind paths are relative, since a colon would end them."""
    binds = [f"--bind={name}:/{name}" for name in _FROM_HOST if _is_plain(spec.image_root / name)]
    ids = ["--uid=0", "--gid=0"] if spec.user is None else []
    return ["--write", "--private-tmp", "--no-passwd", *ids, *binds]


def _is_plain(path: Path) -> bool:
    return path.exists() and not path.is_symlink()


def _run(spec: NodeSpec, options: list[str], *, folder: Path = Path("/")) -> list[str]:
    """The argv that runs ch-run; ``folder`` is where it starts, and its relative paths with it.

    A user's ch-run is started by that user, as people run it: nobody else has an id in the namespace that it makes.
    """
    variables = [f"{name}={value}" for name, value in _USER.items()]
    run = ["ch-run", "--unset-env=USER", *options]
    if spec.user is None:
        return ["env", f"--chdir={folder}", *variables, *run, str(spec.directory / "root"), "--"]
    inside = f"{_SEEN}/own" if folder == _own(spec) else "/"
    show = ["unshare", "--mount", "--", "sh", "-c", _SHOWING, str(spec.directory / "root"), str(_own(spec))]
    drop = [f"{spec.image_root}{TOOLS_DIRECTORY}/drop", "--user", str(spec.user), "--"]
    return [*show, *drop, "env", f"--chdir={inside}", *variables, *run, f"{_SEEN}/root", "--"]
