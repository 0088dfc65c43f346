# SPDX-License-Identifier: Apache-2.0
"""The same thing for many nodes at the same time: each waits for another host, and none for this one."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from tare.nodes.provider import Provider

_MOST_THREADS = 1024
_FEW_THREADS = 64
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


def in_two_steps(
    begin: Callable[[Item], None], end: Callable[[Item], Result], items: Sequence[Item]
) -> list[Result]:
    """As ``at_once``: ``end`` of each, for which ``begin`` need not wait.

    So a thread has several items and waits for all of them. With a thread for each of 512 nodes, hundreds want to run
    and interrupt each other every 5 ms.
    """
    count = -(-len(items) // _FEW_THREADS) or 1
    parts = [items[first : first + count] for first in range(0, len(items), count)]
    ended = at_once(lambda part: _begun_and_ended(begin, end, part), parts)
    for _, failure in ended:
        if failure is not None:
            raise failure
    return [result for results, _ in ended for result in results]


def _begun_and_ended(
    begin: Callable[[Item], None], end: Callable[[Item], Result], items: Sequence[Item]
) -> tuple[list[Result], Exception | None]:
    """The results, and the first failure."""
    failures: list[Exception] = []
    begun = [item for item in items if _succeeds(begin, item, failures)]
    results: list[Result] = []
    for item in begun:
        _succeeds(lambda item: results.append(end(item)), item, failures)
    return results, failures[0] if failures else None


def _succeeds(do: Callable[[Item], None], item: Item, failures: list[Exception]) -> bool:
    try:
        do(item)
    except Exception as error:  # noqa: BLE001 - raised once all have ended
        failures.append(error)
        return False
    return True
