# SPDX-License-Identifier: Apache-2.0
"""The order in which the arms take their turns: every arm after every other equally often.

Williams, Australian Journal of Scientific Research A 2 (1949) 149-168: a Latin square in which each arm follows each
other exactly once; two squares if the number of arms is odd. Whatever the previous arm leaves in caches or queues then
affects all arms equally.
"""

import random
from collections.abc import Iterator
from itertools import islice


def orders(arms: int, rounds: int, source: random.Random) -> list[tuple[int, ...]]:
    """One order of the arms 0 .. ``arms`` - 1 for each round: random squares, their rows in random order."""
    return list(islice(_rows(arms, source), rounds))


def _rows(arms: int, source: random.Random) -> Iterator[tuple[int, ...]]:
    while True:
        names = list(range(arms))
        source.shuffle(names)
        square = williams(arms)
        source.shuffle(square)
        for row in square:
            yield tuple(names[place] for place in row)


def williams(arms: int) -> list[tuple[int, ...]]:
    """The rows of the square, or of the two squares if ``arms`` is odd; ``arms`` is 1 or more."""
    first = _zigzag(arms)
    rows = [tuple((place + shift) % arms for place in first) for shift in range(arms)]
    return rows if arms % 2 == 0 or arms == 1 else [*rows, *(row[::-1] for row in rows)]


def _zigzag(arms: int) -> list[int]:
    """0, 1, n-1, 2, n-2, ...: each difference of neighbours, modulo n, occurs once."""
    return [(place + 1) // 2 if place % 2 else (arms - place // 2) % arms for place in range(arms)]
