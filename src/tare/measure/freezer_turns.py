# SPDX-License-Identifier: Apache-2.0
"""Unmodified programs by turns: all arms are frozen, and each in turn is thawed for a moment, until all have ended.

Slow moments of the machine then affect all arms equally. An arm's time is its time thawed, from each thaw's completion
to the next freeze's request. An arm that fails is ended and disturbs no other.
"""

import random
import selectors
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from tare.errors import WrongOutput
from tare.host.cgroups.freezer import Freezer, freeze_all, thaw_all, thawed_at_end
from tare.measure.clock_line import ClockProbe
from tare.measure.clocks import compare, host_ns, host_start_ns
from tare.measure.counted import CpuUsage
from tare.measure.instances import record, refuse_unexecuted
from tare.measure.starts import StartOffset, start_clocks, start_offsets
from tare.measure.steal import ProcessorWaits
from tare.measure.stopwatch import Stopwatch, go_together
from tare.measure.thawed import Turn, thawed_s
from tare.nodes.provider import NodeGroup
from tare.plan.succession import TurnOrders
from tare.records import InstanceRun
from tare.units import format_duration

TURN_S = 0.08
_END_LIMIT_S = 15.0
"""Time that an ended arm may take to disappear: the stopwatch's own limit for a command that does not die."""
_WAKING_NS = 2_000_000
"""Lead of the thaw, which takes 0.5 ms, before several start."""
_NS = 1e-9


