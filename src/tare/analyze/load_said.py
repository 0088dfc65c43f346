# SPDX-License-Identifier: Apache-2.0
"""What is said of the load of others beside a claim: withheld, released, or one that the load alone could make."""

import math
from dataclasses import replace

from tare.analyze.busy import SENTENCE, blocks_said, left_out_said
from tare.analyze.differences import range_said
from tare.records import Direction, Estimate, Summary, Verdict, Word
from tare.records.busy import LoadEffect
from tare.treat.busy import only_busy

_BY_CHANCE = 0.01


def withheld_said(reasons: str, measured: Estimate, direction: Direction = Direction.LESS) -> str:
    """Such as "undecided: the machine was too busy (stress used ...); measured +12 to +99 %"."""
    known = f"; measured {range_said(measured, direction)}" if measured.low is not None else ""
    return f"{SENTENCE} ({reasons}){known}"


def even_if_said(verdict: Verdict) -> str:
    """Such as " even if all of the load (stress used ...) cost it alone", to follow a released difference."""
    overhead = verdict.overhead
    most = overhead.looks[-1].blocks if overhead.looks else None
    alone = "native" if verdict.word is Word.FASTER else "it"
    return f" even if all of the load ({blocks_said(overhead.summary, most)}) cost {alone} alone"


def effect_said(effect: LoadEffect) -> str:
    """Such as "a load of up to 0.15 of 2 processors alone could make 8 %"."""
    of = f"of {effect.processors} processor{'s' if effect.processors > 1 else ''}"
    most = f"{100 * effect.most:.{0 if effect.most >= 0.1 else 1}f} %"  # noqa: PLR2004 - two digits
    return f"a load of up to {effect.used:.2g} {of} alone could make {most}"


def short_said(verdict: Verdict) -> str:
    """A claim's condition in a few words, to follow its figure; empty without one."""
    if verdict.released:
        native = verdict.word is Word.FASTER
        return f" even if all of the load cost {'native' if native else 'it'} alone"
    return f", but {effect_said(verdict.load)}" if verdict.load else ""


def without_said(verdict: Verdict) -> str:
    """Such as " without 2 busy blocks", to follow the count; empty where none is left out."""
    count = len(_left_out(verdict).busy_blocks)
    return f" without {count} busy block{'s' if count > 1 else ''}" if count else ""


def _left_out(verdict: Verdict) -> Summary:
    """The summary with the blocks of the last look alone."""
    summary, looks = verdict.overhead.summary, verdict.overhead.looks
    until = looks[-1].blocks if looks else math.inf
    blocks, busy = (
        tuple(block for block in own if block.block < until) for own in (summary.blocks, summary.busy_blocks)
    )
    return replace(summary, blocks=blocks, busy_blocks=busy)


def follows_said(summary: Summary) -> str:
    """That the load came with the environment's own trials, which then may have caused it; else empty.

    Native's two trials meet a load of others at least as often as the environment's, unless this takes longer: half of
    the blocks in which one trial met it are assumed to be the environment's by chance.
    """
    blocks, own = only_busy(summary)
    if not blocks or _coin_share(blocks, own) > _BY_CHANCE:
        return ""
    return (
        f"in {own} of {blocks} blocks left out the host was busy during its trial alone: if the load was of its own "
        "making, leaving them out hides a cost"
    )


def _coin_share(count: int, least: int) -> float:
    """Chance of ``least`` or more heads in so many throws of a coin."""
    return sum(math.comb(count, heads) for heads in range(least, count + 1)) / (1 << count)


def blocks_left_out(verdict: Verdict) -> str:
    """Such as "2 busy blocks left out: stress used 1.0 of 2 processors in 2 of 10 blocks"; else empty."""
    summary = _left_out(verdict)
    count, said = len(summary.busy_blocks), left_out_said(summary)
    return f"{count} busy block{'s' if count > 1 else ''} left out: {said}" if said else ""
