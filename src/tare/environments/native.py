# SPDX-License-Identifier: Apache-2.0
"""Native: the host's own kernel, devices, network and process ids, in the image by chroot(2), under the same limits."""

from collections.abc import Mapping
from pathlib import Path

from tare.environments import confined, layer
from tare.environments.provider import TOOLS_DIRECTORY, WORK_DIRECTORY, Node, NodeSpec, Probe, Provider
from tare.host import cgroups, devices, mounts, process


class Native(Provider):
    technology = "native"
    option_names: Mapping[str, str] = {}

    def probe(self) -> Probe:
        return confined.probe_root()

    def start(self, spec: NodeSpec) -> Node:
        layer.prepare(spec)
        root = layer.mount_root(spec)
        _mount_system(spec, root)
        group = confined.create_group(spec)
        argv = [*confined.join(spec, group), "chroot", str(root), f"{TOOLS_DIRECTORY}/init"]
        return Node(spec=spec, init_pid=process.start_idle(argv, log=spec.directory / "init.log"))

    def prefix(self, node: Node) -> list[str]:
        spec = node.spec
        return [*confined.join(spec, cgroups.own_group(spec.name)), "chroot", str(spec.directory / "root")]

    def stop(self, spec: NodeSpec) -> None:
        confined.remove(spec)


def _mount_system(spec: NodeSpec, root: Path) -> None:
    mounts.mount("proc", root / "proc", "proc", mounts.MS_NOSUID | mounts.MS_NODEV | mounts.MS_NOEXEC)
    mounts.mount("sysfs", root / "sys", "sysfs", mounts.MS_RDONLY | mounts.MS_NOSUID | mounts.MS_NODEV)
    devices.populate(root / "dev", spec.shm_byte)
    mounts.bind(spec.work, root / WORK_DIRECTORY.lstrip("/"), writable=True)
    for source, bound in layer.bound_sources(spec):
        mounts.bind(source, root / str(bound.path).lstrip("/"), writable=bound.writable)
