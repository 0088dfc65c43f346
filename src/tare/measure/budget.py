# SPDX-License-Identifier: Apache-2.0
"""The remaining time of a campaign's budget, and what may still begin in it."""

import math
import time
from collections.abc import Callable, Sequence

from tare.measure.session import Allowance
from tare.plan.budget import next_block_fits
from tare.plan.campaign import Campaign
from tare.records import Outcome, Trial


class Budget:
    """The remaining time over all sessions of the result: the trials' own time, and this session's clock."""

    def __init__(self, campaign: Campaign, planned: Sequence[Trial], outcomes: Sequence[Outcome]) -> None:
        """``outcomes`` grows as trials end."""
        self.outcomes = outcomes
        self.is_wanted: Callable[[Trial], bool] = lambda _: True
        spent_s = sum(outcome.elapsed_s for outcome in outcomes)
        self._left_s = None if campaign.budget_s is None else campaign.budget_s - spent_s
        self._begun = time.monotonic()
        self._planned = planned
        self._allowed_block: int | None = None

    def remaining(self) -> float | None:
        return None if self._left_s is None else max(0.0, self._left_s - (time.monotonic() - self._begun))

    def allowance(self) -> Allowance:
        return Allowance(may_begin=self._may_begin, remaining_s=self._remaining_or_endless)

    def _remaining_or_endless(self) -> float:
        remaining = self.remaining()
        return math.inf if remaining is None else remaining

    def _may_begin(self, trial: Trial) -> bool:
        """Judge a whole block at its beginning, and within it only whether any time is left."""
        remaining = self.remaining()
        if trial.block != self._allowed_block:
            done = {outcome.trial.identity for outcome in self.outcomes}
            block = (
                planned
                for planned in self._planned
                if planned.block == trial.block and self.is_wanted(planned)
            )
            rest = [trial for trial in block if trial.identity not in done]
            if not next_block_fits(rest, self.outcomes, remaining):
                return False
            self._allowed_block = trial.block
        return remaining is None or remaining > 0
