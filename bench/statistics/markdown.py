# SPDX-License-Identifier: Apache-2.0
"""Tables as documents hold them."""

from collections.abc import Iterable, Sequence
from typing import SupportsFloat


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def percent(share: SupportsFloat, digits: int = 0) -> str:
    return f"{100 * float(share):.{digits}f} %"
