# SPDX-License-Identifier: Apache-2.0
"""How far a result is, by its journal: what another run of it would measure."""

from dataclasses import dataclass

from tare.journal.large import read_result
from tare.journal.result import ResultFolder
from tare.measure.joining import plan_now
from tare.measure.kept import kept_campaign
from tare.measure.more import added_blocks
from tare.measure.stopping import Stopping, Wanted
from tare.plan.definition import extended
from tare.records import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultProgress:
    """The trials that are wanted, and those of them that ran."""

    outcomes: tuple[Outcome, ...]
    measured_trials: int
    left_trials: int
    left_blocks: int
    """Blocks with a trial left to run."""
    blocks: int
    """All blocks with a wanted trial."""

    @property
    def trials(self) -> int:
        """All that are wanted, run or left."""
        return self.measured_trials + self.left_trials


def standing(folder: ResultFolder, stopping: Stopping) -> ResultProgress:
    """Read it from a result that was begun; an environment that the last session skipped is not waited for."""
    campaign, journal = kept_campaign(folder), read_result(folder)
    campaign = extended(campaign, added_blocks(campaign, journal))
    absent = {skipped.environment for session in journal.sessions[-1:] for skipped in session.skipped}
    now = plan_now(campaign, journal, absent)
    wanted = Wanted(
        campaign, now.usable, stopping, journal.outcomes, lambda _words, _spared: None, now.passed_over
    )
    wanted.look()
    asked = [trial for trial in now.trials if wanted.wants(trial)]
    left = [trial for trial in asked if trial.identity not in journal.done]
    return ResultProgress(
        outcomes=journal.outcomes,
        measured_trials=len(journal.outcomes),
        left_trials=len(left),
        left_blocks=len({trial.block for trial in left}),
        blocks=len({trial.block for trial in asked}),
    )
