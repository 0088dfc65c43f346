# SPDX-License-Identifier: Apache-2.0
"""A fixed work on every processor of this host at once, to tell a slow host from its peers."""

import hashlib
import os
import signal
import time

from tare.errors import NodeError
from tare.host.facts import online_processors

_BLOCK = bytes(1 << 20)
_BLOCKS = 320
"""A quarter of a second or more, so that a quota of some 100 ms (CFS) shows."""
_LIMIT_S = 60.0
_POLL_S = 0.002


def work_time_s() -> float:
    """Seconds until the last processor has hashed its 320 MiB; ``NodeError`` where that takes over a minute."""
    begun = time.monotonic()
    left = {_started(processor) for processor in online_processors()}
    try:
        while left:
            left = {pid for pid in left if os.waitpid(pid, os.WNOHANG)[0] == 0}
            if time.monotonic() - begun > _LIMIT_S:
                raise NodeError(
                    f"{os.uname().nodename} needs over {_LIMIT_S:.0f} s to hash {len(_BLOCK) * _BLOCKS} bytes"
                )
            time.sleep(_POLL_S)
    finally:
        for pid in left:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    return time.monotonic() - begun


def _started(processor: int) -> int:
    pid = os.fork()
    if pid == 0:
        os.sched_setaffinity(0, {processor})
        digest = hashlib.sha256()
        for _ in range(_BLOCKS):
            digest.update(_BLOCK)
        os._exit(0)
    return pid
