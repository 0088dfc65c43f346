# SPDX-License-Identifier: Apache-2.0
"""Turns of unmodified programs: all nodes but one are frozen (docs/turns.md).

If an arm cannot be frozen, or a program would notice, all arms of the workload run whole, one after the other, for the
rest of the result: compared arms are always measured in the same way.
"""

import random
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial

from tare.errors import HostError, NodeError
from tare.host.cgroups.freezer import Freezer
from tare.host.facts import lacking_memory
from tare.measure.context import Context
from tare.measure.failures import refuse_bomb
from tare.measure.freezer_turns import ArmRun, FrozenArm, stopwatch_limit_s, take_turns
from tare.measure.stopping import cell_of
from tare.measure.thawed import Turn, cpu_s, freezing, unsuited
from tare.measure.turns.player import Glances, Player
from tare.nodes.freezer import node_freezer
from tare.nodes.provider import Node
from tare.plan.turns import MOST_RUNS
from tare.records import NATIVE, Trial, Turns, TurnsTaken, Way


class BudgetSpentError(BaseException):
    """The budget ended before a command had run once in all arms, so that nothing can be compared.

    It ends more than one trial, like an interrupt, and is not among the errors that a trial records as its own.
    """


LEAST_TURN_S = 0.05
"""Freezing takes about half a millisecond of uncounted run time, which must be a small part of a turn."""
_MEMORY_SLACK = 1.5
"""Factor by which a command may use more memory in another environment than on native."""


def unfit(trials: Sequence[Trial], seen_byte: int | None = None) -> str | None:
    """Why these trials cannot be up at the same time and take turns; ``None``: no objection so far.

    ``seen_byte``: observed memory of one of them; without it each may use its limit.
    """
    layout = trials[0].layout
    if layout.nodes > 1:
        return f"the nodes of {layout} talk to each other, and would notice a pause"
    return too_large(trials, seen_byte)


def too_large(trials: Sequence[Trial], seen_byte: int | None = None) -> str | None:
    """Why this host lacks memory for the nodes of all these trials, one for each arm; ``None``: it suffices."""
    limit_byte = max(trial.limits.memory_byte for trial in trials)
    needed_byte = limit_byte if seen_byte is None else min(limit_byte, int(seen_byte * _MEMORY_SLACK))
    try:
        return lacking_memory(len(trials), needed_byte)
    except HostError as error:
        return str(error)


def play_frozen(
    context: Context, ready: Sequence[Player], source: random.Random, together: str
) -> str | None:
    """Run each player's command by turns; return why they must run whole instead, if that shows now.

    A short command runs several times, so that the luck of one process averages out: until native has spent the time of
    all slices on it, or the budget's end is near. Raises ``BudgetSpentError``.
    """
    turns = ready[0].attempt.trial.turns or Turns()
    wanted_s = turns.processes * turns.rounds * turns.slice_s
    turned = cell_of(ready[0].attempt.trial) in context.turned
    frozen = {player: _freezers(player, turned=turned) for player in ready}
    if lacking := [player.name for player, own in frozen.items() if player.playing and own is None]:
        names = " and ".join(sorted(set(lacking)))
        remedy = "" if NATIVE in lacking else f"; without {names} the others would take turns"
        return f"{names} cannot be frozen here{remedy}"
    arms = [_FrozenArm(player, own) for player, own in frozen.items() if own is not None]
    glances = Glances(context, ready)
    for number in range(MOST_RUNS):
        begun_s = time.monotonic()
        tick = partial(_tick_within, context, glances) if number == 0 else glances.between_turns
        going = [arm for arm in arms if arm.player.playing]
        with ExitStack() as stack:
            commands = [arm.ready(number, len(going), stack) for arm in going]
            for arm, run in zip(
                going,
                take_turns(commands, source, max(turns.slice_s, LEAST_TURN_S), tick),
                strict=True,
            ):
                arm.keep(number, run)
        native = [arm for arm in going if arm.player.name == NATIVE]
        reasons = [unsuited(arm.turns) for arm in native]
        if reasons and all(reasons) and not turned:
            return reasons[0]
        if not native or min(arm.spent_s for arm in native) * (1 + 1 / (number + 1)) > wanted_s:
            break
        if 2 * time.monotonic() - begun_s > context.until_s:
            break  # another run of this length would exceed the budget
    for arm in arms:
        arm.note(together, len(arms))
    return None


def _tick_within(context: Context, glances: Glances) -> None:
    """Raise ``BudgetSpentError`` once the budget has ended."""
    if time.monotonic() > context.until_s:
        raise BudgetSpentError
    glances.between_turns()


def _freezers(player: Player, *, turned: bool) -> list[Freezer] | None:
    """One for each node, including the launcher's; ``None`` if a node has none.

    If earlier blocks of the result took turns, this one does too: the trial of an arm that cannot is lost.
    """
    nodes: list[Node] = list(player.ready.watched.nodes)
    provider = player.ready.up.provider
    freezers: list[Freezer | None] = []
    with player.attempt.guarded():
        freezers = [node_freezer(node, provider.group(node)) for node in nodes]
        if turned and None in freezers:
            raise NodeError("it cannot be frozen here, as it was in earlier blocks; start a new result")
    known = [freezer for freezer in freezers if freezer is not None]
    return known if len(known) == len(nodes) else None


@dataclass(slots=True)
class _FrozenArm:
    """One player's nodes, and all the turns they had."""

    player: Player
    freezers: Sequence[Freezer]
    turns: list[Turn] = field(default_factory=list)

    @property
    def spent_s(self) -> float:
        return sum(turn.counted_s for turn in self.turns)

    def ready(self, number: int, arms: int, stack: ExitStack) -> FrozenArm:
        """Its commands for the next run; none if they could not be started, so that its turns end at once."""
        limit_s = self.player.attempt.trial.limits.time_s
        self.player.start(number, stack, limit_s=stopwatch_limit_s(limit_s, arms))
        return FrozenArm(
            stopwatches=self.player.stopwatches if self.player.playing else [],
            freezers=self.freezers,
            groups=self.player.ready.watched.groups,
            limit_s=limit_s,
            look=partial(refuse_bomb, self.player.ready.watched),
            counted=self.player.look.turn,
        )

    def keep(self, number: int, run: ArmRun) -> None:
        """Put one run into its trial."""
        self.turns += run.turns
        if not self.player.playing:
            return
        with self.player.attempt.guarded():
            if run.error is not None:
                raise run.error
            self.player.keep(run.runs, ended=True)
            self.player.attempt.measured.gathered.cpu_s[number] = cpu_s(run.turns)

    def note(self, together: str, arms: int) -> None:
        latency = freezing(self.turns)
        self.player.attempt.measured.turns = TurnsTaken(
            way=Way.FREEZER,
            together=together,
            arms=arms,
            turns=len(self.turns),
            busy_cpu_s=cpu_s(self.turns),
            freeze_s=() if latency is None else (latency.median_s, latency.worst_s),
        )
