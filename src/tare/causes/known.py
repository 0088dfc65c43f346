# SPDX-License-Identifier: Apache-2.0
"""Known causes: the evidence for each, and the knobs that try it (docs/causes.md).

Lessons from one machine are kept here for all others. To add a cause, add an entry below and, if no knob tries it, a
knob in ``plan/knobs.py`` with its cure in ``cures.py``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tare.causes.cures import ANY as ANY_TECHNOLOGY
from tare.causes.cures import CURES

ANY = ""
"""Value of a label: any that differs from native's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCause:
    """One mechanism that makes an environment slower, or faster, than native."""

    name: str
    title: str
    """A noun, for a sentence like "cause: ..."."""
    signals: tuple[str, ...] = ()
    """Candidate signals that support it (docs/signals.md)."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Label of a trial's facts or confinement → a part of the environment's value that supports it, where native has
    another value."""
    needs_label: bool = False
    """Whether other evidence counts only together with such a label."""
    decisive: bool = False
    """Whether such a label shows the mechanism at work, not only its possibility."""
    refused: tuple[str, ...] = ()
    """System calls that fail in the environment and succeed natively."""
    repeated: tuple[str, ...] = ()
    """System calls that the environment makes far more often than native."""
    dearer: str | None = None
    """A signal that is a cost per call; ``DEARER`` lists the calls."""
    speeds_up: bool = False
    """Whether it can also make an environment faster than native."""
    knobs: tuple[str, ...] = ()
    """Knobs in the order of trying, as far as the environment can turn them."""
    remedy: str = ""
    """Remedy where no knob has a cure in the terms of the technology."""
    slurm: str = ""
    """The remedy in a Slurm job."""
    gain: str = ""
    """How to get the same natively, where it makes the environment faster."""
    source: str
    """Reference that describes the mechanism."""

    def cure(self, technology: str, knob: str | None = None) -> str:
        """The setting for the user of a technology, and for a Slurm job; empty where none is known.

        ``knob``: the knob that confirmed the cause; without it, the first knob with words for the technology.
        """
        words = (_words(name, technology) for name in ([knob] if knob else self.knobs))
        own = next(filter(None, words), "") or self.remedy
        return f"{own} (in a Slurm job: {self.slurm})" if own and self.slurm else own


def _words(knob: str, technology: str) -> str:
    known = CURES.get(knob, {})
    return known.get(technology) or known.get(ANY_TECHNOLOGY, "")


DEARER: Mapping[str, tuple[str, ...]] = {
    "system_call_cost_s": (),
    "clock_read_cost_s": ("clock_gettime", "gettimeofday", "time"),
}
"""Signal that is a cost per call → the calls that it covers; empty: all system calls."""


