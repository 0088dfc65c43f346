# SPDX-License-Identifier: Apache-2.0
"""The same thing for many nodes at the same time: each waits for another host, and none for this one."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from tare.nodes.provider import Provider

_MOST_THREADS = 1024
Item = TypeVar("Item")
Result = TypeVar("Result")


def for_each(nodes: Provider, do: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """As ``at_once`` for nodes of a provider that can; else one after the other, until the first failure."""
    return at_once(do, items) if nodes.starts_at_once else [do(item) for item in items]


def at_once(do: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """The results in the items' order, once all have ended; then the first failure, if any, is raised."""
    if not items:
        return []
    with ThreadPoolExecutor(min(len(items), _MOST_THREADS)) as pool:
        return list(pool.map(do, items))
