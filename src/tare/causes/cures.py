# SPDX-License-Identifier: Apache-2.0
"""Cures in the users' own words: the meaning of each knob for users of a technology without Tare."""

from collections.abc import Mapping

ANY = "any"
"""In place of a technology: every technology without an entry of its own."""


def _engines(arguments: str) -> dict[str, str]:
    return {engine: f"{engine} run {arguments}" for engine in ("docker", "podman")}


CURES: Mapping[str, Mapping[str, str]] = {
    "sys-ptrace": _engines("--cap-add SYS_PTRACE"),
    "seccomp-off": {
        **_engines("--security-opt seccomp=unconfined"),
        "lxc": "lxc.seccomp.profile = (empty) in the container's configuration",
        "systemd-nspawn": "SYSTEMD_SECCOMP=0 systemd-nspawn ...",
    },
    "quota-off": {
        **_engines("without --cpus and --cpu-quota; --cpuset-cpus gives whole processors instead"),
        "lxc": "take lxc.cgroup.cpu.cfs_quota_us (lxc.cgroup2.cpu.max) out of the configuration",
        "systemd-nspawn": "--property=CPUQuota= (empty)",
        ANY: "give the node whole processors instead of a quota",
    },
    "weight-default": {
        **_engines("without --cpu-shares (or with 1024)"),
        "lxc": "lxc.cgroup.cpu.shares = 1024 (lxc.cgroup2.cpu.weight = 100)",
        ANY: "the default weight, or processors of its own",
    },
    "huge-pages": {
        "qemu": "-mem-path /dev/hugepages -mem-prealloc",
        "libvirt": "<memoryBacking><hugepages/></memoryBacking>",
    },
    "shm-larger": {
        **_engines("--shm-size 1g"),
        "lxc": "lxc.mount.entry = tmpfs dev/shm tmpfs size=1g,create=dir 0 0",
        "systemd-nspawn": "--tmpfs=/dev/shm:size=1g,mode=1777",
        ANY: "a larger /dev/shm",
    },
    "storage-memory": {
        **_engines("--tmpfs /scratch for what need not last"),
        "lxc": "lxc.mount.entry = tmpfs scratch tmpfs create=dir 0 0",
        "systemd-nspawn": "--tmpfs=/scratch",
        ANY: "scratch files in memory (tmpfs)",
    },
    "tare-storage": {
        **_engines("-v /data:/data for what the job writes"),
        ANY: "a volume or a bind mount for what the job writes",
    },
    "sandbox": {"apptainer": "apptainer build --sandbox app app.sif, then apptainer exec app"},
    "preload-off": {ANY: "without the agent's library: LD_PRELOAD, LD_AUDIT and /etc/ld.so.preload empty"},
    "rto-min": {ANY: "ip route change ... rto_min 5ms inside the node"},
    "host-network": {
        **_engines("--network host"),
        "lxc": "lxc.net.0.type = none",
        "systemd-nspawn": "without --private-network and --network-veth",
        ANY: "the host's network",
    },
    "vhost": {"qemu": "-netdev tap,vhost=on -device virtio-net-pci"},
    "paravirtual": {
        "qemu": "virtio devices: -device virtio-net-pci, -device virtio-blk-pci",
        "libvirt": "<model type='virtio'/> for the network, bus='virtio' for disks",
    },
    "kvm": {"qemu": "-accel kvm", "libvirt": "<domain type='kvm'>"},
    "pinning": {
        "qemu": "each virtual processor on one of the host's (taskset -p of its thread)",
        "libvirt": "<cputune><vcpupin vcpu='0' cpuset='0'/> ...</cputune>",
    },
    "clock": {"qemu": "-cpu host,+invtsc, and clocksource=kvm-clock or tsc in the guest"},
    "cpu-host": {"qemu": "-cpu host", "libvirt": "<cpu mode='host-passthrough'/>"},
    "local-memory": {
        **_engines("--cpuset-mems for the nodes of --cpuset-cpus"),
        "lxc": "lxc.cgroup.cpuset.mems for the nodes of cpuset.cpus",
        ANY: "cpuset.mems for the NUMA nodes of its processors",
    },
    "memory-double": {
        **_engines("--memory, twice as large"),
        "lxc": "lxc.cgroup.memory.limit_in_bytes (lxc.cgroup2.memory.max), twice as large",
        ANY: "a larger memory limit",
    },
}
"""Knob → technology → the setting that its user writes."""
