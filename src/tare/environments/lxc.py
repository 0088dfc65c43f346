# SPDX-License-Identifier: Apache-2.0
"""LXC: lxc-start(1) with a configuration of our own, in a folder of our own; the user's containers are never seen."""

import os
from collections.abc import Mapping

from tare.environments import confined, layer
from tare.environments.provider import TOOLS_DIRECTORY, WORK_DIRECTORY, Node, NodeSpec, Probe, Provider
from tare.errors import NodeError
from tare.host import cgroups, process


class Lxc(Provider):
    technology = "lxc"
    option_names: Mapping[str, str] = {}

    def probe(self) -> Probe:
        return confined.probe_tool(["lxc-start", "--version"], "lxc")

    def start(self, spec: NodeSpec) -> Node:
        layer.prepare(spec)
        layer.mount_root(spec)
        folder = spec.directory / "lxc" / spec.name
        folder.mkdir(parents=True)
        (folder / "config").write_text(configuration(spec, cgroups.find_hierarchies().version))
        log = spec.directory / "lxc" / "log"
        done = process.run(["lxc-start", *_named(spec), "--daemon", "--logfile", str(log)])
        if done.code != 0:
            said = log.read_text(errors="replace").splitlines()[-3:] if log.exists() else [done.last_words]
            raise NodeError(f"lxc-start ended with {done.code}: {' / '.join(said)}")
        return Node(spec=spec, init_pid=_init_pid(spec))

    def prefix(self, node: Node) -> list[str]:
        return ["lxc-attach", *_named(node.spec), "--clear-env", "--"]

    def stop(self, spec: NodeSpec) -> None:
        if (spec.directory / "lxc" / spec.name / "config").exists():
            process.run(["lxc-stop", *_named(spec), "--kill", "--timeout", "10"], timeout_s=20)
        for part in ("payload", "monitor"):
            cgroups.named_groups(f"lxc.{part}.{spec.name}").remove()
        layer.remove(spec)


def configuration(spec: NodeSpec, cgroup_version: int) -> str:
    """The container's configuration, lxc.container.conf(5)."""
    lines = {
        "lxc.uts.name": spec.name,
        "lxc.rootfs.path": f"dir:{spec.directory / 'root'}",
        "lxc.init.cmd": f"{TOOLS_DIRECTORY}/init",
        "lxc.net.0.type": "empty",
        "lxc.net.0.flags": "up",
        "lxc.mount.auto": "proc:mixed sys:ro",
        "lxc.autodev": "1",
        "lxc.tty.max": "0",
        "lxc.signal.halt": "SIGTERM",
        **_limits(spec, cgroup_version),
    }
    if os.path.exists("/sys/kernel/security/apparmor"):  # noqa: PTH110 - a plain question
        lines["lxc.apparmor.profile"] = "unconfined"
    return "".join(f"{key} = {value}\n" for key, value in lines.items()) + _mounts(spec)


def _limits(spec: NodeSpec, cgroup_version: int) -> dict[str, str]:
    processors = cgroups.format_processors(spec.processors)
    if cgroup_version == 1:
        limits = {
            "lxc.cgroup.cpuset.cpus": processors,
            "lxc.cgroup.memory.limit_in_bytes": str(spec.memory_byte),
        }
        if spec.cpu_quota is not None:
            limits["lxc.cgroup.cpu.cfs_quota_us"] = str(round(spec.cpu_quota * 100_000))
        return limits
    quota = "max" if spec.cpu_quota is None else str(round(spec.cpu_quota * 100_000))
    return {
        "lxc.cgroup2.cpuset.cpus": processors,
        "lxc.cgroup2.memory.max": str(spec.memory_byte),
        "lxc.cgroup2.memory.swap.max": "0",
        "lxc.cgroup2.cpu.max": f"{quota} 100000",
    }


def _mounts(spec: NodeSpec) -> str:
    shm = f"tmpfs dev/shm tmpfs nosuid,size={spec.shm_byte},mode=1777,create=dir 0 0"
    entries = [shm, f"{spec.work} {WORK_DIRECTORY.lstrip('/')} none bind 0 0"]
    for bound in spec.binds:
        kind = "bind" if bound.writable else "bind,ro"
        entries.append(f"{bound.path} {str(bound.path).lstrip('/')} none {kind} 0 0")
    return "".join(f"lxc.mount.entry = {entry}\n" for entry in entries)


def _named(spec: NodeSpec) -> list[str]:
    return ["-P", str(spec.directory / "lxc"), "-n", spec.name]


def _init_pid(spec: NodeSpec) -> int:
    done = process.run_checked(["lxc-info", *_named(spec), "--pid", "--no-humanize"])
    if not done.stdout.strip().isdigit():
        raise NodeError("lxc-info does not know the container's first process; it ended at once")
    return int(done.stdout)
