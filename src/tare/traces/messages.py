# SPDX-License-Identifier: Apache-2.0
"""Which receive took which message.

No message overtakes another from the same sender in the same communicator with the same tag (MPI 3.1, section 3.5): the
n-th send of a stream is its n-th receive.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tare.traces.rank_trace import RankTrace, RecordKind, Records

UNMATCHED = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Messages:
    """A rank's messages, for each of its records."""

    number: NDArray[np.int64]
    """Of a send, and of a receive where it begins: which message between these two ranks it is; else ``UNMATCHED``."""
    ended: NDArray[np.int64]
    """Request → the record of its end, or ``UNMATCHED``."""


def match(ranks: Sequence[RankTrace]) -> list[Messages]:
    """The messages of every rank."""
    matched = [
        Messages(number=np.full(len(trace.records), UNMATCHED), ended=_ends(trace.records)) for trace in ranks
    ]
    sends = [_by_peer(trace.records, _sends(trace.records)) for trace in ranks]
    receives = [
        _by_peer(trace.records, *_receives(trace, own.ended))
        for trace, own in zip(ranks, matched, strict=True)
    ]
    for sender, receivers in enumerate(sends):
        for receiver, (sent, sent_streams) in receivers.items():
            if receiver >= len(ranks) or sender not in receives[receiver]:
                continue
            received, received_streams = receives[receiver][sender]
            first, second = _pairs(sent_streams, received_streams)
            matched[sender].number[sent[first]] = first
            matched[receiver].number[received[second]] = first
    return matched


Streams = dict[int, tuple[NDArray[np.int64], NDArray[np.uint64]]]
"""The other rank → places of the records, and their streams."""


def _sends(records: Records) -> NDArray[np.int64]:
    return np.flatnonzero((records["kind"] == RecordKind.SENT) & (records["peer"] >= 0))


def _ends(records: Records) -> NDArray[np.int64]:
    ends = np.full(int(records["request"].max(initial=0)) + 1, UNMATCHED)
    places = np.flatnonzero((records["kind"] == RecordKind.ENDED) & (records["request"] > 0))
    ends[records["request"][places]] = places
    return ends


def _receives(trace: RankTrace, ended: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where receives begin, and where what they brought is told."""
    records = trace.records
    begins = np.flatnonzero((records["kind"] == RecordKind.RECEIVED) | (records["kind"] == RecordKind.POSTED))
    posted = records["kind"][begins] == RecordKind.POSTED
    tells = np.where(posted, ended[records["request"][begins]], begins)
    known = tells != UNMATCHED
    if trace.cut and not known.all():
        # Those after one of which nothing is known may be the next of any stream.
        known[int(np.argmin(known)) :] = False
    brought = known & (records["peer"][tells] >= 0)
    return begins[brought], tells[brought]


def _by_peer(records: Records, places: NDArray[np.int64], tells: NDArray[np.int64] | None = None) -> Streams:
    at = places if tells is None else tells
    peers = records["peer"][at]
    context, tag = records["context"][at], records["tag"][at]
    streams = np.where(
        context != 0, context, tag.astype(np.uint64) + 1
    )  # an unknown stream: by its tag alone
    return {int(peer): (places[peers == peer], streams[peers == peer]) for peer in np.unique(peers)}


def _pairs(
    sent: NDArray[np.uint64], received: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places in the two of what belongs together."""
    keys = [np.stack([streams, _occurrence(streams)], axis=1) for streams in (sent, received)]
    rows = [each.view([("stream", "<u8"), ("number", "<u8")]).ravel() for each in keys]
    _, first, second = np.intersect1d(rows[0], rows[1], assume_unique=True, return_indices=True)
    return first, second


def _occurrence(streams: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """How many of the same stream came before each."""
    order = np.argsort(streams, kind="stable")
    ordered = streams[order]
    begins = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(ordered) else order
    lengths = np.diff(np.r_[begins, len(ordered)])
    occurrence = np.empty(len(streams), dtype=np.uint64)
    occurrence[order] = np.arange(len(ordered)) - np.repeat(begins, lengths)
    return occurrence
