# SPDX-License-Identifier: Apache-2.0
"""How much of a campaign fits into its time budget, in figures and in words."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tare.plan.definition import Campaign
from tare.plan.durations import next_block_fits, total_s, trial_durations_s
from tare.records import Outcome, Trial
from tare.statistics.blocks import LEAST_BLOCKS, fewest_blocks
from tare.units import format_duration
from tare.workloads import KINDS, primary_metrics
from tare.workloads.kind import WorkloadKind

ERROR = 0.05
_NOISE_LEVELS = (0.01, 0.03, 0.1)
_Z_95 = 1.96
__all__ = ["BudgetPlan", "fits", "next_block_fits"]


def least_blocks(claims: int) -> int:
    """Blocks below which no difference can be shown, however large, as each interval misses in 5 % / ``claims``.

    6 for one claim, 7 for 25, 8 for 128.
    """
    return fewest_blocks(ERROR / max(1, claims))


def half_width(blocks: int, variation: float) -> float | None:
    """Half-width of the 95 % interval, as a fraction; ``variation`` is the runs' coefficient of variation CV.

    Solves n = (z √2 CV / h)² + 2 for h; ``None`` below 6 blocks, which give no 95 % interval.
    """
    return None if blocks < LEAST_BLOCKS else _Z_95 * math.sqrt(2) * variation / math.sqrt(blocks - 2)


def blocks_for(width: float, variation: float) -> int:
    """Blocks for a half-width of ``width``: n = (z √2 CV / h)² + 2, at least 6."""
    return max(LEAST_BLOCKS, math.ceil((_Z_95 * math.sqrt(2) * variation / width) ** 2 + 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """What a number of blocks can decide at one level of noise."""

    variation: float
    """Coefficient of variation of the runs, as a fraction."""
    half_width: float | None
    """Half-width of the 95 % interval, as a fraction; ``None`` below 6 blocks."""
    blocks_for_margin: int
    """Blocks for a half-width as small as the margin."""


def precisions(blocks: int, margin: float) -> tuple[Precision, ...]:
    """Judge quiet, usual and noisy machines."""
    return tuple(
        Precision(
            variation=level, half_width=half_width(blocks, level), blocks_for_margin=blocks_for(margin, level)
        )
        for level in _NOISE_LEVELS
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetPlan:
    """What is left to run, how long it takes, and how much of it fits."""

    planned_trials: int
    left_trials: int
    left_blocks: int
    """Blocks with a trial left to run."""
    expected_s: float | None
    """Time for the rest; ``None``: the run time of a workload is unknown."""
    budget_s: float | None
    fitting_blocks: int | None
    """How many of ``left_blocks`` fit; ``None`` when the time is unknown."""
    first_block_s: float | None
    unknown: tuple[str, ...]
    """Workloads of unknown run time."""
    complete_blocks: int
    """Blocks without a trial left to run."""
    margin: float
    looks: tuple[int, ...] = ()
    claims: int = 1
    """Environments times the primary metrics of all cells, which are judged together."""
    losses: int = 0
    """Losses of sharing experiments by primary metrics, native's too, which are judged together."""

    @property
    def final_blocks(self) -> int:
        """Number of blocks in the end, as far as known."""
        fitting = self.left_blocks if self.fitting_blocks is None else self.fitting_blocks
        return self.complete_blocks + fitting

    @property
    def sentence(self) -> str:
        """Such as "60 trials in 10 blocks, about 6 min 20 s; the budget of 10 min holds them all"."""
        if not self.left_trials:
            return f"all {self.planned_trials} trials are done"
        trials = f"{self.planned_trials} trials"
        if self.left_trials < self.planned_trials:
            trials = f"{self.left_trials} of {trials}"
        time = "" if self.expected_s is None else f", about {short_duration(self.expected_s)}"
        most = " at most" if len(self.looks) > 1 else ""
        budget = self._budget_words()
        return f"{trials} in {_blocks(self.left_blocks)}{most}{time}{'; ' if budget else ''}{budget}"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should know before the start."""
        if self.left_blocks and self.fitting_blocks == 0 and self.budget_s is not None:
            return (f"not even one block fits: {self._shortage(self.budget_s)}; raise it",)
        if self.final_blocks < LEAST_BLOCKS:
            cut = self.fitting_blocks not in (None, self.left_blocks)
            remedy = "raise the budget" if cut else "ask for more blocks"
            few = "1 block gives" if self.final_blocks == 1 else f"{self.final_blocks} blocks give"
            return (f"{few} no 95 % interval, which takes {LEAST_BLOCKS}: {remedy}",)
        return self._too_few_for_all_claims()

    def _too_few_for_all_claims(self) -> tuple[str, ...]:
        needs = (
            (least_blocks(self.claims), "difference", f"{self.claims} primary claims"),
            (_least_blocks_of_losses(self.losses), "loss", f"{self.losses} losses by primary metrics"),
        )
        return tuple(
            f"{self.final_blocks} blocks can show no {what} when all {claims} are judged together, which takes {least}"
            for least, what, claims in needs
            if self.final_blocks < least
        )

    @property
    def precision(self) -> tuple[Precision, ...]:
        """What the sample size can and cannot decide."""
        return precisions(self.final_blocks, self.margin)

    def _shortage(self, budget_s: float) -> str:
        if budget_s <= 0:
            return "the budget is used up"
        need = "" if self.first_block_s is None else f"it takes about {short_duration(self.first_block_s)}, "
        return f"{need}the budget is {short_duration(budget_s)}"

    def _budget_words(self) -> str:
        if self.unknown:
            names = " and ".join(f"'{name}'" for name in self.unknown)
            words = f"the run time of {names} is unknown: the first block will tell"
            kept = None if self.budget_s is None else f"the budget of {short_duration(self.budget_s)} is kept"
            return f"{words}, and {kept}" if kept else words
        if self.budget_s is None:
            return ""
        if self.budget_s <= 0:
            return "the budget is used up"
        if self.fitting_blocks == self.left_blocks:
            return f"the budget of {short_duration(self.budget_s)} holds them all"
        held = f"about {self.fitting_blocks} of {_blocks(self.left_blocks)}"
        rest = "the rest will be left out as whole blocks"
        return f"the budget of {short_duration(self.budget_s)} holds {held}; {rest}"


def fits(
    campaign: Campaign,
    trials: Sequence[Trial],
    outcomes: Sequence[Outcome] = (),
    budget_s: float | None = None,
    kinds: Mapping[str, WorkloadKind] = KINDS,
    first_runs: Sequence[Outcome] = (),
) -> BudgetPlan:
    """Judge the ``trials`` that ``outcomes`` leave; ``budget_s`` is the time for that rest.

    ``first_runs``: native runs before the first trial, which say how long a workload takes.
    """
    done = {outcome.trial.identity for outcome in outcomes}
    left = [trial for trial in trials if trial.identity not in done]
    durations_s = trial_durations_s(left, outcomes, statistics.median, kinds, first_runs)
    blocks: dict[int, list[float | None]] = {}
    for trial, duration_s in zip(left, durations_s, strict=True):
        blocks.setdefault(trial.block, []).append(duration_s)
    block_durations_s = [total_s(block) for block in blocks.values()]
    unknown = {trial.workload.name for trial, time in zip(left, durations_s, strict=True) if time is None}
    return BudgetPlan(
        planned_trials=len(trials),
        left_trials=len(left),
        left_blocks=len(blocks),
        expected_s=total_s(durations_s),
        budget_s=budget_s,
        fitting_blocks=_fitting(block_durations_s, budget_s),
        first_block_s=block_durations_s[0] if block_durations_s else None,
        unknown=tuple(sorted(unknown)),
        complete_blocks=len({trial.block for trial in trials}) - len(blocks),
        margin=campaign.margin,
        looks=campaign.looks,
        claims=len(campaign.environments)
        * sum(len(primary_metrics(workload, kinds)) for workload, _ in campaign.cells),
        losses=(len(campaign.environments) + 1) * len(campaign.shared_cells),
    )


def _least_blocks_of_losses(count: int) -> int:
    """Signed ranks reach 2 / 2^n in n blocks, at most 5 % / ``count`` (docs/method.md)."""
    return max(LEAST_BLOCKS, math.ceil(1 + math.log2(max(1, count) / ERROR)))


def _fitting(block_durations_s: Sequence[float | None], budget_s: float | None) -> int | None:
    """How many leading blocks end within the budget."""
    needed_s = 0.0
    for count, duration_s in enumerate(block_durations_s):
        if duration_s is None:
            return None
        needed_s += duration_s
        if budget_s is not None and needed_s > budget_s:
            return count
    return len(block_durations_s)


def short_duration(duration_s: float) -> str:
    """``format_duration`` without a trailing zero part: ``"10 min"``."""
    return format_duration(duration_s).removesuffix(" 0 s").removesuffix(" 0 min")


def _blocks(count: int) -> str:
    return f"{count} block{'' if count == 1 else 's'}"
