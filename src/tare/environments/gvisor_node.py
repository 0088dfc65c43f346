# SPDX-License-Identifier: Apache-2.0
"""What is true of every gVisor node, started by runsc or by Docker."""

from pathlib import Path

from tare.host.cgroups import Group

MPI_VARIABLES = {"OMPI_MCA_btl_tcp_disable_family": "4"}
"""Open MPI's processes in several nodes meet over IPv6; over IPv4 gVisor does not let them (docs/gvisor.md)."""

_NAMES = {"runsc-sandbox", "runsc-gofer"}
_KVM = "--platform=kvm"


def kernel_processes(group: Group) -> list[int]:
    """Process ids of sentry and gofer; none with KVM, where the sentry's threads are the node's processors too."""
    found = {pid: _command_line(pid) for pid in group.processes()}
    ours = {pid: words for pid, words in found.items() if words[0] in _NAMES and not group.lacks(pid)}
    return [] if any(_KVM in words for words in ours.values()) else sorted(ours)


def _command_line(pid: int) -> list[str]:
    """Its words, of which there is always a first; the processes that run the node's programs have an empty one."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
    except OSError:
        return [""]
