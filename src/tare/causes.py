# SPDX-License-Identifier: Apache-2.0
"""Known causes: by what each shows, which knobs try it, and what a user writes to cure it (docs/causes.md).

What was learnt of one machine is kept here for all others. To add a cause: an entry below, and a knob in
``plan/knobs.py`` if none of them tries it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

ANY = ""
"""Of a label: whatever value differs from native's."""
_DOCKER_LIKE = ("docker", "podman")


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCause:
    """One mechanism that makes an environment slower, or faster, than native."""

    name: str
    title: str
    """In a sentence such as "cause: ...": a noun."""
    signals: tuple[str, ...] = ()
    """Candidates that speak for it (docs/signals.md)."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Label of a trial's facts or confinement → a part of the environment's value that speaks for it, where native
    has another value."""
    decisive: bool = False
    """Whether such a label shows the mechanism at work, and not only that it could be."""
    refused: tuple[str, ...] = ()
    """System calls that fail in the environment and succeed natively."""
    repeated: tuple[str, ...] = ()
    """System calls that the environment makes many more of than native."""
    dearer: str | None = None
    """A signal that is a cost per call, and of which calls it is: see ``DEARER``."""
    speeds_up: bool = False
    """Whether it can also be why an environment is faster than native."""
    knobs: tuple[str, ...] = ()
    """In the order in which they are tried; the first that the environment can turn is used."""
    cures: Mapping[str, str] = field(default_factory=dict)
    """Technology → what its user writes; ``sbatch``: in a Slurm job; ``any``: wherever nothing else is said."""
    gain: str = ""
    """How native has the same, where the environment is faster by it."""
    source: str
    """Where the mechanism is described."""

    def cure_for(self, technology: str) -> str:
        """What the user of a technology writes, and in a Slurm job; empty where nothing is known."""
        own = self.cures.get(technology) or self.cures.get("any", "")
        slurm = self.cures.get("sbatch")
        return f"{own} (in a Slurm job: {slurm})" if own and slurm else own


DEARER: Mapping[str, tuple[str, ...]] = {
    "system_call_cost_s": (),
    "clock_read_cost_s": ("clock_gettime", "gettimeofday", "time"),
}
"""Signal that is a cost per call → the calls that it is a cost of; empty: all system calls."""


def _engines(arguments: str) -> dict[str, str]:
    return {engine: f"{engine} run {arguments}" for engine in _DOCKER_LIKE}


