# SPDX-License-Identifier: Apache-2.0
"""A collective call as messages: SimGrid replays those of all ranks together, and none of some ranks.

The patterns are textbook ones (Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in
MPICH, 2005): binomial trees, pairs in turns, a root with each, a chain. The library that was traced may use others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageStep:
    """One message out, one in, or both at once."""

    to: int | None = None
    sent_byte: int = 0
    source: int | None = None
    received_byte: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectivePart:
    """One rank's part in a call."""

    name: str
    """Of the call that waits, such as ``MPI_Bcast``."""
    members: int
    place: int
    """This rank's, among the members."""
    root: int
    """``-1``: there is none."""
    sent_byte: int
    received_byte: int
    sent_parts: Sequence[int]
    """For each member; empty where all are the same, or nothing is sent."""
    received_parts: Sequence[int]

    @property
    def byte(self) -> int:
        """Where one amount goes to or comes from all."""
        return max(self.sent_byte, self.received_byte)

    def sent_to(self, member: int) -> int:
        """What it sends to one member, itself included."""
        return self.sent_parts[member] if self.sent_parts else self.sent_byte // self.members

    def received_from(self, member: int) -> int:
        """What it receives from one member, itself included."""
        return self.received_parts[member] if self.received_parts else self.received_byte // self.members


class _Pattern(Protocol):
    def __call__(self, call: CollectivePart) -> Iterator[MessageStep]: ...


def steps(call: CollectivePart) -> Iterator[MessageStep] | None:
    """What the rank sends and receives, in turn; ``None`` for a call that is not known."""
    pattern = _PATTERNS.get(call.name)
    return None if pattern is None else pattern(call)


def _broadcast(call: CollectivePart) -> Iterator[MessageStep]:
    yield from _from_root(call, call.root, call.byte)


def _reduce(call: CollectivePart) -> Iterator[MessageStep]:
    yield from _to_root(call, call.root, call.byte)


def _all_together(call: CollectivePart) -> Iterator[MessageStep]:
    yield from _to_root(call, 0, call.byte)
    yield from _from_root(call, 0, call.byte)


def _from_root(call: CollectivePart, root: int, byte: int) -> Iterator[MessageStep]:
    below = (call.place - root) % call.members
    bit = 1
    while bit < call.members and not below & bit:
        bit <<= 1
    if below:
        yield MessageStep(source=(below - bit + root) % call.members, received_byte=byte)
    while bit > 1:
        bit >>= 1
        if below + bit < call.members:
            yield MessageStep(to=(below + bit + root) % call.members, sent_byte=byte)


def _to_root(call: CollectivePart, root: int, byte: int) -> Iterator[MessageStep]:
    below = (call.place - root) % call.members
    bit = 1
    while bit < call.members and not below & bit:
        if below + bit < call.members:
            yield MessageStep(source=(below + bit + root) % call.members, received_byte=byte)
        bit <<= 1
    if below:
        yield MessageStep(to=(below - bit + root) % call.members, sent_byte=byte)


def _gather(call: CollectivePart) -> Iterator[MessageStep]:
    if call.place != call.root:
        yield MessageStep(to=call.root, sent_byte=call.sent_byte)
        return
    for member in _others(call):
        yield MessageStep(source=member, received_byte=call.received_from(member))


def _scatter(call: CollectivePart) -> Iterator[MessageStep]:
    if call.place != call.root:
        yield MessageStep(source=call.root, received_byte=call.received_byte)
        return
    for member in _others(call):
        yield MessageStep(to=member, sent_byte=call.sent_to(member))


def _all_gather(call: CollectivePart) -> Iterator[MessageStep]:
    yield from _pairs(call, sends_all=True)


def _all_to_all(call: CollectivePart) -> Iterator[MessageStep]:
    yield from _pairs(call, sends_all=False)


def _pairs(call: CollectivePart, *, sends_all: bool) -> Iterator[MessageStep]:
    for distance in range(1, call.members):
        to = (call.place + distance) % call.members
        source = (call.place - distance) % call.members
        yield MessageStep(
            to=to,
            sent_byte=call.sent_byte if sends_all else call.sent_to(to),
            source=source,
            received_byte=call.received_from(source),
        )


def _chain(call: CollectivePart) -> Iterator[MessageStep]:
    if call.place > 0:
        yield MessageStep(source=call.place - 1, received_byte=call.byte)
    if call.place + 1 < call.members:
        yield MessageStep(to=call.place + 1, sent_byte=call.byte)


def _others(call: CollectivePart) -> Iterator[int]:
    return (member for member in range(call.members) if member != call.place)


_PATTERNS: dict[str, _Pattern] = {
    "MPI_Barrier": _all_together,
    "MPI_Bcast": _broadcast,
    "MPI_Gather": _gather,
    "MPI_Gatherv": _gather,
    "MPI_Scatter": _scatter,
    "MPI_Scatterv": _scatter,
    "MPI_Allgather": _all_gather,
    "MPI_Allgatherv": _all_gather,
    "MPI_Alltoall": _all_to_all,
    "MPI_Alltoallv": _all_to_all,
    "MPI_Alltoallw": _all_to_all,
    "MPI_Allreduce": _all_together,
    "MPI_Reduce": _reduce,
    "MPI_Reduce_scatter": _all_together,
    "MPI_Reduce_scatter_block": _all_together,
    "MPI_Scan": _chain,
    "MPI_Exscan": _chain,
}
