# SPDX-License-Identifier: Apache-2.0
"""Python's cyclic garbage collection, switched off where there are no cycles."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Disable cyclic garbage collection: records form no cycles, and among so many it takes a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
