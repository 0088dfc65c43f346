# SPDX-License-Identifier: Apache-2.0
"""A trace as an OTF2 archive, which Vampir, Score-P's tools and otf2-print read: every call with its times.

Written by OTF2's own library through its bindings for Python (the package ``otf2``).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tare.errors import InputError
from tare.traces.rank_trace import WORLD, RankTrace, RecordFlag, RecordKind, communicators

_NS_PER_S = 1_000_000_000
_COLLECTIVES = {
    "MPI_Barrier": "BARRIER",
    "MPI_Bcast": "BCAST",
    "MPI_Gather": "GATHER",
    "MPI_Gatherv": "GATHERV",
    "MPI_Scatter": "SCATTER",
    "MPI_Scatterv": "SCATTERV",
    "MPI_Allgather": "ALLGATHER",
    "MPI_Allgatherv": "ALLGATHERV",
    "MPI_Alltoall": "ALLTOALL",
    "MPI_Alltoallv": "ALLTOALLV",
    "MPI_Alltoallw": "ALLTOALLW",
    "MPI_Allreduce": "ALLREDUCE",
    "MPI_Reduce": "REDUCE",
    "MPI_Reduce_scatter": "REDUCE_SCATTER",
    "MPI_Reduce_scatter_block": "REDUCE_SCATTER_BLOCK",
    "MPI_Scan": "SCAN",
    "MPI_Exscan": "EXSCAN",
}


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a rank: the name of the binding's method for it, its time and further arguments."""

    name: str
    time_ns: int
    arguments: Mapping[str, Any]


def write_archive(ranks: Sequence[RankTrace], folder: Path) -> int:
    """Make the folder and write the archive ``traces.otf2`` into it; the number of events.

    Raises ``InputError`` without OTF2's library, or where the ranks' clocks could not be compared.
    """
    try:
        import otf2  # noqa: PLC0415 - few need it
    except ImportError:
        raise InputError(
            "OTF2 takes its library and bindings: pip install otf2; or --format simgrid"
        ) from None
    times = Times(ranks)
    count = 0
    with otf2.writer.open(str(folder), timer_resolution=_NS_PER_S) as archive:
        defined = _Definitions(otf2, archive.definitions, ranks)
        for rank, trace in enumerate(ranks):
            writer = archive.event_writer_from_location(defined.locations[rank])
            for event in _events(trace, rank, times, defined):
                getattr(writer, event.name)(event.time_ns, **event.arguments)
                count += 1
    return count


class Times:
    """Every rank's ticks as nanoseconds since the first call of any, by the clock of rank 0."""

    def __init__(self, ranks: Sequence[RankTrace]) -> None:
        self._ranks = ranks
        self._scale = ranks[0].ns_per_tick
        self._shared = len({trace.head.clock for trace in ranks}) == 1 and ranks[0].head.clock != "0"
        if not self._shared and len(ranks) > 1:
            realms = {None if trace.line is None else trace.line.realm for trace in ranks}
            if None in realms or len(realms) > 1:
                raise InputError(
                    "the ranks read several clocks that could not be compared: an archive has one time; "
                    "--format simgrid needs none"
                )
        self._first = 0
        self._first = min(
            (
                self._reference(rank, _first_tick(trace))
                for rank, trace in enumerate(ranks)
                if len(trace.records)
            ),
            default=0,
        )

    def ns(self, rank: int, ticks: int) -> int:
        return round((self._reference(rank, ticks) - self._first) * self._scale)

    def _reference(self, rank: int, ticks: int) -> int:
        line = self._ranks[rank].line
        if self._shared or line is None:
            return ticks
        own = ticks - line.own_ticks
        return line.reference_ticks + own + round(own * line.rate_less_1)


def _first_tick(trace: RankTrace) -> int:
    return int(trace.records["begin"][0]) if len(trace.records) else 0


class _Definitions:
    """What events refer to."""

    def __init__(self, otf2: Any, definitions: Any, ranks: Sequence[RankTrace]) -> None:
        self.otf2 = otf2
        self.locations = _locations(definitions, ranks)
        self.regions = {
            call: definitions.region(
                ranks[0].head.calls[call].name,
                paradigm=otf2.Paradigm.MPI,
                region_role=otf2.RegionRole.FILE_IO
                if ranks[0].head.calls[call].share == "io"
                else otf2.RegionRole.FUNCTION,
            )
            for call in _made(ranks)
        }
        self.program = definitions.region(Path(ranks[0].head.program).name or "program")
        definitions.group(
            "MPI ranks",
            group_type=otf2.GroupType.COMM_LOCATIONS,
            paradigm=otf2.Paradigm.MPI,
            members=self.locations,
        )
        self.world = self._comm(definitions, "MPI_COMM_WORLD", list(range(len(ranks))))
        self.communicators = {WORLD: self.world} | {
            identity: self._comm(definitions, f"communicator {number}", members)
            for number, (identity, members) in enumerate(communicators(ranks).items())
            if identity != WORLD and max(members) < len(ranks)
        }

    def _comm(self, definitions: Any, name: str, members: list[int]) -> Any:
        group = definitions.group(
            name, group_type=self.otf2.GroupType.COMM_GROUP, paradigm=self.otf2.Paradigm.MPI, members=members
        )
        return definitions.comm(name, group=group)


