# SPDX-License-Identifier: Apache-2.0
"""A collective call of all ranks in SimGrid's words, which say the bytes of each type of data: 1, that of a byte.

Its root's amounts alone matter to a gather and a scatter: where another rank does not know them, it says its own.
"""

from collections.abc import Callable, Sequence

from tare.traces.steps import CollectivePart

_NO_WORK = "0"
"""The time that a reduction computed was part of the call."""


def action(call: CollectivePart, members: Sequence[int]) -> str | None:
    """The words of one rank, or ``None`` if SimGrid has no such call; ``members`` in the communicator's order."""
    said = _ACTIONS.get(call.name)
    return None if said is None else said(call, members)


def _barrier(_call: CollectivePart, _members: Sequence[int]) -> str:
    return "barrier"


def _bcast(call: CollectivePart, members: Sequence[int]) -> str:
    return f"bcast {call.byte} {members[call.root]}"


def _reduce(call: CollectivePart, members: Sequence[int]) -> str:
    return f"reduce {call.byte} {_NO_WORK} {members[call.root]}"


def _allreduce(call: CollectivePart, _members: Sequence[int]) -> str:
    return f"allreduce {call.byte} {_NO_WORK}"


def _scan(call: CollectivePart, _members: Sequence[int]) -> str:
    return f"{'exscan' if call.name == 'MPI_Exscan' else 'scan'} {call.byte} {_NO_WORK}"


def _alltoall(call: CollectivePart, _members: Sequence[int]) -> str:
    return f"alltoall {call.sent_to(0)} {call.received_from(0)}"


def _alltoallv(call: CollectivePart, members: Sequence[int]) -> str:
    sent = _by_rank(call.sent_to, members)
    received = _by_rank(call.received_from, members)
    return f"alltoallv {call.sent_byte} {_words(sent)} {call.received_byte} {_words(received)}"


def _allgather(call: CollectivePart, _members: Sequence[int]) -> str:
    return f"allgather {call.sent_byte} {call.received_from(0)}"


def _allgatherv(call: CollectivePart, members: Sequence[int]) -> str:
    return f"allgatherv {call.sent_byte} {_words(_by_rank(call.received_from, members))}"


def _gather(call: CollectivePart, members: Sequence[int]) -> str:
    each = call.received_from(0) if call.place == call.root else call.sent_byte
    return f"gather {call.sent_byte} {each} {members[call.root]}"


def _gatherv(call: CollectivePart, members: Sequence[int]) -> str:
    received = _by_rank(call.received_from, members)
    return f"gatherv {call.sent_byte} {_words(received)} {members[call.root]}"


def _scatter(call: CollectivePart, members: Sequence[int]) -> str:
    each = call.sent_to(0) if call.place == call.root else call.received_byte
    return f"scatter {each} {call.received_byte} {members[call.root]}"


def _scatterv(call: CollectivePart, members: Sequence[int]) -> str:
    sent = _by_rank(call.sent_to, members)
    return f"scatterv {_words(sent)} {call.received_byte} {members[call.root]}"


def _reduce_scatter(call: CollectivePart, members: Sequence[int]) -> str:
    return f"reducescatter {_words(_by_rank(call.sent_to, members))} {_NO_WORK}"


def _by_rank(amount: Callable[[int], int], members: Sequence[int]) -> list[int]:
    return [amount(place) for _, place in sorted((rank, place) for place, rank in enumerate(members))]


def _words(amounts: Sequence[int]) -> str:
    return " ".join(map(str, amounts))


_ACTIONS: dict[str, Callable[[CollectivePart, Sequence[int]], str]] = {
    "MPI_Barrier": _barrier,
    "MPI_Bcast": _bcast,
    "MPI_Reduce": _reduce,
    "MPI_Allreduce": _allreduce,
    "MPI_Scan": _scan,
    "MPI_Exscan": _scan,
    "MPI_Alltoall": _alltoall,
    "MPI_Alltoallv": _alltoallv,
    "MPI_Alltoallw": _alltoallv,
    "MPI_Allgather": _allgather,
    "MPI_Allgatherv": _allgatherv,
    "MPI_Gather": _gather,
    "MPI_Gatherv": _gatherv,
    "MPI_Scatter": _scatter,
    "MPI_Scatterv": _scatterv,
    "MPI_Reduce_scatter": _reduce_scatter,
    "MPI_Reduce_scatter_block": _reduce_scatter,
}
