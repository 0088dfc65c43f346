# SPDX-License-Identifier: Apache-2.0
"""Facts about any gVisor node, whoever started it."""

from pathlib import Path

from tare.host.cgroups import Group

MPI_VARIABLES = {"OMPI_MCA_btl_tcp_disable_family": "4"}
"""Open MPI's processes in several nodes connect over IPv6; gVisor does not let them use IPv4 (docs/gvisor.md)."""
CACHES = "its own kernel accepts O_DIRECT, and yet the host's page cache and its own keep the file"
"""Seen with runsc of February 2026 (docs/gvisor.md)."""

_NAMES = {"runsc-sandbox", "runsc-gofer"}
_KVM = "--platform=kvm"


def kernel_processes(group: Group) -> list[int]:
    """Process ids of sentry and gofer; none with KVM, where the sentry's threads are the node's processors too."""
    command_lines = {pid: _command_line(pid) for pid in group.processes()}
    ours = {pid: words for pid, words in command_lines.items() if words[0] in _NAMES and not group.lacks(pid)}
    return [] if any(_KVM in words for words in ours.values()) else sorted(ours)


def _command_line(pid: int) -> list[str]:
    """Its words, at least one; the command line is empty for processes that run the node's programs."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
    except OSError:
        return [""]