def _made(ranks: Sequence[RankTrace]) -> list[int]:
    """The numbers of the calls that any rank made."""
    kinds = [trace.records["call"][trace.records["kind"] <= RecordKind.MET] for trace in ranks]
    return sorted({int(call) for calls in kinds for call in np.unique(calls)})


def _locations(definitions: Any, ranks: Sequence[RankTrace]) -> list[Any]:
    root = definitions.system_tree_node("machine", class_name="machine")
    hosts = {
        host: definitions.system_tree_node(host, class_name="node", parent=root)
        for host in dict.fromkeys(trace.head.host for trace in ranks)
    }
    groups = [
        definitions.location_group(f"MPI rank {rank}", system_tree_parent=hosts[trace.head.host])
        for rank, trace in enumerate(ranks)
    ]
    return [definitions.location(f"rank {rank}", group=group) for rank, group in enumerate(groups)]


def _events(trace: RankTrace, rank: int, times: Times, defined: _Definitions) -> Iterator[Event]:
    """Of the thread that called MPI_Init."""
    kept: list[tuple[int, ...]] = []
    begun: dict[int, int] = {}
    yield Event("enter", times.ns(rank, _first_tick(trace)), {"region": defined.program})
    last = _first_tick(trace)
    for row in trace.rows():
        if row[9] > RecordKind.MET or not row[10] & RecordFlag.ON_MAIN:
            continue
        kept.append(row)
        if row[10] & RecordFlag.IS_CALL:
            yield from _call(kept, begun, trace, lambda ticks: times.ns(rank, ticks), defined)
            kept = []
            last = row[1]
    yield Event("leave", times.ns(rank, last), {"region": defined.program})


def _call(
    rows: Sequence[tuple[int, ...]],
    begun: dict[int, int],
    trace: RankTrace,
    ns: Any,
    defined: _Definitions,
) -> Iterator[Event]:
    """One call, whose own record is the last, with all that it did: what it sent first, what it received last."""
    begin, end, call = ns(rows[-1][0]), ns(rows[-1][1]), rows[-1][8]
    yield Event("enter", begin, {"region": defined.regions[call]})
    later: list[Event] = []
    for row in rows:
        early, late = _did(row, begun, trace, defined)
        yield from (Event(name, begin, arguments) for name, arguments in early)
        later += [Event(name, end, arguments) for name, arguments in late]
    yield from later
    yield Event("leave", end, {"region": defined.regions[call]})


Told = list[tuple[str, dict[str, Any]]]


def _did(
    row: tuple[int, ...], begun: dict[int, int], trace: RankTrace, defined: _Definitions
) -> tuple[Told, Told]:
    """What belongs to the begin of its call and what to the end."""
    _, _, sent_byte, received_byte, _, peer, tag, request, call, kind, _ = row
    outside = peer >= trace.head.ranks
    message = {"communicator": defined.world, "msg_tag": tag}
    if request and kind in (RecordKind.SENT, RecordKind.POSTED):
        begun[request] = kind
    if kind == RecordKind.SENT and not outside:
        sent = {"receiver": peer, "msg_length": sent_byte, **message}
        return [("mpi_isend", {**sent, "request_id": request})] if request else [("mpi_send", sent)], []
    if kind == RecordKind.RECEIVED and not outside:
        return [], [("mpi_recv", {"sender": peer, "msg_length": received_byte, **message})]
    if kind == RecordKind.POSTED:
        return [("mpi_irecv_request", {"request_id": request})], []
    if kind == RecordKind.ENDED:
        return [], _ended(begun.pop(request, 0), row, message, outside=outside)
    if kind == RecordKind.MET and not trace.head.calls[call].begun:
        return _met(row, trace, defined)
    return [], []


def _ended(begun: int, row: tuple[int, ...], message: Mapping[str, Any], *, outside: bool) -> Told:
    _, _, _, received_byte, _, peer, _, request, _, _, _ = row
    if begun == RecordKind.SENT:
        return [("mpi_isend_complete", {"request_id": request})]
    if begun != RecordKind.POSTED or outside:
        return []
    if peer < 0:
        return [("mpi_request_cancelled", {"request_id": request})]
    return [("mpi_irecv", {"sender": peer, "msg_length": received_byte, "request_id": request, **message})]


def _met(row: tuple[int, ...], trace: RankTrace, defined: _Definitions) -> tuple[Told, Told]:
    _, _, sent_byte, received_byte, context, _, root, _, call, _, _ = row
    communicator = defined.communicators.get(context)
    operation = _COLLECTIVES.get(trace.head.calls[call].name)
    if communicator is None or operation is None:
        return [], []
    end = {
        "collective_op": getattr(defined.otf2.CollectiveOp, operation),
        "communicator": communicator,
        "root": root if root >= 0 else defined.otf2.Undefined.UINT32.value,
        "size_sent": sent_byte,
        "size_received": received_byte,
    }
    return [("mpi_collective_begin", {})], [("mpi_collective_end", end)]
