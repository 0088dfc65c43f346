# SPDX-License-Identifier: Apache-2.0
"""Signals block by block: counts during an environment's trial, beside both native trials of its block."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tare.records import (
    NATIVE,
    BlockFacts,
    Cell,
    Outcome,
    RunFacts,
    Scope,
    Signal,
    SignalBlock,
    SignalEvidence,
    SignalSummary,
    Summary,
    Way,
)
from tare.treat.aggregate import usable
from tare.treat.pairing import cell_of

_WAITS = ("runnable_wait_s", "throttled_s", "vcpu_wait_s", "steal_s")
"""Times in which a thread wanted to run and could not. They overlap, so the largest represents all."""

_OF_OWN_LINKS = ("queue_overlimits", "queue_drops", "queue_requeues", "queue_backlog_byte", "switch_drops")
"""Events on links that a trial has for itself. Native has none (docs/networks.md), so they cannot happen there: 0 is
then the true value, not a missing one."""

RETRANSMISSION_TIMEOUT_S = 0.2
"""Linux's TCP_RTO_MIN (include/net/tcp.h)."""

_Key = tuple[Cell, int, str, int]
_Kind = tuple[str, str, Scope, bool]
"""Name, unit, scope, whether it is lost time: the same name in another unit or scope is another signal."""


@dataclass(frozen=True, slots=True)
class _Block:
    """The three trials of one block, and the facts compared."""

    facts: BlockFacts
    trials: tuple[Outcome, Outcome, Outcome]
    """Native, native again, the environment."""


def signal_evidence(outcomes: Sequence[Outcome], summaries: Sequence[Summary]) -> tuple[SignalEvidence, ...]:
    """One per summary, in the same blocks except those with unknown wall times."""
    placed: dict[_Key, Outcome] = {
        (
            cell_of(outcome),
            outcome.trial.block,
            outcome.trial.environment.name,
            outcome.trial.replicate,
        ): outcome
        for outcome in outcomes
    }
    counted: dict[tuple[Cell, str, tuple[int, ...]], SignalEvidence] = {}
    return tuple(_evidence(placed, summary, counted) for summary in summaries)


def _evidence(
    placed: Mapping[_Key, Outcome],
    summary: Summary,
    counted: dict[tuple[Cell, str, tuple[int, ...]], SignalEvidence],
) -> SignalEvidence:
    """Evidence for one metric; metrics in the same blocks share all but their log-ratios, ``counted`` once."""
    key = (summary.cell, summary.environment, tuple(block.block for block in summary.blocks))
    if key not in counted:
        counted[key] = _of_blocks(list(_blocks(placed, summary)), summary)
    log_ratios = dict(zip(key[2], summary.log_ratios, strict=True))
    return replace(
        counted[key],
        metric=summary.metric,
        log_ratios=tuple(log_ratios[block.block] for block in counted[key].blocks),
    )


def _of_blocks(blocks: Sequence[_Block], summary: Summary) -> SignalEvidence:
    timeouts_s = (block.trials[2].trial.environment.rto_min_s for block in blocks)
    return SignalEvidence(
        cell=summary.cell,
        environment=summary.environment,
        metric=summary.metric,
        blocks=tuple(block.facts for block in blocks),
        log_ratios=(),
        signals=tuple(_signals(blocks)),
        missing=tuple(sorted(_missing(blocks).items())),
        retransmission_timeout_s=next(filter(None, timeouts_s), RETRANSMISSION_TIMEOUT_S),
    )


def _missing(blocks: Sequence[_Block]) -> dict[str, str]:
    return {name: why for block in blocks for name, why in block.trials[2].missing_signals.items()}


def _blocks(placed: Mapping[_Key, Outcome], summary: Summary) -> Iterator[_Block]:
    for value in summary.blocks:
        arms = ((NATIVE, 0), (NATIVE, 1), (summary.environment, 0))
        first, second, own = (placed.get((summary.cell, value.block, *arm)) for arm in arms)
        if first is None or second is None or own is None:
            continue
        early, late, other = map(run_facts, (first, second, own))
        if early is not None and late is not None and other is not None:
            facts = BlockFacts(
                block=value.block,
                native=(early, late),
                environment=other,
                lateness=own.trial.slot - (first.trial.slot + second.trial.slot) / 2,
            )
            yield _Block(facts, (first, second, own))


def run_facts(outcome: Outcome) -> RunFacts | None:
    """``None`` when its run time is unknown."""
    wall_s = _wall_s(outcome)
    if not usable(wall_s):
        return None
    return RunFacts(wall_s=wall_s, runnable_threads=_runnable_threads(outcome, wall_s))


def _wall_s(outcome: Outcome) -> float:
    """Wall time: iterations add up, instances run at once, and in a trial by turns only its own turns count."""
    if outcome.turns is not None and outcome.trial.turns is not None and outcome.turns.way is not Way.WHOLE:
        return outcome.turns.turns * outcome.trial.turns.slice_s
    walls_s: dict[int, float] = {}
    for run in outcome.instances:
        span_s = run.clocks.host_wall_s
        if outcome.clock_fault is not None and run.host_span_s is not None:
            span_s = run.host_span_s
        number = run.iteration or 0
        walls_s[number] = max(walls_s.get(number, 0.0), run.start_offset_s + span_s)
    return sum(walls_s.values())


def _runnable_threads(outcome: Outcome, wall_s: float) -> float:
    """(CPU time + time waited for a processor) / wall time, from 1 to the layout's processors.

    The processors replace it when the CPU time is unknown: they make every share smaller, never larger.
    """
    most = float(outcome.trial.layout.total_processors)
    if outcome.cpu_s is None:
        return most
    waits_s = [
        signal.value
        for signal in outcome.signals
        if signal.name in _WAITS and signal.scope is Scope.NODE and signal.value > 0
    ]
    return min(max((outcome.cpu_s + max(waits_s, default=0.0)) / wall_s, 1.0), most)


def _signals(blocks: Sequence[_Block]) -> Iterator[SignalSummary]:
    """Signals in the order in which the trials list them."""
    signal_blocks: dict[_Kind, list[SignalBlock]] = {}
    for block in blocks:
        first, second, own = (_by_kind(outcome.signals) for outcome in block.trials)
        for kind, value in own.items():
            earlier, later = first.get(kind), second.get(kind)
            if earlier is None or later is None:
                earlier, later = _natively(first, kind), _natively(second, kind)
            if earlier is not None and later is not None:
                own_block = SignalBlock(block=block.facts.block, native=(earlier, later), environment=value)
                signal_blocks.setdefault(kind, []).append(own_block)
    for (name, unit, scope, lost_time), values in signal_blocks.items():
        yield SignalSummary(name=name, unit=unit, scope=scope, lost_time=lost_time, blocks=tuple(values))


def _natively(signals: Mapping[_Kind, float], kind: _Kind) -> float | None:
    """The same signal of a native trial; native shares the host's network, whose counts include other traffic."""
    if (counted := signals.get(kind)) is not None:
        return counted
    name, unit, _, lost_time = kind
    others = (signals.get((name, unit, scope, lost_time)) for scope in Scope)
    without = 0.0 if name in _OF_OWN_LINKS else None
    return next((value for value in others if value is not None), without)


def _by_kind(signals: Sequence[Signal]) -> dict[_Kind, float]:
    return {(signal.name, signal.unit, signal.scope, signal.lost_time): signal.value for signal in signals}
