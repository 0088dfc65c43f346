# SPDX-License-Identifier: Apache-2.0
"""Families of claims of mixed truth: whether each word agrees with the interval that is printed beside it."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import numpy as np

from bench.simulation.intervals import points
from bench.simulation.scenarios import Arms, Floats
from bench.statistics.markdown import table
from bench.words.product import MARGIN, judged, shown
from bench.words.records import is_false, summary_of
from bench.words.rows import shares
from tare.analyze import courses
from tare.analyze.judgement import margins
from tare.records import Design, Family, Summary, Verdict, Word

ENVIRONMENTS, METRICS = 4, 7
EFFECTS = (0.0, 0.0, 0.0, 0.005, 0.02, -0.02, 0.05, 0.2)
DEVIATIONS = (0.003, 0.01, 0.03)
BLOCKS = (8, 10, 14, 16, 32)
LOOKS = (10, 16, 24, 32)
_EXPLORATORY = 3
"""Of the metrics, in a third of the campaigns."""
_MANY = 60_000
_ROUNDING = 1e-9


class Kind(StrEnum):
    """What is wrong between a word and the interval beside it."""

    OPPOSITE = "slower or faster beside an interval that touches 0 or lies on the other side"
    OUTSIDE = "within a margin beside an interval that is not inside it"
    EXCLUDES = "within a margin wider than the declared one beside an interval that excludes 0"
    WIDER = "a wider margin named than the narrowest that holds the interval"
    INSIDE = "slower, faster or at most beside an interval inside the declared margin"
    UNDECIDED = "undecided beside an interval that excludes 0 or lies inside ±10 %"
    BOUND = "at most x beside an interval with another upper end, or that excludes 0"


def contradictions(verdict: Verdict) -> Iterator[Kind]:
    """Of a verdict that is not withheld: its word against the interval that backs it."""
    interval = shown(verdict)
    low, high = interval.low, interval.high
    if low is None or high is None or verdict.withheld is not None:
        return
    excludes = low > 0 or high < 0
    holding = [margin for margin in margins(verdict.margin) if -margin < low and high < margin]
    narrowest = min(holding, default=math.inf)
    match verdict.word:
        case Word.SLOWER | Word.FASTER:
            if not (low > 0 if verdict.word is Word.SLOWER else high < 0):
                yield Kind.OPPOSITE
            if narrowest <= verdict.margin:
                yield Kind.INSIDE
        case Word.WITHIN:
            yield from _of_margin(verdict, narrowest, excludes=excludes, inside=verdict.within in holding)
        case Word.BOUNDED:
            if verdict.at_most is None or abs(verdict.at_most - high) > _ROUNDING or excludes:
                yield Kind.BOUND
            if narrowest <= verdict.margin:
                yield Kind.INSIDE
        case _:
            if excludes or holding:
                yield Kind.UNDECIDED


def _of_margin(verdict: Verdict, narrowest: float, *, excludes: bool, inside: bool) -> Iterator[Kind]:
    within = math.inf if verdict.within is None else verdict.within
    if not inside:
        yield Kind.OUTSIDE
    if within > verdict.margin and excludes:
        yield Kind.EXCLUDES
    if within > narrowest:
        yield Kind.WIDER


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """A family of claims with their truths."""

    noise: str
    summaries: tuple[Summary, ...]
    truths: tuple[float, ...]
    """Typical overheads, as fractions."""


@dataclass(slots=True)
class _Tally:
    campaigns: int = 0
    claims: int = 0
    false: int = 0
    contradicted: int = 0
    """Campaigns with at least one contradiction."""
    decided: int = 0
    half_widths: list[float] | None = None


_ALIKE = "metrics alike"
_SHARED = 0.9
"""Part of the variance that all metrics of a run have in common."""
NOISES = (
    "normal",
    "heavy tails",
    "spikes alike",
    "spikes in one arm",
    "three times in one arm",
    "AR 0.5 in one arm",
    _ALIKE,
)


def campaign_of(
    generator: np.random.Generator, blocks: int, environments: int = ENVIRONMENTS, metrics: int = METRICS
) -> Campaign:
    """Claims that share their natives, metric by metric, with noise of one kind."""
    noise = NOISES[generator.integers(len(NOISES))]
    exploratory = _EXPLORATORY if generator.random() < 1 / 3 else 0
    common = generator.normal(0.0, 1.0, (environments + 2, blocks))
    summaries, truths = [], []
    for metric in range(metrics):
        deviation = float(generator.choice(DEVIATIONS))
        arms = [_arm(generator, blocks, noise, own=place >= 2) for place in range(environments + 2)]  # noqa: PLR2004
        if noise == _ALIKE:
            arms = [
                math.sqrt(_SHARED) * same + math.sqrt(1 - _SHARED) * own
                for same, own in zip(common, arms, strict=True)
            ]
        for environment in range(environments):
            truth = float(generator.choice(EFFECTS))
            other = arms[2 + environment] - _centre(noise)
            summary = summary_of(
                [deviation * arm for arm in arms[:2]] + [deviation * other + math.log1p(truth)],
                f"arm{environment}",
                metric=f"metric{metric}",
                primary=metric < metrics - exploratory,
            )
            summaries.append(summary)
            truths.append(truth)
    return Campaign(noise=noise, summaries=tuple(summaries), truths=tuple(truths))


def _arm(generator: np.random.Generator, blocks: int, noise: str, *, own: bool) -> Floats:
    """In deviations of a run."""
    values = generator.normal(0.0, 1.0, blocks)
    if noise == "heavy tails":
        return np.asarray(generator.standard_t(3, blocks))
    if noise == "spikes alike" or (noise == "spikes in one arm" and own):
        return values + (generator.random(blocks) < 0.05) * generator.exponential(20.0, blocks)  # noqa: PLR2004
    if noise == "three times in one arm" and own:
        return 3.0 * values
    if noise == "AR 0.5 in one arm" and own:
        for block in range(1, blocks):
            values[block] = 0.5 * values[block - 1] + math.sqrt(0.75) * values[block]
    return values


@cache
def _centre(noise: str) -> float:
    """What the aligned ranks estimate where the noise alone is not alike and not symmetric."""
    if noise != "spikes in one arm":
        return 0.0
    generator = np.random.default_rng(99)
    return float(points(Arms(*(_arm(generator, _MANY, noise, own=arm == 2)[None] for arm in range(3))))[0])  # noqa: PLR2004


def judged_at(campaign: Campaign, looks: Sequence[int] = ()) -> tuple[Verdict, ...]:
    """The verdicts; with ``looks`` each arm stops where it may."""
    if not looks:
        return judged(campaign.summaries)
    arms = dict.fromkeys((summary.cell, summary.environment) for summary in campaign.summaries)
    design = Design(looks=tuple(looks), margin=MARGIN)
    return judged(
        campaign.summaries,
        courses(campaign.summaries, dict.fromkeys(arms, looks[-1]), design, ended=False),
    )


def table_of(campaigns: int, seed: int) -> str:
    """``campaigns`` in all, over the numbers of blocks and the noises; an eighth of those of 32 blocks have looks."""
    kinds: Counter[Kind] = Counter()
    tallies: dict[str, _Tally] = {}
    total = _Tally()
    for number in range(campaigns):
        generator = np.random.default_rng([seed, number])
        n = BLOCKS[number % len(BLOCKS)]
        looks = LOOKS if n == LOOKS[-1] and number % 8 == 0 else ()
        campaign = campaign_of(generator, n)
        said = judged_at(campaign, looks)
        names = (f"n = {n}{', with looks' if looks else ''}", campaign.noise)
        for tally in (total, *(tallies.setdefault(name, _Tally()) for name in names)):
            _add(tally, campaign, said)
        kinds.update(kind for verdict in said for kind in contradictions(verdict))
    rows = [_row(name, tallies[name]) for name in sorted(tallies, key=_order)]
    head = ["28 claims", "campaigns with a contradiction, %", "false primary words, % of campaigns"]
    by_kind = [[str(kind), f"{kinds[kind]}", shares([kinds[kind]], total.claims)] for kind in Kind]
    return "\n\n".join(
        (
            table([*head, "decided of 28", "median half-width"], [*rows, _row("all", total)]),
            table(["contradiction", f"of {total.claims} claims", "%"], by_kind),
        )
    )


def _order(name: str) -> tuple[bool, int, str]:
    digits = "".join(filter(str.isdigit, name.partition(",")[0])) if name.startswith("n = ") else ""
    return not digits, int(digits or 0), name


def _add(tally: _Tally, campaign: Campaign, said: Sequence[Verdict]) -> None:
    tally.campaigns += 1
    tally.claims += len(said)
    tally.false += any(
        is_false(verdict, truth)
        and verdict.standing is not None
        and verdict.standing.family is Family.PRIMARY
        for verdict, truth in zip(said, campaign.truths, strict=True)
    )
    tally.contradicted += any(True for verdict in said for _ in contradictions(verdict))
    tally.decided += sum(verdict.word is not Word.UNDECIDED for verdict in said)
    ends = [(shown(verdict).low, shown(verdict).high) for verdict in said]
    widths = [50 * (high - low) for low, high in ends if low is not None and high is not None]
    tally.half_widths = [*(tally.half_widths or []), *widths]


def _row(name: str, tally: _Tally) -> list[str]:
    return [
        name,
        shares([tally.contradicted], tally.campaigns),
        shares([tally.false], tally.campaigns),
        f"{ENVIRONMENTS * METRICS * tally.decided / tally.claims:.1f}",
        f"{np.median(tally.half_widths or [math.nan]):.2f} points",
    ]
