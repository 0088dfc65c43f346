# SPDX-License-Identifier: Apache-2.0
"""Many records at once, from columns."""

from collections import deque
from collections.abc import Iterable, Mapping
from itertools import repeat
from typing import TypeVar

Record = TypeVar("Record")


def filled(kind: type[Record], columns: Mapping[str, Iterable[object]], count: int) -> list[Record]:
    """Build ``count`` records with these fields, in a fraction of the time that their constructor takes.

    Nothing is checked: the values belong to records that were checked when they were read.
    """
    made = list(map(object.__new__, repeat(kind, count)))
    for name, values in columns.items():
        deque(map(getattr(kind, name).__set__, made, values), maxlen=0)
    return made