def stopwatch_limit_s(limit_s: float, arms: int) -> float:
    """The wall-clock limit for a stopwatch whose command may run ``limit_s`` thawed, among ``arms`` arms."""
    return limit_s * arms * 1.5 + 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenArm:
    """An arm that takes turns with others. All its commands are already in its nodes: nothing enters a frozen one."""

    stopwatches: Sequence[Stopwatch]
    """Stopwatches of its instances, all ready."""
    freezers: Sequence[Freezer]
    """One for each of its nodes, a launcher's included."""
    groups: Sequence[NodeGroup]
    """Groups of the same nodes, for the CPU time."""
    limit_s: float
    """Limit of the thawed time."""
    look: Callable[[], None] = lambda: None
    """Called after each of its turns; may raise ``TrialError``, such as for a failed launch."""
    counted: Callable[[], AbstractContextManager[None]] = nullcontext
    """Entered around each of its turns, outside its time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmRun:
    """The result of an arm."""

    runs: tuple[InstanceRun, ...]
    """One for each stopwatch, their ``clocks`` and ``host_span_s`` without the time frozen; none after an error."""
    error: Exception | None
    turns: tuple[Turn, ...]
    """Evaluated by ``tare.measure.thawed``: latencies, CPU time, whether turns suit the program."""


def take_turns(
    arms: Sequence[FrozenArm],
    draw: random.Random,
    turn_s: float = TURN_S,
    tick: Callable[[], None] = lambda: None,
) -> list[ArmRun]:
    """Run until all have ended, each round in another order; ``tick`` is called once in each, with all frozen.

    Every arm follows every arm equally often, itself included, and every such transition has a ``tick`` equally often.
    Errors of ``tick`` are raised after all arms are thawed. An arm's own errors are in its ``ArmRun``.
    """
    conducted, orders = [_Conducted(arm) for arm in arms], TurnOrders[_Conducted](draw)
    with thawed_at_end([freezer for arm in arms for freezer in arm.freezers]):
        for arm in conducted:
            arm.guarded(arm.prepare)
        for arm in conducted:
            arm.guarded(arm.freeze)
        while going := [arm for arm in conducted if arm.going]:
            ticks_before = draw.choice(going)
            for arm in orders.order(going):
                if arm is ticks_before:
                    tick()
                arm.guarded(lambda arm=arm: arm.turn(turn_s))  # type: ignore[misc]
        for arm in conducted:
            arm.guarded(arm.finish)
    return [arm.told() for arm in conducted]


@dataclass(slots=True, eq=False)
class _Conducted:
    """A running arm."""

    arm: FrozenArm
    error: Exception | None = None
    before: list[list[ClockProbe]] = field(default_factory=list)
    said: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    went_ns: int = 0
    done_ns: dict[int, int] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)
    runs: list[InstanceRun] = field(default_factory=list)

    @property
    def going(self) -> bool:
        return self.error is None and len(self.said) < len(self.arm.stopwatches)

    def guarded(self, step: Callable[[], None]) -> None:
        """Take a step of this arm; an error in it ends this arm and no other."""
        if self.error is None:
            try:
                step()
            except Exception as error:  # noqa: BLE001 - nor may what nobody foresaw end another arm
                self.error = error
                self._end()

    def prepare(self) -> None:
        self.before = [stopwatch.probe() for stopwatch in self.arm.stopwatches]

    def freeze(self) -> None:
        freeze_all(self.arm.freezers)

    def turn(self, turn_s: float) -> None:
        self._listen(0.0)  # an end that was in transit at the freeze
        if not self.going:
            return
        self._go_early()
        with self.arm.counted():
            self._take(turn_s)
        self.arm.look()
        self._keep_limit()

    def _take(self, turn_s: float) -> None:
        usage, waits = CpuUsage(self.arm.groups), ProcessorWaits(self.arm.freezers)
        thaw_asked_ns, thawed_ns = thaw_all(self.arm.freezers)
        self._go_alone()
        self._listen(thawed_ns * _NS + turn_s - host_ns() * _NS)
        freeze_asked_ns, frozen_ns = freeze_all(self.arm.freezers)
        self.turns.append(
            Turn(
                thaw_asked_ns=thaw_asked_ns,
                thawed_ns=thawed_ns,
                freeze_asked_ns=freeze_asked_ns,
                frozen_ns=frozen_ns,
                cpu_s=usage.used_s(),
                waited_s=waits.waited_s(),
                stolen_s=waits.stolen_s(),
            )
        )

    def _go_early(self) -> None:
        """Send GO before the first thaw: several read it when they wake, a moment before they start."""
        if not self.went_ns and len(self.arm.stopwatches) > 1:
            self.went_ns = go_together(self.arm.stopwatches, self.before)
            time.sleep(max(0.0, (self.went_ns - _WAKING_NS - host_ns()) * _NS))

    def _go_alone(self) -> None:
        """Send GO after the first thaw."""
        if not self.went_ns:
            self.went_ns = go_together(self.arm.stopwatches, self.before)

    def _listen(self, limit_s: float) -> None:
        """Wait until all have reported DONE, but no longer than ``limit_s``."""
        deadline = time.monotonic() + limit_s
        with selectors.DefaultSelector() as selector:
            for number, stopwatch in enumerate(self.arm.stopwatches):
                if number not in self.said:
                    selector.register(stopwatch, selectors.EVENT_READ, number)
            while self.going:
                ready = selector.select(max(0.0, deadline - time.monotonic()))
                for key, _ in ready:
                    if self._heard(key.data):
                        selector.unregister(key.fileobj)
                if not ready and time.monotonic() >= deadline:
                    return

    def _heard(self, number: int) -> bool:
        words = self.arm.stopwatches[number].done()
        if words is None:
            return False
        self.said[number], self.done_ns[number] = words, host_ns()
        return True

    def _keep_limit(self) -> None:
        if self.going and sum(turn.counted_s for turn in self.turns) > self.arm.limit_s:
            limit = format_duration(self.arm.limit_s)
            raise WrongOutput(f"the command ran into its time limit of {limit} and was ended")

    def _end(self) -> None:
        """End the rest of it, while no other arm runs, and keep it frozen as long as others go on."""
        with suppress(Exception):
            thaw_all(self.arm.freezers)
        left = [stopwatch for number, stopwatch in enumerate(self.arm.stopwatches) if number not in self.said]
        for stopwatch in left:
            with suppress(Exception):
                stopwatch.end_command(_END_LIMIT_S)
        with suppress(Exception):
            freeze_all(self.arm.freezers)

    def finish(self) -> None:
        """Read the clocks at the end, and make each instance's record."""
        thaw_all(self.arm.freezers)
        words = [self.said[number] for number in range(len(self.arm.stopwatches))]
        refuse_unexecuted(words)
        after = [stopwatch.probe() for stopwatch in self.arm.stopwatches]
        offsets = start_offsets(words, start_clocks(self.before))
        self.runs = [self._record(number, offsets[number], after[number]) for number in range(len(words))]

    def _record(self, number: int, offset: StartOffset, after: Sequence[ClockProbe]) -> InstanceRun:
        words, before = self.said[number], self.before[number]
        whole = compare(words["start_ns"], words["end_ns"], before, after)
        wall_s = thawed_s(
            self.turns, host_start_ns(words["start_ns"], before), host_start_ns(words["end_ns"], after)
        )
        # The clocks' disagreement is unchanged; only the frozen time is left out.
        clocks = replace(whole, wall_s=wall_s, host_wall_s=wall_s + whole.host_wall_s - whole.wall_s)
        host_span_s = thawed_s(self.turns, self.arm.stopwatches[number].sent_ns, self.done_ns[number])
        return record(number, words, clocks, offset, host_span_s)

    def told(self) -> ArmRun:
        runs = () if self.error else tuple(self.runs)
        return ArmRun(runs=runs, error=self.error, turns=tuple(self.turns))
