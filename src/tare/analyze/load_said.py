# SPDX-License-Identifier: Apache-2.0
"""What is said of the load of others beside a claim: withheld, released, or one that the load alone could make."""

import math

from tare.analyze.busy import SENTENCE, left_out_said
from tare.analyze.sentence import signed_range
from tare.records import Estimate, Summary, Verdict, Word
from tare.records.busy import LoadEffect
from tare.treat.busy import only_busy
from tare.units import DASH, TIMES_FROM, percent_decimals, percent_digits

_BY_CHANCE = 0.01


def withheld_said(reasons: str, measured: Estimate) -> str:
    """Such as "undecided: the machine was too busy (stress used ...); measured +12 to +99 %"."""
    if measured.low is None or measured.high is None:
        return f"{SENTENCE} ({reasons})"
    return f"{SENTENCE} ({reasons}); measured {signed_range(measured.low, measured.high)}"


def released_said(word: Word, shown: Estimate, busy: str) -> str:
    """Such as "slower by 62-111 % even if all of the load (stress used ...) cost it alone (n = 10)"."""
    alone = "native" if word is Word.FASTER else "it"
    return f"{_difference(word, shown)} even if all of the load ({busy}) cost {alone} alone (n = {shown.n})"


def _difference(word: Word, shown: Estimate) -> str:
    low, high = shown.low or 0.0, shown.high or 0.0
    if low >= TIMES_FROM:
        return f"{word.value}: {1 + low:.0f}{DASH}{1 + high:.0f} times native's time"
    near, far = sorted((abs(low), abs(high)))
    decimals = percent_decimals(far - near)
    return f"{word.value} by {percent_digits(near, decimals)}{DASH}{percent_digits(far, decimals)} %"


def effect_said(effect: LoadEffect) -> str:
    """Such as "the load of 0.15 of 2 processors alone could make 8 %"."""
    of = f"of {effect.processors} processor{'s' if effect.processors > 1 else ''}"
    most = f"{100 * effect.most:.{0 if effect.most >= 0.1 else 1}f} %"  # noqa: PLR2004 - two digits
    return f"the load of {effect.used:.2f} {of} alone could make {most}"


def short_said(verdict: Verdict) -> str:
    """A claim's condition in a few words, to follow its figure; empty without one."""
    if verdict.released:
        native = verdict.word is Word.FASTER
        return f" even if all of the load cost {'native' if native else 'it'} alone"
    return f", but {effect_said(verdict.load)}" if verdict.load else ""


def counted_said(verdict: Verdict) -> str:
    """The claim with the busy blocks that are left out, in the brackets with its count."""
    most = verdict.overhead.looks[-1].blocks if verdict.overhead.looks else None
    left_out = sum(most is None or block.block < most for block in verdict.overhead.summary.busy_blocks)
    count = f"(n = {verdict.overhead.typical.n}"
    blocks = f"{left_out} busy block{'s' if left_out > 1 else ''}"
    return verdict.claim.replace(count, f"{count} without {blocks}", 1) if left_out else verdict.claim


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
    count = len(verdict.overhead.summary.busy_blocks)
    said = left_out_said(verdict.overhead.summary)
    return f"{count} busy block{'s' if count > 1 else ''} left out: {said}" if said else ""
