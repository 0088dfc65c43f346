# SPDX-License-Identifier: Apache-2.0
"""Linux-VServer: a guest of util-vserver whose directory is the node's own root, in a context of the patched kernel.

Written from vserver(8), vserver-build(8), the project's description of /etc/vservers (doc/configuration) and its
scripts, and never run on such a kernel: the tests drive it through transcripts based on these.
"""

import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tare.host import cgroups, mounts, process
from tare.nodes import confined, layer, root_mounts
from tare.nodes.provider import MADE_NETWORKS, TOOLS_DIRECTORY, Node, NodeSpec, Probe, Provider, Shared
from tare.records import NetworkKind

_CONFIGURATIONS = Path("/etc/vservers")
_CONTEXTS = Path("/proc/virtual")
"""Exists with a Linux-VServer kernel: one folder for each running context."""


class Vserver(Provider):
    technology = "vserver"
    networks = MADE_NETWORKS | {NetworkKind.HOST, NetworkKind.DEFAULT}
    own_limits = True
    bounds_processes = False
    option_names: Mapping[str, str] = {}
    shares = frozenset({Shared.PROCESS_IDS})

    def probe(self) -> Probe:
        probe = confined.probe_root()
        if not probe.usable:
            return probe
        if shutil.which("vserver", path=process.tool_environment()["PATH"]) is None:
            return Probe(
                usable=False,
                reason="the vserver command is missing",
                remedy="install util-vserver 0.30.216 from linux-vserver.org; Debian 12 has none",
            )
        probe = confined.probe_version(["vserver", "--version"], "util-vserver")
        return _probe_kernel(probe.version) if probe.usable else probe

    def start(self, spec: NodeSpec) -> Node:
        layer.prepare(spec)
        root = layer.mount_root(spec)
        process.run_checked(_build(spec))
        _configure(spec)
        _mount_guest(spec, root)
        process.run_checked([*confined.join_network(spec), "vserver", spec.name, "start"])
        return Node(spec=spec, init_pid=_init_pid(spec))

    def prefix(self, node: Node) -> list[str]:
        return [*confined.join_network(node.spec), "vserver", node.spec.name, "exec"]

    def stop(self, spec: NodeSpec) -> None:
        """``delete`` removes the guest's directory with everything mounted there, so it runs when nothing is."""
        ours = _is_ours(spec)
        if ours and process.run(["vserver", spec.name, "running"]).code == 0:
            process.run_checked([*confined.join_network(spec), "vserver", spec.name, "stop"], timeout_s=120)
        layer.remove(spec)
        if ours:
            process.run_checked(["vserver", "--silent", spec.name, "delete"])


def _probe_kernel(version: str) -> Probe:
    if not version.startswith("vserver "):
        reason = f"vserver is of an unknown version: {version[:80] or 'it printed nothing'}"
        return Probe(usable=False, reason=reason, remedy="install util-vserver 0.30.216 or later")
    if not _CONTEXTS.exists():
        reason = f"this kernel is not Linux-VServer's: {_CONTEXTS} is missing"
        return Probe(usable=False, reason=reason, remedy="boot a kernel with the patch of linux-vserver.org")
    if cgroups.find_hierarchies().version != cgroups.V1:
        reason = "util-vserver knows control groups of version 1 only"
        return Probe(usable=False, reason=reason, remedy="mount the controllers as version 1")
    return Probe(usable=True, version=version)


def _configuration(spec: NodeSpec) -> Path:
    return _CONFIGURATIONS / spec.name


def _guest(spec: NodeSpec) -> Path:
    """The place where ``build`` puts the guest's directory: below the ``--rootdir``."""
    return spec.directory / "vserver" / spec.name


def _is_ours(spec: NodeSpec) -> bool:
    try:
        return (_configuration(spec) / "vdir").readlink() == _guest(spec)
    except OSError:
        return False


def _build(spec: NodeSpec) -> list[str]:
    """An empty guest; without ``--force`` it refuses a name that is taken."""
    settings = ["--rootdir", str(_guest(spec).parent), "--hostname", spec.name, "--initstyle", "plain"]
    return ["vserver", spec.name, "build", "-m", "skeleton", *settings]


def _configure(spec: NodeSpec) -> None:
    """Files below /etc/vservers/NAME: no network context, no mounts of its own, Tare's init, the limits."""
    settings = {
        "noncontext": "",
        "fstab": "",
        "apps/init/cmd.start": f"{TOOLS_DIRECTORY}/init\n",
        **{f"cgroup/{name}": f"{value}\n" for name, value in _limits(spec).items()},
    }
    for name, text in settings.items():
        path = _configuration(spec) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _limits(spec: NodeSpec) -> dict[str, str]:
    """Files of the guest's control group, which the start writes in the order of their names."""
    quota_us = -1 if spec.cpu_quota is None else round(spec.cpu_quota * 100_000)
    swap = (
        {"memory.memsw.limit_in_bytes": str(spec.memory_byte)}
        if cgroups.find_hierarchies().counts_swap()
        else {}
    )
    return {
        "name": spec.name,
        "cpuset.cpus": cgroups.format_processors(spec.processors),
        "cpu.cfs_period_us": "100000",
        "cpu.cfs_quota_us": str(quota_us),
        "memory.limit_in_bytes": str(spec.memory_byte),
        **swap,
    }


def _mount_guest(spec: NodeSpec, root: Path) -> None:
    """Mount all of it below the root, then lay it over the empty guest: the start moves the host's mounts with it."""
    root_mounts.mount_system(spec, root)
    root_mounts.mount_shared(spec, root)
    mounts.bind(root, _guest(spec), writable=True)


def _init_pid(spec: NodeSpec) -> int | None:
    """Its id, from the context's number, which the start writes to ``run``, and the kernel's record of the context."""
    with suppress(OSError, ValueError):
        context = (_configuration(spec) / "run").read_text().split()[0]
        lines = (_CONTEXTS / context / "info").read_text().splitlines()
        return next((int(line.split()[1]) for line in lines if line.startswith("Init:")), None)
    return None