_CAUSES = (
    KnownCause(
        name="refused-single-copy",
        title="MPI's single copy through the kernel is refused",
        labels={"mpi single copy": "refused"},
        decisive=True,
        refused=("process_vm_readv", "process_vm_writev"),
        speeds_up=True,
        knobs=("sys-ptrace", "seccomp-off"),
        cures={
            **_engines("--cap-add SYS_PTRACE"),
            "lxc": "lxc.seccomp.profile = (empty) in the container's configuration",
            "sbatch": "export OMPI_MCA_btl_vader_single_copy_mechanism=none (two copies, in all ranks alike)",
        },
        gain="export OMPI_MCA_btl_vader_single_copy_mechanism=none natively: two copies instead of the kernel's one",
        source="process_vm_readv(2); docs.docker.com/engine/security/seccomp; Open MPI FAQ, sm/vader and CMA",
    ),
    KnownCause(
        name="system-call-filter",
        title="the filter of system calls, which every call passes",
        labels={"system call filter": "filter"},
        dearer="system_call_cost_s",
        knobs=("seccomp-off",),
        cures={
            **_engines("--security-opt seccomp=unconfined"),
            "lxc": "lxc.seccomp.profile = (empty) in the container's configuration",
            "systemd-nspawn": "SYSTEMD_SECCOMP=0 systemd-nspawn ...",
            "any": "a shorter filter, or none for trusted jobs",
        },
        source="seccomp(2); docs.docker.com/engine/security/seccomp",
    ),
    KnownCause(
        name="mitigations",
        title="mitigations of the processor's flaws that native processes run without",
        labels={"mitigation of store bypass": "mitigated", "mitigation of indirect branches": "disabled"},
        knobs=("seccomp-off",),
        cures={
            **_engines("--security-opt seccomp=unconfined: before Linux 5.16 a filter switches them on"),
            "any": "spec_store_bypass_disable=prctl spectre_v2_user=prctl on the kernel's command line, the default "
            "from Linux 5.16 on",
        },
        source="Linux, Documentation/userspace-api/spec_ctrl.rst; commit 2f46993d83ff",
    ),
    KnownCause(
        name="cpu-quota",
        title="a CPU quota",
        signals=("throttled_s", "throttled_periods"),
        decisive=True,
        knobs=("quota-off",),
        cures={
            **_engines("without --cpus and --cpu-quota; --cpuset-cpus gives whole processors instead"),
            "lxc": "take lxc.cgroup.cpu.cfs_quota_us (lxc.cgroup2.cpu.max) out of the configuration",
            "systemd-nspawn": "--property=CPUQuota= (empty)",
            "sbatch": "#SBATCH --cpus-per-task=N for whole processors",
            "any": "give the node whole processors instead of a quota",
        },
        source="Linux, Documentation/scheduler/sched-bwc.rst",
    ),
    KnownCause(
        name="cpu-weight",
        title="a smaller weight than its neighbours' when processors are shared",
        signals=("runnable_wait_s", "psi_cpu_some_s", "involuntary_switches", "vcpu_wait_s"),
        labels={"CPU weight": ANY},
        knobs=("weight-default", "pinning"),
        cures={
            **_engines("without --cpu-shares (or with 1024)"),
            "lxc": "lxc.cgroup.cpu.shares = 1024 (lxc.cgroup2.cpu.weight = 100)",
            "sbatch": "#SBATCH --exclusive",
            "any": "the default weight, or processors of its own",
        },
        source="Linux, Documentation/admin-guide/cgroup-v2.rst, Weights",
    ),
    KnownCause(
        name="no-huge-pages",
        title="memory in small pages where native has huge ones",
        signals=("huge_page_fallbacks", "huge_pages_split"),
        labels={"transparent huge pages": ANY},
        knobs=("huge-pages",),
        cures={
            "qemu": "-mem-path /dev/hugepages -mem-prealloc",
            "libvirt": "<memoryBacking><hugepages/></memoryBacking>",
            "any": "transparent huge pages as natively: echo always > /sys/kernel/mm/transparent_hugepage/enabled, "
            "and no PR_SET_THP_DISABLE",
        },
        source="Linux, Documentation/admin-guide/mm/transhuge.rst; prctl(2), PR_SET_THP_DISABLE",
    ),
    KnownCause(
        name="small-shm",
        title="a small /dev/shm",
        labels={"size of shm": ANY},
        refused=("posix_fallocate", "fallocate", "ftruncate"),
        knobs=("shm-larger",),
        cures={
            **_engines("--shm-size 1g"),
            "lxc": "lxc.mount.entry = tmpfs dev/shm tmpfs size=1g,create=dir 0 0",
            "systemd-nspawn": "--tmpfs=/dev/shm:size=1g,mode=1777",
            "any": "a larger /dev/shm",
        },
        source="docs.docker.com/engine/reference/run, --shm-size: 64 MiB unless said otherwise; shm_overview(7)",
    ),
    KnownCause(
        name="synchronous-writes",
        title="writes that wait for the disk",
        signals=("block_io_wait_s", "psi_io_some_s", "iowait_s", "block_written_byte"),
        repeated=("fsync", "fdatasync", "sync_file_range", "msync"),
        knobs=("storage-memory",),
        cures={
            **_engines("--tmpfs /scratch, or -v /data:/data without the option sync"),
            "sbatch": "write to a tmpfs ($SLURM_TMPDIR where it lies in memory)",
            "any": "scratch files in memory, or on a file system without the option sync",
        },
        source="open(2), O_SYNC; mount(8), sync",
    ),
    KnownCause(
        name="first-write",
        title="the layered file system, which copies a file up at its first write",
        signals=("block_io_wait_s", "psi_io_some_s", "block_read_byte", "block_written_byte"),
        labels={"storage driver": ANY},
        knobs=("tare-storage", "storage-memory"),
        cures={
            **_engines("-v /data:/data for what the job writes"),
            "singularity": "--bind /data instead of --overlay",
            "any": "a volume or a bind mount for what the job writes",
        },
        source="Linux, Documentation/filesystems/overlayfs.rst; docs.docker.com/storage/storagedriver",
    ),
    KnownCause(
        name="tcp-timeout",
        title="TCP's retransmission timeout of 200 ms",
        signals=("tcp_timeouts", "tcp_retransmissions", "tcp_lost_retransmissions"),
        decisive=True,
        knobs=("rto-min", "host-network"),
        cures={"any": "ip route change ... rto_min 5ms inside the node"},
        source="ip-route(8), rto_min; Linux, include/net/tcp.h, TCP_RTO_MIN",
    ),
    KnownCause(
        name="own-network",
        title="the virtual network: bridge, address translation or packets copied for it",
        signals=(
            *("queue_overlimits", "queue_drops", "switch_drops", "interface_drops"),
            *("softirq_s", "network_softirqs"),
        ),
        knobs=("host-network", "vhost", "paravirtual"),
        cures={
            **_engines("--network host"),
            "lxc": "lxc.net.0.type = none",
            "systemd-nspawn": "without --private-network and --network-veth",
            "qemu": "-netdev tap,vhost=on -device virtio-net-pci",
            "any": "the host's network",
        },
        source="Felter et al., ISPASS 2015, 171-172; docs.docker.com/network/drivers/host",
    ),
    KnownCause(
        name="slow-clock",
        title="a clock that is slow to read",
        labels={"clock source": ANY},
        dearer="clock_read_cost_s",
        knobs=("clock",),
        cures={
            "qemu": "-cpu host,+invtsc, and clocksource=kvm-clock or tsc in the guest",
            "libvirt": "<timer name='tsc' mode='native'/> and <feature name='invtsc' policy='require'/>",
            "xen": "clocksource=tsc in the guest",
            "any": "a clock source with a vDSO (tsc, kvm-clock): "
            "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        },
        source="vdso(7); Linux, Documentation/timers/timekeeping.rst",
    ),
    KnownCause(
        name="remote-memory",
        title="memory on another NUMA node than its processors",
        signals=("remote_memory_byte",),
        decisive=True,
        refused=("mbind", "set_mempolicy", "get_mempolicy", "move_pages"),
        knobs=("local-memory",),
        cures={
            **_engines(
                "--cpuset-mems for the nodes of --cpuset-cpus (or --cap-add SYS_NICE, for set_mempolicy)"
            ),
            "lxc": "lxc.cgroup.cpuset.mems for the nodes of cpuset.cpus",
            "sbatch": "#SBATCH --mem-bind=local",
            "any": "cpuset.mems for the NUMA nodes of its processors",
        },
        source="numa(7); set_mempolicy(2); cpuset(7)",
    ),
    KnownCause(
        name="numa-balancing",
        title="the kernel moving its pages between NUMA nodes",
        signals=("numa_pages_migrated", "numa_hint_faults"),
        knobs=(),
        cures={"any": "sysctl kernel.numa_balancing=0, with processors and memory bound together"},
        source="Linux, Documentation/admin-guide/sysctl/kernel.rst, numa_balancing",
    ),
    KnownCause(
        name="memory-limit",
        title="a memory limit below what it works on",
        signals=(
            *("memory_limit_hits", "pages_refaulted", "pages_reclaimed", "pages_swapped_in"),
            *("pages_swapped_out", "psi_memory_some_s", "major_faults"),
        ),
        decisive=True,
        knobs=("memory-double",),
        cures={
            **_engines("--memory, twice as large"),
            "lxc": "lxc.cgroup.memory.limit_in_bytes (lxc.cgroup2.memory.max), twice as large",
            "sbatch": "#SBATCH --mem, twice as large",
            "any": "a larger memory limit",
        },
        source="Linux, Documentation/admin-guide/cgroup-v2.rst, Memory",
    ),
    KnownCause(
        name="page-cache",
        title="a page cache of its own: files are read again that the host holds in memory",
        signals=("block_read_byte", "major_faults", "host_major_faults"),
        knobs=("storage-memory",),
        cures={
            "qemu": "cache=writeback, or virtiofs with dax",
            "libvirt": "<driver cache='writeback'/>, or <filesystem> with virtiofs",
            "any": "read the files once before the job, or share them with the host",
        },
        source="QEMU, docs/system/qemu-block-drivers.rst, cache",
    ),
    KnownCause(
        name="hidden-processor",
        title="processor features that the environment hides",
        labels={"blas": ANY, "npb vector code": ANY},
        knobs=("cpu-host",),
        cures={
            "qemu": "-cpu host",
            "libvirt": "<cpu mode='host-passthrough'/>",
            "any": "the host's processor shown as it is",
        },
        source="QEMU, docs/system/cpu-models-x86.rst",
    ),
    KnownCause(
        name="virtual-processors",
        title="exits of the guest and virtual processors that wait",
        signals=("kvm_exits", "vcpu_wait_s", "steal_s"),
        knobs=("pinning", "kvm", "paravirtual"),
        cures={
            "qemu": "-accel kvm, virtio devices, each virtual processor pinned (taskset)",
            "libvirt": "<cputune><vcpupin .../></cputune>",
        },
        source="Linux, Documentation/virt/kvm/halt-polling.rst",
    ),
    KnownCause(
        name="timer-slack",
        title="timers that fire later",
        labels={"timer slack": ANY},
        cures={"any": "the default timer slack of 50 us (prctl PR_SET_TIMERSLACK; systemd: TimerSlackNSec=)"},
        source="prctl(2), PR_SET_TIMERSLACK",
    ),
    KnownCause(
        name="group-accounting",
        title="the kernel's accounting of memory by control groups of version 1",
        labels={"control groups": ANY},
        cures={
            "any": "cgroup.memory=nokmem or systemd.unified_cgroup_hierarchy=1 on the kernel's command line"
        },
        source="Linux, Documentation/admin-guide/cgroup-v1/memory.rst, 2.7",
    ),
)

KNOWN_CAUSES: Mapping[str, KnownCause] = {cause.name: cause for cause in _CAUSES}
"""Those that are more specific come earlier: of two that have as much for them the first is tried first."""

LABELS = frozenset(label for cause in _CAUSES for label in cause.labels)
"""Of facts and confinement: what is compared with native to find a cause."""
