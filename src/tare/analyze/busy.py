# SPDX-License-Identifier: Apache-2.0
"""When a machine was too busy for a claim: by the load of others, and by native against native.

docs/method.md gives the rules, their reasons, and how often they withhold a true claim.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from tare.records import (
    BlockValue,
    Busyness,
    Estimate,
    HostLoad,
    Outcome,
    Session,
    Summary,
    Verdict,
    Word,
    is_without_load,
)
from tare.treat.busy import block_loads

MOST_BUSY = 0.25
"""Share of the blocks that a verdict rests on: fewer than 29 % of its values cannot move a Hodges-Lehmann estimate
without limit, so beyond this the busy blocks alone may decide."""
MOST_STOLEN = 0.5
"""Part of the processors: beyond it nothing can be concluded, even with turns."""
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
    own = [block for block in summary.blocks if most is None or block.block < most]
    net = summary.primary and is_without_load(summary.metric)
    return loads_said([load for block in own if (load := _disturbing(block, net=net))], len(own))


def _disturbing(block: BlockValue, *, net: bool) -> HostLoad | None:
    """The block's load, without processor time that a hypervisor took from all arms equally during turns.

    That time comes and goes within tenths of a second, so the slices of a round share it, and nobody on this host can
    end it. A metric that is ``net`` of other programs' time does not contain it. The rest of both shows in native
    against native.
    """
    load = block.load
    if load is None or block.rounds is None or load.steal > MOST_STOLEN * load.processors:
        return load
    return replace(load, steal=0.0, foreign=0.0 if net else load.foreign)


def loads_said(loads: Iterable[HostLoad], blocks: int) -> str | None:
    """``blocks_said`` for one load per block that has one, of ``blocks`` blocks in total."""
    busy = [load for load in loads if load.busy]
    if not blocks or len(busy) <= MOST_BUSY * blocks:
        return None
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


def drowns_equivalence(control: Estimate, margin: float) -> bool:
    """Whether even native could not be shown to lie within the margin; ``control`` at 90 %."""
    return OF_A_PAIR * _half_width(control) > math.log1p(margin)


def _half_width(control: Estimate) -> float:
    """Half-width of the logarithm's interval; 0 without an interval, which withholds nothing."""
    if control.low is None or control.high is None:
        return 0.0
    return (math.log1p(control.high) - math.log1p(control.low)) / 2


def control_said(control: Estimate) -> str:
    extent = 100 * max(abs(control.low or 0.0), abs(control.high or 0.0))
    return f"native against itself differs by up to {_PLUS_MINUS}{extent:.{0 if extent >= 10 else 1}f} %"  # noqa: PLR2004


def busyness(
    outcomes: Sequence[Outcome], sessions: Sequence[Session], verdicts: Sequence[Verdict]
) -> Busyness | None:
    """Statement on the host over the whole result; ``None`` where it was quiet and nothing was withheld."""
    loads = block_loads(outcomes)
    busy = [load for load in loads.values() if load.busy]
    decided = any(
        verdict.word is not Word.UNDECIDED for verdict in verdicts if verdict.overhead.summary.primary
    )
    sentence = _whole(loads, busy, decided=decided) or _before(sessions, measured=bool(loads))
    if not sentence:
        return None
    return Busyness(blocks=len(loads), busy=len(busy), programs=names(busy), sentence=sentence)


def _whole(loads: Mapping[int, HostLoad], busy: Collection[HostLoad], *, decided: bool) -> str:
    if not loads or not busy:
        return ""
    much = len(busy) > MOST_BUSY * len(loads)
    whom = f": {_taken(list(busy))}"
    where = f"in {len(busy)} of {len(loads)} block{'s' if len(loads) > 1 else ''}"
    if decided or not much:
        return f"The machine was busy {where}{whom}"
    return f"The machine was too busy {where}{whom}; nothing could be decided; stop it or wait, then run this again"


def _before(sessions: Sequence[Session], *, measured: bool) -> str:
    """Load seen by the check before the start, which may see what trials of a few ticks cannot."""
    busy = [session.load for session in sessions if session.load is not None and session.load.busy]
    if not busy:
        return ""
    end = "the trials show nothing of it" if measured else "nothing was measured to its end"
    return f"The machine was busy before the start: {_taken(busy)}; {end}"
