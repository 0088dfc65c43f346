# SPDX-License-Identifier: Apache-2.0
"""Around a command that reads one result and ends: without what only pays in a process that lives on."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from tare.collection import without_collection

_LEFT_OUT = {
    "OPENBLAS_NUM_THREADS": "1",  # its threads wait busily for the next of sums so small that one is as fast
    "PYDANTIC_DISABLE_PLUGINS": "__all__",  # to look for one it reads the metadata of every installed package
}


@contextmanager
def lightly() -> Iterator[None]:
    """What the user has set stands; OpenBLAS looks when numpy is loaded, so that has to come within."""
    added = {name: value for name, value in _LEFT_OUT.items() if name not in os.environ}
    os.environ.update(added)
    try:
        with without_collection():
            yield
    finally:
        for name in added:
            del os.environ[name]