_CAUSES = (
    KnownCause(
        name="refused-single-copy",
        title="MPI's single copy through the kernel is refused",
        labels={"mpi single copy": "refused"},
        decisive=True,
        refused=("process_vm_readv", "process_vm_writev"),
        speeds_up=True,
        knobs=("sys-ptrace", "seccomp-off"),
        gain="export OMPI_MCA_btl_vader_single_copy_mechanism=none (two copies instead of the kernel's one)",
        remedy="two copies: export OMPI_MCA_btl_vader_single_copy_mechanism=none in all ranks",
        slurm="export OMPI_MCA_btl_vader_single_copy_mechanism=none (two copies, in all ranks alike)",
        source="process_vm_readv(2); docs.docker.com/engine/security/seccomp; Open MPI FAQ, sm/vader and CMA",
    ),
    KnownCause(
        name="system-call-filter",
        title="the filter of system calls, which every call passes",
        labels={"system call filter": "filter"},
        needs_label=True,
        dearer="system_call_cost_s",
        knobs=("seccomp-off",),
        remedy="a shorter filter, or none for trusted jobs",
        source="seccomp(2); docs.docker.com/engine/security/seccomp",
    ),
    KnownCause(
        name="intercepted-calls",
        title="system calls that a kernel in user space answers",
        labels={"namespaces of its own": "a kernel of its own"},
        needs_label=True,
        dearer="system_call_cost_s",
        remedy="runsc --platform=kvm where /dev/kvm is usable, or a runtime without a kernel of its own",
        source="gvisor.dev/docs/architecture_guide/platforms",
    ),
    KnownCause(
        name="mitigations",
        title="mitigations of the processor's flaws that native processes run without",
        labels={"mitigation of store bypass": "mitigated", "mitigation of indirect branches": "disabled"},
        knobs=("seccomp-off",),
        remedy="spec_store_bypass_disable=prctl spectre_v2_user=prctl on the kernel's command line, the default "
        "from Linux 5.16 on",
        source="Linux, Documentation/userspace-api/spec_ctrl.rst; commit 2f46993d83ff",
    ),
    KnownCause(
        name="cpu-quota",
        title="a CPU quota",
        signals=("throttled_s", "throttled_periods"),
        decisive=True,
        knobs=("quota-off",),
        slurm="#SBATCH --cpus-per-task=N for whole processors",
        source="Linux, Documentation/scheduler/sched-bwc.rst",
    ),
    KnownCause(
        name="cpu-weight",
        title="a smaller weight than its neighbours' when processors are shared",
        signals=("runnable_wait_s", "psi_cpu_some_s"),
        labels={"CPU weight": ANY},
        needs_label=True,
        knobs=("weight-default",),
        slurm="#SBATCH --exclusive",
        source="Linux, Documentation/admin-guide/cgroup-v2.rst, Weights",
    ),
    KnownCause(
        name="no-huge-pages",
        title="memory in small pages where native has huge ones",
        signals=("huge_page_fallbacks", "huge_pages_split"),
        labels={"transparent huge pages": ANY, "memory in huge pages": ANY},
        knobs=("huge-pages",),
        remedy="transparent huge pages as natively: echo always > /sys/kernel/mm/transparent_hugepage/enabled, "
        "and no PR_SET_THP_DISABLE",
        source="Linux, Documentation/admin-guide/mm/transhuge.rst; prctl(2), PR_SET_THP_DISABLE",
    ),
    KnownCause(
        name="small-shm",
        title="a small /dev/shm",
        labels={"size of shm": ANY},
        refused=("posix_fallocate", "fallocate", "ftruncate"),
        knobs=("shm-larger",),
        source="docs.docker.com/engine/reference/run, --shm-size: 64 MiB unless said otherwise; shm_overview(7)",
    ),
    KnownCause(
        name="synchronous-writes",
        title="writes that wait for the disk",
        signals=("block_io_wait_s", "psi_io_some_s", "iowait_s", "block_written_byte"),
        repeated=("fsync", "fdatasync", "sync_file_range", "msync"),
        knobs=("storage-memory",),
        remedy="scratch files on a file system without the option sync",
        slurm="write to a tmpfs ($SLURM_TMPDIR where it lies in memory)",
        source="open(2), O_SYNC; mount(8), sync",
    ),
    KnownCause(
        name="first-write",
        title="the layered file system, which copies a file up at its first write",
        signals=("block_io_wait_s", "psi_io_some_s", "block_read_byte", "block_written_byte"),
        labels={"storage driver": ANY},
        knobs=("tare-storage", "storage-memory"),
        source="Linux, Documentation/filesystems/overlayfs.rst; docs.docker.com/storage/storagedriver",
    ),
    KnownCause(
        name="tcp-timeout",
        title="TCP's retransmission timeout of 200 ms",
        signals=("tcp_timeouts", "tcp_retransmissions", "tcp_lost_retransmissions"),
        decisive=True,
        knobs=("rto-min", "host-network"),
        source="ip-route(8), rto_min; Linux, include/net/tcp.h, TCP_RTO_MIN",
    ),
    KnownCause(
        name="own-network",
        title="the virtual network: bridge, address translation or packets copied for it",
        signals=(
            *("queue_overlimits", "queue_drops", "switch_drops", "interface_drops"),
            *("softirq_s", "network_softirqs"),
        ),
        knobs=("host-network", "paravirtual", "vhost"),
        source="Felter et al., ISPASS 2015, 171-172; docs.docker.com/network/drivers/host",
    ),
    KnownCause(
        name="slow-clock",
        title="a clock that is slow to read",
        labels={"clock source": ANY},
        dearer="clock_read_cost_s",
        knobs=("clock",),
        remedy="a clock source with a vDSO (tsc, kvm-clock): "
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        source="vdso(7); Linux, Documentation/timers/timekeeping.rst",
    ),
    KnownCause(
        name="remote-memory",
        title="memory on another NUMA node than its processors",
        signals=("remote_memory_byte",),
        decisive=True,
        refused=("mbind", "set_mempolicy", "get_mempolicy", "move_pages"),
        knobs=("local-memory",),
        slurm="#SBATCH --mem-bind=local",
        source="numa(7); set_mempolicy(2); cpuset(7)",
    ),
    KnownCause(
        name="numa-balancing",
        title="the kernel moving its pages between NUMA nodes",
        signals=("numa_pages_migrated", "numa_hint_faults"),
        knobs=(),
        remedy="sysctl kernel.numa_balancing=0, with processors and memory bound together",
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
        slurm="#SBATCH --mem, twice as large",
        source="Linux, Documentation/admin-guide/cgroup-v2.rst, Memory",
    ),
    KnownCause(
        name="page-cache",
        title="a page cache of its own: files are read again that the host holds in memory",
        signals=("block_read_byte", "major_faults", "host_major_faults"),
        knobs=("storage-memory",),
        remedy="read the files once before the job, or share them with the host (virtiofs, cache=writeback)",
        source="QEMU, docs/system/qemu-block-drivers.rst, cache",
    ),
    KnownCause(
        name="packed-image",
        title="the image in a SIF, whose files are unpacked as they are first read",
        signals=("block_read_byte", "major_faults", "host_major_faults"),
        labels={"root files": "SIF"},
        needs_label=True,
        knobs=("sandbox",),
        remedy="the image unpacked to a directory",
        slurm="unpack it once to a local disk: apptainer build --sandbox $SLURM_TMPDIR/app app.sif",
        source='Apptainer user guide, "Sandbox directories"; Linux, Documentation/filesystems/squashfs.rst',
    ),
    KnownCause(
        name="extra-mappings",
        title="mappings put into every program, which each fork copies",
        labels={"mappings of a process": ANY, "preloaded libraries": ANY},
        knobs=("preload-off",),
        remedy="programs without what an agent puts into them",
        source="fork(2); ld.so(8), LD_PRELOAD and LD_AUDIT",
    ),
    KnownCause(
        name="hidden-processor",
        title="processor features that the environment hides",
        labels={"blas": ANY, "npb vector code": ANY},
        knobs=("cpu-host",),
        remedy="the host's processor shown as it is",
        source="QEMU, docs/system/cpu-models-x86.rst",
    ),
    KnownCause(
        name="virtual-processors",
        title="exits of the guest and virtual processors that wait",
        signals=("kvm_exits", "vcpu_wait_s", "steal_s"),
        knobs=("kvm", "paravirtual", "pinning"),
        source="Linux, Documentation/virt/kvm/halt-polling.rst",
    ),
    KnownCause(
        name="timer-slack",
        title="timers that fire later",
        labels={"timer slack": ANY},
        remedy="the default timer slack of 50 us (prctl PR_SET_TIMERSLACK; systemd: TimerSlackNSec=)",
        source="prctl(2), PR_SET_TIMERSLACK",
    ),
    KnownCause(
        name="group-accounting",
        title="the kernel's accounting of memory by control groups of version 1",
        labels={"control groups": ANY},
        remedy="cgroup.memory=nokmem or systemd.unified_cgroup_hierarchy=1 on the kernel's command line",
        source="Linux, Documentation/admin-guide/cgroup-v1/memory.rst, 2.7",
    ),
)

KNOWN_CAUSES: Mapping[str, KnownCause] = {cause.name: cause for cause in _CAUSES}
"""More specific causes come earlier: of two with equal evidence the first is tried first."""

LABELS = frozenset(label for cause in _CAUSES for label in cause.labels)
"""Labels of facts and confinement that are compared with native to find a cause."""
