# SPDX-License-Identifier: Apache-2.0
"""Many records at once, of columns."""

from collections import deque
from collections.abc import Iterable, Mapping
from itertools import repeat
from typing import TypeVar

Record = TypeVar("Record")


def filled(kind: type[Record], columns: Mapping[str, Iterable[object]], count: int) -> list[Record]:
    """So many records with these fields, in a fraction of the time that their constructor takes.

    It looks at nothing: the values are of records that were looked at when they were read.
    """
    made = list(map(object.__new__, repeat(kind, count)))
    for name, values in columns.items():
        deque(map(getattr(kind, name).__set__, made, values), maxlen=0)
    return made
