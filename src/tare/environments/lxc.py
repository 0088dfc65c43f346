# SPDX-License-Identifier: Apache-2.0
"""LXC: lxc-start(1) with our own configuration, in our own folder; the user's containers are never seen."""

from collections.abc import Mapping
from pathlib import Path

from tare.engines import engine
from tare.errors import NodeError
from tare.host import cgroups, process
from tare.nodes import confined, layer
from tare.nodes.provider import (
    MADE_NETWORKS,
    TOOLS_DIRECTORY,
    WORK_DIRECTORY,
    Node,
    NodeSpec,
    Probe,
    Provider,
)
from tare.records import NetworkKind, OptionValue

_GROUPS = {"container": "payload", "monitor": "monitor"}
"""LXC's own groups, below the node's: side by side, each would have its own weight, and the node twice another's."""

_COMMON = Path("/usr/share/lxc/config/common.conf")
"""The settings of every container on a distribution: dropped capabilities, a system-call filter, allowed devices."""
_DEFAULT = Path("/etc/lxc/default.conf")
"""The settings of a container created on this host."""

_UNCOMMON = {"lxc.mount.auto": "proc:mixed sys:ro", "lxc.tty.max": "0"}
"""For an LXC installed without it."""

_APPARMOR = Path("/sys/module/apparmor/parameters/enabled")
"""Where LXC itself checks whether the kernel has AppArmor."""


