# SPDX-License-Identifier: Apache-2.0
"""Python's looks for circles of objects, left out where there are none."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """No looks for circles of objects: records make none, and among so many a look takes a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
