# SPDX-License-Identifier: Apache-2.0
"""Waiting until the system of a machine that was just switched on answers ssh(1)."""

import time
from collections.abc import Callable, Mapping

from tare.environments.remote.connection import Far, unreachable, variables
from tare.errors import NodeError
from tare.host import process
from tare.records import OptionValue

_TRY_LIMIT_S = 60.0
_PAUSE_S = 0.5
_SSH_FAILED = 255
_BOOTING = (
    *("Connection refused", "timed out", "No route to host", "Network is unreachable", "Host is down"),
    *("Connection reset", "Connection closed", "kex_exchange_identification", "System is booting up"),
)
"""ssh's messages while a system is not yet up; waiting does not change any other."""


def wait_until_it_answers(
    options: Mapping[str, OptionValue], index: int, limit_s: float, is_on: Callable[[], bool]
) -> None:
    """``NodeError`` when it refuses, when the machine ends, or when it stays silent until the limit."""
    far, deadline = Far.of(options, index), time.monotonic() + limit_s
    while (refusal := _refusal(far)) is not None:
        if not is_on():
            raise NodeError(f"the machine ended before {far.host} answered ssh; see its console")
        if time.monotonic() > deadline:
            raise NodeError(
                f"{refusal}; that is {limit_s:.0f} s after it was switched on (option boot_limit)"
            )
        time.sleep(_PAUSE_S)


def _refusal(far: Far) -> NodeError | None:
    """Why it cannot be reached yet; ``None`` if it can be; raises if it never will."""
    done = process.run([*far.ssh(), "true"], timeout_s=_TRY_LIMIT_S, variables=variables())
    if done.code != _SSH_FAILED:
        return None
    node_error = unreachable(far, done.stderr)
    if not any(words in done.stderr for words in _BOOTING):
        raise node_error
    return node_error
