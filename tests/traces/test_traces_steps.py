# SPDX-License-Identifier: Apache-2.0
"""A collective call of some ranks becomes messages that all arrive, and none waits for ever."""

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.traces.steps import CollectivePart, MessageStep, steps

ROOTED = ("MPI_Bcast", "MPI_Reduce", "MPI_Gather", "MPI_Scatter")
OTHERS = ("MPI_Barrier", "MPI_Allreduce", "MPI_Allgather", "MPI_Alltoall", "MPI_Scan", "MPI_Reduce_scatter")


def part(name: str, members: int, place: int, root: int, byte: int) -> CollectivePart:
    """As the profiler counts it: what goes to or comes from each member is ``byte`` long."""
    all_byte = members * byte
    sent = {"MPI_Alltoall": all_byte, "MPI_Scatter": all_byte if place == root else 0}.get(name, byte)
    received = {
        "MPI_Alltoall": all_byte,
        "MPI_Allgather": all_byte,
        "MPI_Gather": all_byte if place == root else 0,
    }.get(name, byte)
    return CollectivePart(
        name=name,
        members=members,
        place=place,
        root=root,
        sent_byte=sent,
        received_byte=received,
        sent_parts=(),
        received_parts=(),
    )


def replay(ranks: list[Iterator[MessageStep]]) -> Counter[tuple[int, int]]:
    """Runs all ranks: a step with a receive waits for its message. Bytes from one to another."""
    moved: Counter[tuple[int, int]] = Counter()
    on_the_way: dict[tuple[int, int], list[int]] = {}
    waiting: dict[int, MessageStep | None] = {}
    for rank, own in enumerate(ranks):
        waiting[rank] = next(own, None)
        send(waiting[rank], rank, on_the_way)
    while any(step is not None for step in waiting.values()):
        ready = [
            rank
            for rank, step in waiting.items()
            if step is not None and (step.source is None or on_the_way.get((step.source, rank)))
        ]
        assert ready, f"all wait: {waiting}"
        for rank in ready:
            step = waiting[rank]
            assert step is not None
            if step.source is not None:
                byte = on_the_way[step.source, rank].pop(0)
                assert byte == step.received_byte
                moved[step.source, rank] += byte
            waiting[rank] = next(ranks[rank], None)
            send(waiting[rank], rank, on_the_way)
    assert not any(on_the_way.values())
    return moved


def send(step: MessageStep | None, rank: int, on_the_way: dict[tuple[int, int], list[int]]) -> None:
    if step is not None and step.to is not None:
        assert step.to != rank
        on_the_way.setdefault((rank, step.to), []).append(step.sent_byte)


@given(
    name=st.sampled_from(ROOTED + OTHERS),
    members=st.integers(2, 17),
    root=st.integers(0, 16),
    byte=st.integers(0, 1000),
)
def test_every_message_of_a_call_is_received_by_the_rank_that_waits_for_it(
    name: str, members: int, root: int, byte: int
) -> None:
    calls = [part(name, members, place, root % members, byte) for place in range(members)]
    moved = replay([steps(call) or iter(()) for call in calls])
    reached = {receiver for _, receiver in moved}
    if byte and name == "MPI_Bcast":
        assert reached == set(range(members)) - {root % members}
        assert sum(moved.values()) == (members - 1) * byte
    if byte and name in ("MPI_Alltoall", "MPI_Allgather"):
        assert set(moved.values()) == {byte}
        assert len(moved) == members * (members - 1)


def test_each_member_gets_its_own_part() -> None:
    call = CollectivePart(
        name="MPI_Scatterv",
        members=3,
        place=1,
        root=1,
        sent_byte=60,
        received_byte=20,
        sent_parts=(10, 20, 30),
        received_parts=(),
    )
    known = steps(call)
    assert known is not None
    assert [(step.to, step.sent_byte) for step in known] == [(0, 10), (2, 30)]


@pytest.mark.parametrize("name", ["MPI_Neighbor_alltoall", "MPI_Comm_split"])
def test_a_call_without_a_pattern_is_no_messages(name: str) -> None:
    assert steps(part(name, 2, 0, 0, 1)) is None
