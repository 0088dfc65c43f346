# SPDX-License-Identifier: Apache-2.0
"""Waiting for a machine: hypervisors report that something has begun, not that it is done."""

import time
from collections.abc import Callable
from typing import TypeVar

from tare.errors import NodeError

Found = TypeVar("Found")
_PAUSE_S = 0.5


def wait_for(ask: Callable[[], Found | None], limit_s: float, what: str, pause_s: float = _PAUSE_S) -> Found:
    """The first answer that is neither ``None`` nor false; ``NodeError`` naming ``what`` after the limit.

    >>> wait_for(lambda: 3, 1.0, "the answer")
    3
    """
    deadline = time.monotonic() + limit_s
    while not (answer := ask()):
        if time.monotonic() > deadline:
            raise NodeError(f"{what} did not come within {limit_s:.0f} s")
        time.sleep(pause_s)
    return answer