class Lxc(Provider):
    technology = "lxc"
    networks = MADE_NETWORKS | {NetworkKind.HOST, NetworkKind.DEFAULT}
    device_refusal = None
    option_names: Mapping[str, str] = {"seccomp": engine.SECCOMP_HELP}

    def check_options(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        return engine.check_seccomp(options)

    def probe(self) -> Probe:
        return confined.probe_tool(["lxc-start", "--version"], "lxc")

    def start(self, spec: NodeSpec) -> Node:
        engine.require(self.check_options(spec.options))
        layer.prepare(spec)
        layer.mount_root(spec)
        cgroups.prepare_parent()
        folder = spec.directory / "lxc" / spec.name
        folder.mkdir(parents=True)
        (folder / "config").write_text(configuration(spec, cgroups.find_hierarchies()))
        log = spec.directory / "lxc" / "log"
        done = process.run(["lxc-start", *_named(spec), "--daemon", "--logfile", str(log)])
        if done.code != 0:
            said = _errors(log.read_text(errors="replace")) if log.exists() else ""
            raise NodeError(f"lxc-start ended with {done.code}: {said or done.last_words}")
        return Node(spec=spec, init_pid=confined.first_process(cgroups.own_group(spec.name)))

    def prefix(self, node: Node) -> list[str]:
        return ["lxc-attach", *_named(node.spec), "--clear-env", "--"]

    def helpers(self, node: Node) -> list[int]:
        """The container's monitor."""
        return engine.supervisors(node, "lxc-start")

    def stop(self, spec: NodeSpec) -> None:
        if (spec.directory / "lxc" / spec.name / "config").exists():
            process.run(["lxc-stop", *_named(spec), "--kill"], timeout_s=20)
        cgroups.named_groups(_group(spec)).remove()
        layer.remove(spec)


def _errors(log: str) -> str:
    """The first errors of a log: the reason comes first, then the parts that give up because of it."""
    lines = [line.split(" - ", 2)[-1].strip() for line in log.splitlines() if " ERROR " in line]
    return " / ".join(lines[:2])


def configuration(spec: NodeSpec, host: cgroups.Hierarchies) -> str:
    """The container's configuration, lxc.container.conf(5)."""
    lines = {
        **({} if _COMMON.exists() else _UNCOMMON),
        **_security_label(),
        **_system_calls(spec),
        "lxc.uts.name": spec.name,
        "lxc.rootfs.path": f"dir:{spec.directory / 'root'}",
        "lxc.init.cmd": f"{TOOLS_DIRECTORY}/init",
        **_network(spec),
        "lxc.autodev": "1",
        "lxc.signal.halt": "SIGTERM",
        **{f"lxc.cgroup.dir.{part}": f"{_group(spec)}/{name}" for part, name in _GROUPS.items()},
        "lxc.cgroup.dir.monitor.pivot": f"{cgroups.PARENT}/{cgroups.ENDING}",
        **_limits(spec, host),
    }
    allowed = "lxc.cgroup" if host.version == cgroups.V1 else "lxc.cgroup2"
    devices = "".join(f"{allowed}.devices.allow = c {each.major}:{each.minor} rwm\n" for each in spec.devices)
    common = f"lxc.include = {_COMMON}\n" if _COMMON.exists() else ""
    return common + "".join(f"{key} = {value}\n" for key, value in lines.items()) + devices + _mounts(spec)


def _group(spec: NodeSpec) -> str:
    return f"{cgroups.PARENT}/{spec.name}"


def _system_calls(spec: NodeSpec) -> dict[str, str]:
    """The setting for system calls; an empty profile overrides the common configuration's (lxc.container.conf(5))."""
    return {} if spec.options.get("seccomp", True) else {"lxc.seccomp.profile": ""}


def _security_label() -> dict[str, str]:
    """AppArmor's profile as the administrator set it for new containers, where the kernel has AppArmor."""
    if not _APPARMOR.exists():
        return {}
    stated = _DEFAULT.read_text(errors="replace").splitlines() if _DEFAULT.exists() else []
    pairs = [line.partition("=") for line in stated if line.startswith("lxc.apparmor.")]
    return {key.strip(): value.strip() for key, _, value in pairs}


def _network(spec: NodeSpec) -> dict[str, str]:
    """An existing namespace, the host's, or the administrator's default."""
    if spec.network.namespace is not None:
        return {"lxc.namespace.share.net": str(spec.network.namespace)}
    if spec.network.kind is NetworkKind.DEFAULT:
        return {"lxc.include": "/etc/lxc/default.conf"}
    return {"lxc.net.0.type": "none"}


def _limits(spec: NodeSpec, host: cgroups.Hierarchies) -> dict[str, str]:
    processors, memory_byte = cgroups.format_processors(spec.processors), str(spec.memory_byte)
    quota_us = None if spec.cpu_quota is None else round(spec.cpu_quota * 100_000)
    if host.version == cgroups.V1:
        limits = {"cpuset.cpus": processors, "memory.limit_in_bytes": memory_byte}
        swap = {"memory.memsw.limit_in_bytes": memory_byte}
        quota = {} if quota_us is None else {"cpu.cfs_quota_us": str(quota_us)}
    else:
        limits = {"cpuset.cpus": processors, "memory.max": memory_byte}
        swap = {"memory.swap.max": "0"}
        quota = {"cpu.max": f"{'max' if quota_us is None else quota_us} 100000"}
    key = "lxc.cgroup" if host.version == cgroups.V1 else "lxc.cgroup2"
    if spec.bounds.processes is not None and "pids" in host.mounts:
        limits["pids.max"] = str(spec.bounds.processes)
    named = {**limits, **(swap if host.counts_swap() else {}), **quota}
    return {f"{key}.{name}": value for name, value in named.items()}


def _mounts(spec: NodeSpec) -> str:
    shm = f"tmpfs dev/shm tmpfs nosuid,size={spec.shm_byte},mode=1777,create=dir 0 0"
    entries = [shm, _bind(spec.work, WORK_DIRECTORY, writable=True)]
    entries += [
        _bind(source, str(bind.path), writable=bind.writable) for source, bind in layer.bound_sources(spec)
    ]
    for device in spec.devices:
        entries.append(f"{device.path} {str(device.path).lstrip('/')} none bind,create=file 0 0")
    return "".join(f"lxc.mount.entry = {entry}\n" for entry in entries)


def _bind(source: Path, target: str, *, writable: bool) -> str:
    options = "rbind" if writable else "rbind,ro"
    return f"{_fstab(str(source))} {_fstab(target.lstrip('/'))} none {options} 0 0"


def _fstab(text: str) -> str:
    """Escape characters that would end a field of fstab(5): LXC reads its entries with getmntent(3)."""
    return "".join(f"\\{ord(letter):03o}" if letter in " \t\n\\" else letter for letter in text)


def _named(spec: NodeSpec) -> list[str]:
    return ["-P", str(spec.directory / "lxc"), "-n", spec.name]
