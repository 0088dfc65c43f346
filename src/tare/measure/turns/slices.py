# SPDX-License-Identifier: Apache-2.0
"""Turns by slices: in each round all arms do the same small piece of work, one after the other.

The amount of work is determined once, on native, and is the same in all arms and all blocks of a result.
"""

import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from tare.errors import WrongOutput
from tare.measure.context import Context
from tare.measure.turns.allotment import FEWEST_ROUNDS
from tare.measure.turns.player import Glances, Player
from tare.plan.succession import TurnOrders
from tare.plan.turns import ROUNDS_TOGETHER
from tare.records import NATIVE, Direction, Sample, Turns, TurnsTaken, Way
from tare.workloads import pieces_of
from tare.workloads.kind import Piece
from tare.workloads.slices import Slice, parse_slice

_NS = 1e-9
_TRIES = 12
_LAST_TRIES = 3
_MOST_GROWTH = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round of a piece, drawn before the first turn so that nothing is computed between two turns."""

    piece: Piece
    number: int
    order: tuple[int, ...]
    leads_in: bool
    """Whether the first arm has a turn that does not count: what ran before was another piece, or nothing."""
    glance: int
    """The place in the order before whose turn there may be a glance: each transition has it equally often."""


def answer_of(took: Mapping[str, Any]) -> Slice:
    """The answer in a TOOK: the program's own figures, or the stopwatch's if it gives none."""
    line = str(took["line"])
    return parse_slice(line) if line.startswith("slice ") else Slice(wall_ns=took["wall_ns"])


def play_slices(context: Context, ready: Sequence[Player], source: random.Random, together: str) -> None:
    """Run all starts of the programs and all rounds; the samples go to each player's trial.

    After the end of the budget there are at most ``FEWEST_ROUNDS`` of one start.
    """
    turns = ready[0].attempt.trial.turns or Turns()
    counts: Mapping[str, int] = {}
    glances = Glances(context, ready)
    for process in range(turns.processes):
        if process and _budget_spent(context):
            break
        counts = _play_start(context, ready, source, process, glances)
    for player in ready:
        player.attempt.measured.turns = TurnsTaken(
            way=Way.SLICES,
            together=together,
            arms=len(ready),
            turns=player.turns,
            counts=counts,
            busy_cpu_s=player.busy_s,
            waiting_cpu_s=player.waiting_cpu_s,
            waiting_s=player.waiting_s,
        )


def _budget_spent(context: Context) -> bool:
    return time.monotonic() > context.until_s


def _play_start(
    context: Context, ready: Sequence[Player], source: random.Random, process: int, glances: Glances
) -> Mapping[str, int]:
    """Run one start of the programs with all its rounds; return the units of work in its slices."""
    first = ready[0].attempt.trial
    turns, pieces = first.turns or Turns(), pieces_of(first.workload)
    with ExitStack() as stack:
        for player in ready:
            if player.playing:
                player.start(process, stack)
                player.go()
                _warm_up(player, pieces)
        counts = _counts(context, ready, pieces, turns)
        rounds = {piece.name: context.allotment.rounds(piece.metric, turns.rounds) for piece in pieces}
        most = max(rounds.values())
        for planned in drawn_rounds(pieces, rounds, len(ready), source):
            if planned.number < FEWEST_ROUNDS or not _budget_spent(context):
                _round(ready, planned, counts, (process * most + planned.number, process), glances)
        for player in ready:
            if player.playing:
                player.stop()
    return counts


def _warm_up(player: Player, pieces: Sequence[Piece]) -> None:
    """Warm up with an uncounted turn: a user's program may prepare itself before it reads."""
    for piece in pieces:
        if piece.fixed:
            player.turn(f"{piece.name} {piece.start_count}")


def _round(
    ready: Sequence[Player],
    planned: Round,
    counts: Mapping[str, int],
    at: tuple[int, int],
    glances: Glances,
) -> None:
    piece, checks = planned.piece, dict[int, tuple[str | None, ...]]()
    token = f"{piece.name} {counts[piece.name]}"
    if planned.leads_in:
        ready[planned.order[0]].turn(token)
    for turn, place in enumerate(planned.order):
        if turn == planned.glance:
            glances.between_turns()
        player = ready[place]
        if not player.playing:
            continue
        with player.look.turn():
            answers = player.turn(token)
        with player.attempt.guarded():
            slices = [answer_of(answer) for answer in answers]
            checks[place] = tuple(done.check for done in slices)
            for instance, done in enumerate(slices):
                counted = samples(piece, counts[piece.name], done, instance, at)
                player.attempt.measured.samples += counted[:1] if player.own_kernel else counted
    _refuse_other_results(ready, checks, piece)


