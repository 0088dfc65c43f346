# SPDX-License-Identifier: Apache-2.0
"""How Open MPI starts the ranks of one instance inside one node."""

import re
from typing import Literal

SingleCopy = Literal["none", "cma", "natural"]
"""How large messages cross between the ranks of a node (Open MPI's vader transport).

``none``: copied twice through shared memory, which works wherever there is a /dev/shm. ``cma``: copied once by
process_vm_readv(2), which some sandboxes forbid. ``natural``: left to Open MPI, so it may differ between arms.
"""

_REFUSED = re.compile(
    r"^.*(?:Read -1, expected \d+, errno = \d+|CMA support is not available).*$", re.MULTILINE
)
"""What Open MPI 4.1 prints when the kernel forbids process_vm_readv; it then goes on by copying twice."""


def refused_single_copy(stderr: str) -> str | None:
    """Return the line that says that the single copy was not allowed, so that both paths are never mixed up."""
    found = _REFUSED.search(stderr)
    return found[0] if found else None


def local_launch(ranks: int, *, single_copy: SingleCopy, tools_directory: str) -> tuple[str, ...]:
    """Return the argv before the program: ``ranks`` processes in this node, each pinned to its own processor.

    Each setting takes a choice away that Open MPI would otherwise make from what it finds in the node: where
    the slots come from, how daemons are started (never: no ssh needed), and which interface control messages use
    (loopback, which must be up). The transport is shared memory alone.
    """
    argv = ["mpirun", "--allow-run-as-root", "--host", f"localhost:{ranks}", "-np", str(ranks)]
    argv += ["--bind-to", "none", "--mca", "plm", "isolated", "--mca", "oob_tcp_if_include", "lo"]
    argv += ["--mca", "pml", "ob1", "--mca", "btl", "vader,self", "--mca", "mpi_yield_when_idle", "0"]
    if single_copy != "natural":
        argv += ["--mca", "btl_vader_single_copy_mechanism", single_copy]
    return (*argv, f"{tools_directory}/pin")
