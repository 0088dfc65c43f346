# SPDX-License-Identifier: Apache-2.0
"""Which planned trials are still wanted: an arm that a look has stopped leaves all blocks that follow.

The arms that stay keep their planned order. The planned order is a random permutation in which every order is
equally likely, and so are then all orders of the arms that are left: the randomization stands.
"""

from collections.abc import Callable, Sequence

from tare.plan.campaign import Campaign
from tare.plan.trials import plan_trials
from tare.records import NATIVE, Cell, Outcome, Skipped, Stopped, Trial

Stopping = Callable[[Campaign, Sequence[Outcome]], tuple[Stopped, ...]]
"""Judges the blocks that are over; it comes from ``pipeline``, as measuring knows nothing of statistics."""


def never(campaign: Campaign, outcomes: Sequence[Outcome]) -> tuple[Stopped, ...]:  # noqa: ARG001 - a Stopping
    """Stop nothing: all blocks are run."""
    return ()


class Wanted:
    """Asked before every trial whether it is to run."""

    def __init__(
        self,
        campaign: Campaign,
        planned: Sequence[Trial],
        stopping: Stopping,
        outcomes: Sequence[Outcome],
        tell: Callable[[str, int], None],
    ) -> None:
        """``outcomes`` grows as trials end; ``tell`` takes a sentence and how many trials it spares."""
        self._campaign, self._planned, self._stopping = campaign, planned, stopping
        self._outcomes, self._tell = outcomes, tell
        self._left_at: dict[tuple[Cell, str], int] = {}
        self._block: int | None = None
        self._arms: dict[Cell, set[str]] = {}
        for trial in planned:
            if trial.environment.name != NATIVE:
                self._arms.setdefault(_cell(trial), set()).add(trial.environment.name)

    def may_run(self, trial: Trial) -> bool:
        """Look when the trial begins a block, then answer."""
        if trial.block != self._block:
            self._block = trial.block
            if trial.block in self._campaign.looks:
                self.look()
        return self.wants(trial)

    def wants(self, trial: Trial) -> bool:
        """Answer by the last look: native stays as long as any environment of its cell."""
        cell = _cell(trial)
        native = trial.environment.name == NATIVE
        names = self._arms.get(cell, set()) if native else {trial.environment.name}
        return not names or any(
            trial.block < self._left_at.get((cell, name), trial.block + 1) for name in names
        )

    def look(self) -> None:
        """Judge what has been measured, and tell of each arm that has stopped since the last look."""
        for stopped in self._stopping(self._campaign, self._outcomes):
            arm = (stopped.cell, stopped.environment)
            if arm not in self._left_at:
                before = self._count()
                self._left_at[arm] = stopped.blocks
                self._tell(self._words(stopped), before - self._count())

    def _count(self) -> int:
        return sum(map(self.wants, self._planned))

    def _words(self, stopped: Stopped) -> str:
        where = f" ({stopped.cell.workload} on {stopped.cell.layout})" if len(self._arms) > 1 else ""
        return f"{stopped.environment}{where} stopped at block {stopped.blocks}: {stopped.stop}"


def spared_trials(campaign: Campaign, skipped: Sequence[Skipped], stopped: tuple[Stopped, ...]) -> int:
    """How many trials of the plan are not needed for what has stopped."""
    if not stopped:
        return 0
    absent = {one.environment for one in skipped}
    trials = plan_trials(campaign, campaign.seed or 0)
    planned = [trial for trial in trials if not absent & environments_of(trial)]
    wanted = Wanted(campaign, planned, lambda _campaign, _outcomes: stopped, (), lambda _words, _spared: None)
    wanted.look()
    return sum(not wanted.wants(trial) for trial in planned)


def environments_of(trial: Trial) -> set[str]:
    """The one that is measured, and the neighbour's."""
    return {trial.environment.name, *([trial.neighbour.environment.name] if trial.neighbour else [])}


def _cell(trial: Trial) -> Cell:
    return Cell(workload=trial.workload.name, layout=trial.setting)
