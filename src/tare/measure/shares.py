# SPDX-License-Identifier: Apache-2.0
"""A job's share of a campaign: its next undone block, within the time that the scheduler gave the job."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tare.errors import InputError
from tare.measure.session import Allowance
from tare.plan.budget import next_block_fits, short_duration
from tare.records import Outcome, Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one job may do."""

    ends_s: float | None = None
    """By ``time.monotonic``: when its last trial must have ended; ``None``: the job may take as long as it needs."""

    def of(self, allowance: Allowance, planned: Sequence[Trial], outcomes: Sequence[Outcome]) -> Allowance:
        """What is allowed within the job. ``outcomes`` grows as trials end."""
        within = _Within(self, allowance, planned, outcomes)
        return replace(allowance, may_begin=within.may_begin, remaining_s=within.remaining_s)


class _Within:
    """Decides before each trial."""

    def __init__(
        self, share: Share, allowance: Allowance, planned: Sequence[Trial], outcomes: Sequence[Outcome]
    ) -> None:
        self._share, self._allowance = share, allowance
        self._planned, self._outcomes = planned, outcomes
        self._block: int | None = None

    def remaining_s(self) -> float:
        left_s = self._left_s()
        remaining_s = self._allowance.remaining_s()
        return remaining_s if left_s is None else min(left_s, remaining_s)

    def may_begin(self, trial: Trial) -> bool:
        """Whether it is of the job's block, and ends before the job does. ``InputError`` if not even the first does."""
        if self._block not in {None, trial.block} or not self._allowance.may_begin(trial):
            return False
        left_s = self._left_s()
        if not next_block_fits(self._unit(trial), self._outcomes, left_s):
            if self._block is None and left_s is not None:
                raise InputError(
                    f"no trial fits into this job: {trial.identity} takes longer than the "
                    f"{short_duration(left_s)} that are left of it; give the jobs more time with --time"
                )
            return False
        self._block = trial.block
        return True

    def _left_s(self) -> float | None:
        return None if self._share.ends_s is None else max(0.0, self._share.ends_s - time.monotonic())

    def _unit(self, trial: Trial) -> list[Trial]:
        """The trial, or all that are left to take turns in its place: they begin and end together."""
        if trial.turns is None:
            return [trial]
        done = {outcome.trial.identity for outcome in self._outcomes}
        return [
            other
            for other in self._planned
            if other.turns is not None
            and (other.block, other.setting) == (trial.block, trial.setting)
            and other.identity not in done
            and self._allowance.is_wanted(other)
        ]
