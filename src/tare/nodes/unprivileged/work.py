# SPDX-License-Identifier: Apache-2.0
"""The runner's view of a work directory whose mount only the node's processes see.

The runner keeps the directory open, and ``NodeSpec.work`` leads there through the descriptor. So the node's files stay
readable until the node is stopped, even when its processes are dead and their namespaces gone.
"""

import os

from tare.errors import NodeError
from tare.nodes.provider import NodeSpec
from tare.records import Storage

_open: dict[str, int] = {}


def show(spec: NodeSpec, first_pid: int) -> None:
    """Point ``spec.work`` to the working directory of the node's first process; on disk it already exists."""
    if spec.storage is Storage.DISK:
        return
    try:
        descriptor = os.open(f"/proc/{first_pid}/cwd", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        _open[spec.name] = descriptor
        spec.work.symlink_to(f"/proc/{os.getpid()}/fd/{descriptor}")
    except OSError as error:
        raise NodeError(f"cannot see the work directory of {spec.name}: {error.strerror}") from error


def forget(spec: NodeSpec) -> None:
    """Close it, if this is the runner that held it."""
    descriptor = _open.pop(spec.name, None)
    if descriptor is not None:
        os.close(descriptor)
