# SPDX-License-Identifier: Apache-2.0
"""Before a run that is to read cold files: empty the caches of every kernel between its nodes and the disk."""

from collections.abc import Mapping, Sequence

from tare.errors import NodeError
from tare.host import caches
from tare.measure.seats import Seat

FACT = "caches emptied"
"""Before each run: which, and by whom."""
_BY_RUNNER = "this host's by the runner (sync, drop_caches)"
_BY_PROGRAM = (
    "the file's by the program that wrote it (posix_fadvise), as this host's caches need root, and reading it says"
    " what was left"
)


def empty_caches(seats: Sequence[Seat]) -> Mapping[str, str]:
    """Empty first the nodes' own kernels' caches, whose files may be cached by the host as well, then the host's.

    Gives the fact of what was done; ``NodeError`` where a cache stays: no warm file may pass for a cold one.
    """
    if not seats:
        return {}
    done: dict[str, None] = {}
    for seat in seats:
        for node in seat.members:
            try:
                said = seat.member_provider.empty_caches(node)
            except NodeError as error:
                raise NodeError(f"a cold read is not possible in {node.spec.technology}: {error}") from error
            done |= dict.fromkeys([said] if said else [])
    if caches.may_empty():
        caches.empty()
        done |= {_BY_RUNNER: None}
    elif done:
        raise NodeError("a cold read is not possible: this host's caches of the guests' disks need root")
    else:
        done = {_BY_PROGRAM: None}
    return {FACT: "; ".join(done)}
