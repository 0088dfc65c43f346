# SPDX-License-Identifier: Apache-2.0
"""When a machine was too busy for a claim: by the load of others, and by native against native.

docs/method.md gives the rules, their reasons, and how often they withhold a true claim.
"""

import math
from collections.abc import Collection, Iterable, Sequence

from tare.records import (
    Busyness,
    Estimate,
    HostLoad,
    Outcome,
    Session,
    Summary,
    Verdict,
    Withheld,
    Word,
)
from tare.records.busy import BusyBlocks
from tare.treat.busy import block_loads, busy_loads
from tare.units import percent_ends

OF_A_PAIR = math.sqrt(3) / 2
"""Native against native has the variance 2 s^2, an overhead 1.5 s^2: this factor converts between the widths."""
_MOST_NAMED = 3
_WORTH_A_NAME = 0.1
_PLUS_MINUS = "\N{PLUS-MINUS SIGN}"
SENTENCE = "undecided: the machine was too busy"


def blocks_said(summary: Summary, most: int | None = None) -> str | None:
    """For example "stress used 1.0 of 2 processors in 8 of 10 blocks"; ``None`` where enough blocks were quiet.

    ``most``: only blocks with smaller numbers count.
    """
    blocks = sum(most is None or block.block < most for block in summary.blocks)
    busy = busy_loads(summary, most)
    return _in_blocks(busy, blocks) if busy else None


def too_few_left_said(busy: BusyBlocks, blocks: int) -> str | None:
    """The same for ``blocks`` blocks that count, ``busy`` or not."""
    return None if busy.left_out or not busy.loads else _in_blocks(busy.loads, blocks)


def left_out_said(summary: Summary) -> str | None:
    """For example "stress used 1.0 of 2 processors in 2 of 10 blocks" of those left out; ``None``: there are none."""
    loads = [block.busiest for block in summary.busy_blocks if block.busiest is not None]
    return _in_blocks(loads, len(summary.blocks) + len(summary.busy_blocks)) if loads else None


def _in_blocks(busy: Sequence[HostLoad], blocks: int) -> str:
    return f"{_taken(busy)} in {len(busy)} of {blocks} block{'s' if blocks > 1 else ''}"


def _taken(busy: Sequence[HostLoad]) -> str:
    """Who took how much, on average over the busy blocks."""
    foreign, steal, throttled = (
        math.fsum(values) / len(busy)
        for values in zip(*((load.foreign, load.steal, load.throttled) for load in busy), strict=True)
    )
    count = max(load.processors for load in busy)
    processors = f"of {count} processor{'s' if count > 1 else ''}"
    if throttled > max(foreign, steal) / count:
        return f"a CPU quota held Tare itself back {100 * throttled:.0f} % of the time"
    if steal > foreign:
        return f"a hypervisor below took {steal:.1f} {processors}"
    return f"{listed(names(busy)) or 'others'} used {foreign:.1f} {processors}"


def names(busy: Iterable[HostLoad]) -> tuple[str, ...]:
    """Names of the programs that used most, over all these loads; at least a tenth of the total."""
    spent: dict[str, float] = {}
    for load in busy:
        for busy_program in load.others:
            spent[busy_program.name] = spent.get(busy_program.name, 0.0) + busy_program.processors
    least = _WORTH_A_NAME * math.fsum(spent.values())
    worth_it = [name for name in sorted(spent, key=lambda name: -spent[name]) if spent[name] >= least]
    return tuple(worth_it[:_MOST_NAMED])


def listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def drowns(estimate: Estimate, control: Estimate, threshold: float = 0.0) -> bool:
    """Whether the interval of native against itself is wider than the distance from ``estimate`` to ``threshold``.

    All are fractions; ``control`` is the control's interval at the level of the claim.
    """
    return abs(math.log1p(estimate.point) - math.log1p(threshold)) <= OF_A_PAIR * _half_width(control)


def _half_width(control: Estimate) -> float:
    """Half-width of the logarithm's interval; 0 without an interval, which withholds nothing."""
    if control.low is None or control.high is None:
        return 0.0
    return (math.log1p(control.high) - math.log1p(control.low)) / 2


def control_said(control: Estimate) -> str:
    extent = max(abs(control.low or 0.0), abs(control.high or 0.0))
    return f"native against itself differs by up to {_PLUS_MINUS}{percent_ends(0.0, extent)[1]} %"


def busyness(
    outcomes: Sequence[Outcome], sessions: Sequence[Session], verdicts: Sequence[Verdict]
) -> Busyness | None:
    """Statement on the host over the whole result; ``None`` where it was quiet and nothing was withheld."""
    loads = block_loads(outcomes)
    busy = [load for load in loads.values() if load.busy]
    sentence = _whole(len(loads), busy, verdicts) or _before(sessions, measured=bool(loads))
    if not sentence:
        return None
    return Busyness(blocks=len(loads), busy=len(busy), programs=names(busy), sentence=sentence)


def _whole(blocks: int, busy: Collection[HostLoad], verdicts: Sequence[Verdict]) -> str:
    if not busy:
        return ""
    primary = [verdict for verdict in verdicts if verdict.overhead.summary.primary]
    where = f"in {len(busy)} of {blocks} block{'s' if blocks > 1 else ''}: {_taken(list(busy))}"
    decided = any(verdict.word is not Word.UNDECIDED for verdict in primary)
    if not decided and any(verdict.withheld is Withheld.BUSY for verdict in primary):
        return f"The machine was too busy {where}; nothing could be decided; stop it or wait, then run this again"
    left_out = any(verdict.overhead.summary.busy_blocks for verdict in verdicts)
    return f"The machine was busy {where}{'; verdicts leave such blocks out' if left_out else ''}"


def _before(sessions: Sequence[Session], *, measured: bool) -> str:
    """Load seen by the check before the start, which may see what trials of a few ticks cannot."""
    busy = [session.load for session in sessions if session.load is not None and session.load.busy]
    if not busy:
        return ""
    end = "the trials show nothing of it" if measured else "nothing was measured to its end"
    return f"The machine was busy before the start: {_taken(busy)}; {end}"
