# SPDX-License-Identifier: Apache-2.0
"""Emptying a kernel's caches of files: what was read once is then read from the disk again (the kernel's vm.rst)."""

import os
from collections.abc import Sequence
from pathlib import Path

from tare.errors import NodeError
from tare.host import process

DROP = Path("/proc/sys/vm/drop_caches")
_PAGES_AND_NAMES = "3"
"""Pages of files, and what is known of names and inodes."""
_LIMIT_S = 120.0
"""Writing back may take long: a guest's memory may be full of what it has not written yet."""


def may_empty(drop: Path = DROP) -> bool:
    """Whether this process may empty this host's caches: as root, where /proc/sys can be written."""
    return os.access(drop, os.W_OK)


def empty(drop: Path = DROP) -> None:
    """Write back and forget all files that this host caches; ``NodeError`` if the kernel refuses."""
    os.sync()  # pages that are still to be written are not forgotten
    try:
        drop.write_text(_PAGES_AND_NAMES)
    except OSError as error:
        raise NodeError(f"this host's caches cannot be emptied by {drop}: {error.strerror}") from error


def empty_inside(prefix: Sequence[str]) -> None:
    """The same for the kernel behind ``prefix``, the way into a guest as its root; ``NodeError`` if it fails."""
    process.run_checked([*prefix, "sync"], timeout_s=_LIMIT_S)
    done = process.run([*prefix, "tee", str(DROP)], given=_PAGES_AND_NAMES, timeout_s=_LIMIT_S)
    if done.code != 0:
        raise NodeError(f"the guest's caches cannot be emptied by {DROP}: {done.last_words}")
