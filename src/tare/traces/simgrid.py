# SPDX-License-Identifier: Apache-2.0
"""A trace as SimGrid replays it (smpirun -replay): what each rank does, in lines of words, without times.

One second of the program's own work between two calls is 1e9 flop: a replay on hosts of that speed, ``1Gf``, computes
as long as the traced run did. What a reduction computes is not told: its time was part of the call.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tare.traces.actions import action
from tare.traces.messages import UNMATCHED, Messages, match
from tare.traces.rank_trace import RankTrace, RecordFlag, RecordKind, communicators
from tare.traces.steps import CollectivePart, MessageStep, steps

FLOP_PER_S = 1e9
_NS_PER_S = 1e9
_TAG_OF_STEPS = 1 << 30
"""Beyond the numbers of messages, which are the tags of all others."""
_SENDRECV = ("MPI_Sendrecv", "MPI_Sendrecv_replace")
_BUFFERED = ("MPI_Bsend",)
"""They return at once, whatever the receiver does."""


@dataclass(slots=True, kw_only=True)
class Said:
    """What became of a rank's records."""

    lines: int = 0
    messages: int = 0
    message_byte: int = 0
    """Sent from one rank to one other by the program itself."""
    collectives: int = 0
    stepped: Counter[str] = field(default_factory=Counter)
    """Calls of some ranks alone, written as messages."""
    blocking: Counter[str] = field(default_factory=Counter)
    """Calls that returned before they were done, written as if they had waited."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Calls that move data and are not in what was written."""
    unmatched: int = 0
    """Messages of which the other end is not in the trace."""
    compute_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is known before any line is written."""

    ranks: Sequence[RankTrace]
    messages: Sequence[Messages]
    members: Mapping[int, list[int]]
    meetings: Mapping[int, int]
    """Communicator → how many of its calls all members came to."""


def plan(ranks: Sequence[RankTrace]) -> Plan:
    """What the ranks did together."""
    members = communicators(ranks)
    return Plan(ranks=ranks, messages=match(ranks), members=members, meetings=_meetings(ranks, members))


def _meetings(ranks: Sequence[RankTrace], members: Mapping[int, list[int]]) -> dict[int, int]:
    counts = [Counter(trace.of_kind(RecordKind.MET)["context"].tolist()) for trace in ranks]
    return {
        identity: min(counts[rank][identity] for rank in own if rank < len(ranks))
        for identity, own in members.items()
        if any(rank < len(ranks) for rank in own)
    }


def lines(plan: Plan, rank: int, said: Said) -> Iterator[str]:
    """The lines of one rank; ``said`` is filled as they come."""
    for line in _Writer(plan, rank, said).lines():
        said.lines += 1
        yield line


class _Writer:
    """One rank, record by record."""

    def __init__(self, plan: Plan, rank: int, said: Said) -> None:
        self._plan = plan
        self._rank = rank
        self._said = said
        self._trace = plan.ranks[rank]
        self._messages = plan.messages[rank]
        self._names = [call.name for call in self._trace.head.calls]
        self._waiting = _waiting_names(self._trace)
        self._files = [call.share == "io" for call in self._trace.head.calls]
        self._pending: dict[int, str] = {}
        self._parts: list[tuple[int, int, int]] = []
        self._met: Counter[int] = Counter()
        self._held = ""
        self._end = 0
        self._own: list[tuple[int, int]] = []
        self._flop = 0.0

    def lines(self) -> Iterator[str]:
        yield f"{self._rank} init"
        for place, row in enumerate(self._trace.rows()):
            kind = row[9]
            if kind <= RecordKind.MET:
                yield from self._call(place, row)
            elif kind == RecordKind.PART:
                self._parts.append((row[2], row[3], row[10]))
            elif kind == RecordKind.OWN:
                self._own.append((row[0], row[1]))
        yield from self._computed()
        yield f"{self._rank} finalize"

    def _call(self, place: int, row: tuple[int, ...]) -> Iterator[str]:
        begin, end, sent_byte, received_byte, _, peer, _, request, call, kind, flags = row
        if flags & RecordFlag.ON_MAIN:
            self._compute_until(begin, end)
        if kind == RecordKind.SENT:
            yield from self._sent(place, peer, sent_byte, request, call)
        elif kind == RecordKind.RECEIVED:
            yield from self._received(place, peer, received_byte, call, flags)
        elif kind == RecordKind.POSTED:
            yield from self._posted(place, request)
        elif kind == RecordKind.ENDED:
            yield from self._ended(request)
        elif kind == RecordKind.MET:
            yield from self._collective(row)
        if flags & RecordFlag.IS_CALL:
            yield from self._after_call(begin, end, call, kind)

    def _after_call(self, begin: int, end: int, call: int, kind: int) -> Iterator[str]:
        if self._held:  # MPI_Sendrecv to nobody: its send would have written this
            yield from self._op(self._held)
            self._held = ""
        if self._files[call]:
            yield from self._op(f"sleep {(end - begin) * self._trace.ns_per_tick / _NS_PER_S:.9f}")
        elif kind == RecordKind.MOVED:
            self._said.left_out[self._names[call]] += 1

    def _compute_until(self, begin: int, end: int) -> None:
        """What lies between the calls is the program's, but for the time in which the trace was written."""
        if self._end and begin > self._end:
            own = sum(max(0, min(begin, until) - max(self._end, since)) for since, until in self._own)
            self._flop += (begin - self._end - own) * self._trace.ns_per_tick
        if end > self._end:
            self._end = end
            self._own = [(since, until) for since, until in self._own if until > end]

    def _computed(self) -> Iterator[str]:
        flop = round(self._flop)
        if flop > 0:
            self._said.compute_s += flop / FLOP_PER_S
            yield f"{self._rank} compute {flop}"
        self._flop = 0.0

    def _op(self, words: str) -> Iterator[str]:
        yield from self._computed()
        yield f"{self._rank} {words}"

    def _tag(self, place: int) -> int:
        return int(self._messages.number[place])

    def _sent(self, place: int, peer: int, byte: int, request: int, call: int) -> Iterator[str]:
        tag = self._tag(place)
        if tag == UNMATCHED:
            self._said.unmatched += 1
            return
        self._said.messages += 1
        self._said.message_byte += byte
        end = f"wait {self._rank} {peer} {tag}"
        if self._held:
            yield from self._op(f"isend {peer} {tag} {byte}")
            yield from self._op(self._held)
            yield from self._op(end)
            self._held = ""
        elif request or self._waiting[call] in _BUFFERED:
            yield from self._op(f"isend {peer} {tag} {byte}")
            self._pending[request] = end
        else:
            yield from self._op(f"send {peer} {tag} {byte}")

    def _received(self, place: int, peer: int, byte: int, call: int, flags: int) -> Iterator[str]:
        tag = self._tag(place)
        if tag == UNMATCHED:
            self._said.unmatched += 1
            return
        words = f"recv {peer} {tag} {_room(byte)}"
        if not flags & RecordFlag.IS_CALL and self._names[call] in _SENDRECV:
            self._held = words
        else:
            yield from self._op(words)

    def _posted(self, place: int, request: int) -> Iterator[str]:
        tag = self._tag(place)
        end = int(self._messages.ended[request])
        peer = UNMATCHED if end == UNMATCHED else int(self._trace.records["peer"][end])
        if tag == UNMATCHED:
            self._said.unmatched += end == UNMATCHED or peer >= 0  # what was cancelled brought nothing
            return
        yield from self._op(f"irecv {peer} {tag} {_room(int(self._trace.records['received_byte'][end]))}")
        self._pending[request] = f"wait {peer} {self._rank} {tag}"

    def _ended(self, request: int) -> Iterator[str]:
        words = self._pending.pop(request, None)
        if words is not None:
            yield from self._op(words)

    def _collective(self, row: tuple[int, ...]) -> Iterator[str]:
        _, _, sent_byte, received_byte, context, count, root, _, number, _, _ = row
        parts, self._parts = self._parts, []
        members = self._plan.members.get(context, [])
        if count <= 1:
            return
        name = self._names[number]
        if self._rank not in members or len(members) != count or max(members) >= len(self._plan.ranks):
            self._said.left_out[name] += 1
            return
        self._met[context] += 1
        if self._met[context] > self._plan.meetings[context]:
            self._said.unmatched += 1
            return
        if self._trace.head.calls[number].begun:
            self._said.blocking[name] += 1
        call = CollectivePart(
            name=self._waiting[number],
            members=count,
            place=members.index(self._rank),
            root=root,
            sent_byte=sent_byte,
            received_byte=received_byte,
            sent_parts=[sent for sent, _, flags in parts if flags & RecordFlag.HAS_SENT],
            received_parts=[received for _, received, flags in parts if flags & RecordFlag.HAS_RECEIVED],
        )
        yield from self._together(call, members, name)

    def _together(self, call: CollectivePart, members: Sequence[int], name: str) -> Iterator[str]:
        words = action(call, members) if len(members) == len(self._plan.ranks) else None
        if words is not None:
            self._said.collectives += 1
            yield from self._op(words)
            return
        known = steps(call)
        if known is None:
            self._said.left_out[name] += 1
            return
        self._said.stepped[name] += 1
        for step in known:
            yield from self._step(step, members)

    def _step(self, step: MessageStep, members: Sequence[int]) -> Iterator[str]:
        if step.to is None:
            if step.source is not None:
                yield from self._op(self._take(members[step.source], step))
            return
        to = members[step.to]
        if step.source is None:
            yield from self._op(f"send {to} {_TAG_OF_STEPS} {_room(step.sent_byte)}")
            return
        yield from self._op(f"isend {to} {_TAG_OF_STEPS} {_room(step.sent_byte)}")
        yield from self._op(self._take(members[step.source], step))
        yield from self._op(f"wait {self._rank} {to} {_TAG_OF_STEPS}")

    @staticmethod
    def _take(source: int, step: MessageStep) -> str:
        return f"recv {source} {_TAG_OF_STEPS} {_room(step.received_byte)}"


def _room(byte: int) -> int:
    """SimGrid's receive of 0 byte would wait for the message before it begins."""
    return max(byte, 1)


def _waiting_names(trace: RankTrace) -> list[str]:
    """Of each call, the one that does the same and waits: it stands before the one that does not."""
    names = [call.name for call in trace.head.calls]
    return [
        names[number - 1] if call.begun and number else call.name
        for number, call in enumerate(trace.head.calls)
    ]
