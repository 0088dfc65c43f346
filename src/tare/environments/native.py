# SPDX-License-Identifier: Apache-2.0
"""Native: the host's own kernel, devices, network and process ids, in the image by chroot(2), under the same limits.

``chroot`` is the same as an environment of its own: it follows the layout and the network that it is given, where
native is always one node on the host's network. Between the two lies what a network namespace alone costs.

An ordinary user may neither mount nor change the root directory but in a user namespace: theirs is in one.
"""

from collections.abc import Mapping
from pathlib import Path

from tare.environments import confined, layer, unprivileged
from tare.environments.provider import (
    TOOLS_DIRECTORY,
    WORK_DIRECTORY,
    Node,
    NodeSpec,
    Probe,
    Shared,
)
from tare.environments.unprivileged.provider import AlsoUnprivileged
from tare.host import cgroups, devices, mounts, process
from tare.records import NATIVE, NetworkKind


class Native(AlsoUnprivileged):
    technology = NATIVE
    option_names: Mapping[str, str] = {}
    networks = frozenset({NetworkKind.HOST})
    shares = frozenset({Shared.HOST_NAME, Shared.PROCESS_IDS})

    def probe(self) -> Probe:
        return unprivileged.probe() if unprivileged.ordinary_user() else confined.probe_root()

    def start(self, spec: NodeSpec) -> Node:
        if unprivileged.ordinary_user():
            return unprivileged.start(spec)
        layer.prepare(spec)
        _mount_system(spec, layer.mount_root(spec))
        group = confined.create_group(spec)
        argv = [*_enter(spec, group), f"{TOOLS_DIRECTORY}/init"]
        return Node(spec=spec, init_pid=process.start_idle(argv, log=spec.directory / "init.log"))

    def prefix(self, node: Node) -> list[str]:
        if unprivileged.ordinary_user():
            return unprivileged.enter(node, in_image=True)
        return _enter(node.spec, cgroups.own_group(node.spec.name))


class Chroot(Native):
    technology = "chroot"
    networks = frozenset(NetworkKind)


def _enter(spec: NodeSpec, group: cgroups.Group) -> list[str]:
    root = str(spec.directory / "root")
    return [*confined.join(spec, group), *confined.join_network(spec), "chroot", root]


def _mount_system(spec: NodeSpec, root: Path) -> None:
    mounts.mount("proc", root / "proc", "proc", mounts.MS_NOSUID | mounts.MS_NODEV | mounts.MS_NOEXEC)
    _mount_sysfs(spec, root / "sys")
    devices.populate(root / "dev", spec.shm_byte)
    mounts.bind(spec.work, root / WORK_DIRECTORY.lstrip("/"), writable=True)
    for source, bound in layer.bound_sources(spec):
        mounts.bind(source, root / str(bound.path).lstrip("/"), writable=bound.writable)


def _mount_sysfs(spec: NodeSpec, target: Path) -> None:
    """From within the node's network: sysfs shows the links of whoever mounts it (network_namespaces(7))."""
    if spec.network.namespace is None:
        mounts.mount("sysfs", target, "sysfs", mounts.MS_RDONLY | mounts.MS_NOSUID | mounts.MS_NODEV)
    else:
        options = ["-t", "sysfs", "-o", "ro,nosuid,nodev", "sysfs", str(target)]
        process.run_checked([*confined.join_network(spec), "mount", *options])