def _refuse_other_results(
    ready: Sequence[Player], checks: Mapping[int, tuple[str | None, ...]], piece: Piece
) -> None:
    """Check the results: the same work has the same result, and native's is the reference."""
    native = {own for place, own in checks.items() if ready[place].name == NATIVE and own}
    for place, own in checks.items():
        if own and native and (len(native) > 1 or own not in native):
            with ready[place].attempt.guarded():
                raise WrongOutput(
                    f"a slice of {piece.name} came to another result ({_shown(own)}) than natively"
                )


def _shown(checks: Sequence[str | None]) -> str:
    return ", ".join(check or "none" for check in checks)


def samples(piece: Piece, count: int, done: Slice, instance: int, at: tuple[int, int]) -> list[Sample]:
    """Samples per unit of work: wall time, CPU time, and wall time minus waiting time; of a bandwidth the rate.

    A node's own kernel counts CPU time in ticks and does not see time taken by the host's: then only the first is used.
    """
    number, process = at
    beside = [piece.wall_sample(done.wall_ns * _NS / count)]
    if done.cpu_ns is not None:
        cpu_s = done.cpu_ns * _NS / count
        beside.append(Sample(name=piece.cpu_metric, value=cpu_s, unit="s", direction=Direction.LESS))
    if piece.alone and done.waited_ns is not None and done.waited_ns < done.wall_ns:
        net_s = (done.wall_ns - done.waited_ns) * _NS
        beside.append(piece.wall_sample(net_s / count, piece.net_metric))
    return [
        replace(each, coordinates=piece.coordinates, instance=instance, round=number, process=process)
        for each in beside
    ]


def _counts(
    context: Context, ready: Sequence[Player], pieces: Sequence[Piece], turns: Turns
) -> Mapping[str, int]:
    """Units of work in each slice: as in the result's earlier blocks, else determined on native now."""
    key = ready[0].attempt.trial.program
    for native in (player for player in ready if player.name == NATIVE):
        if key not in context.counts and native.playing:
            counts = {piece.name: _count(native, piece, turns) for piece in pieces}
            if native.playing:
                context.counts[key] = counts
    return context.counts.get(key) or {piece.name: piece.start_count for piece in pieces}


def _count(native: Player, piece: Piece, turns: Turns) -> int:
    if piece.fixed:
        return piece.start_count
    return fitting_count(partial(_wall_s, native, piece), piece.start_count, turns.slice_s)


def _wall_s(player: Player, piece: Piece, count: int) -> float | None:
    """Wall time of a slice; ``None`` if the trial is lost."""
    walls_s: list[float] = []
    with player.attempt.guarded():
        walls_s += [answer_of(answer).wall_ns * _NS for answer in player.turn(f"{piece.name} {count}")]
    return max(walls_s, default=None)


def fitting_count(wall_s: Callable[[int], float | None], start: int, target_s: float) -> int:
    """The number of units of work that take ``target_s``, by trial; ``start`` if nothing is learned."""
    count = start
    for _ in range(_TRIES):
        took = wall_s(count)
        if took is None:
            return count
        if took >= target_s / 2:
            break
        count = max(count + 1, round(count * min(_MOST_GROWTH, target_s / max(took, target_s / 100))))
    last = [took for _ in range(_LAST_TRIES) if (took := wall_s(count)) is not None]
    return max(1, round(count * target_s / statistics.median(last))) if last else count


def orders(arms: int, rounds: int, source: random.Random) -> list[tuple[int, ...]]:
    """One order of the arms 0 .. ``arms`` - 1 for each round, begun by the arm that ended the round before.

    Every arm follows every arm equally often, itself included, so that whatever a slice leaves in caches or queues
    affects all arms alike. What the first arm of all follows is a turn of its own that does not count.
    """
    drawn = TurnOrders[int](source)
    return [tuple(drawn.order(range(arms))) for _ in range(rounds)]


def drawn_rounds(
    pieces: Sequence[Piece], rounds: Mapping[str, int], arms: int, source: random.Random
) -> list[Round]:
    """All rounds of one start in the order in which they run: a few of one piece, then as many of the next.

    If each round had another piece, an arm would follow itself only from piece to piece, so that what one piece alone
    leaves behind would still hit all arms but its own.
    """
    drawn = {piece.name: orders(arms, rounds[piece.name], source) for piece in pieces}
    return [
        Round(
            piece=piece,
            number=number,
            order=drawn[piece.name][number],
            leads_in=number == first and (len(pieces) > 1 or first == 0),
            glance=source.randrange(arms),
        )
        for first in range(0, max(rounds.values()), ROUNDS_TOGETHER)
        for piece in pieces
        for number in range(first, min(first + ROUNDS_TOGETHER, rounds[piece.name]))
    ]
