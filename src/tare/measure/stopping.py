# SPDX-License-Identifier: Apache-2.0
"""Which planned trials are still wanted: an arm stopped by a look skips all following blocks.

The planned order is a random permutation in which every order is equally likely, so all orders of the remaining arms
are equally likely too. They keep it, but for the first arm of whole runs, which is the one that really ended the last
cell (``tare.plan.succession``): the randomization is preserved.
"""

from collections.abc import Callable, Sequence

from tare.plan.definition import Campaign
from tare.records import NATIVE, Cell, Outcome, Stopped, Trial

Stopping = Callable[[Campaign, Sequence[Outcome], Sequence[Trial]], tuple[Stopped, ...]]
"""Judges the finished blocks; supplied by ``pipeline``, as measuring knows nothing about statistics.

The trials are the ones skipped for good because their environment was missing.
"""


def never(
    campaign: Campaign,  # noqa: ARG001 - a Stopping
    outcomes: Sequence[Outcome],  # noqa: ARG001 - a Stopping
    passed_over: Sequence[Trial],  # noqa: ARG001 - a Stopping
) -> tuple[Stopped, ...]:
    """Stop nothing: all blocks run."""
    return ()


class Wanted:
    """Decides before every trial whether it should run."""

    def __init__(
        self,
        campaign: Campaign,
        planned: Sequence[Trial],
        stopping: Stopping,
        outcomes: Sequence[Outcome],
        tell: Callable[[str, int], None],
        passed_over: Sequence[Trial] = (),
    ) -> None:
        """``outcomes`` grows as trials end; ``tell`` receives a sentence and the number of spared trials."""
        self._passed_over = passed_over
        self._campaign, self._planned, self._stopping = campaign, planned, stopping
        self._outcomes, self._tell = outcomes, tell
        self._left_at: dict[tuple[Cell, str], int] = {}
        self._block: int | None = None
        self._arms: dict[Cell, set[str]] = {}
        for trial in planned:
            if trial.environment.name != NATIVE:
                self._arms.setdefault(cell_of(trial), set()).add(trial.environment.name)

    def may_run(self, trial: Trial) -> bool:
        """Look if the trial begins a block, then answer."""
        if trial.block != self._block:
            self._block = trial.block
            if trial.block in self._campaign.looks:
                self.look()
        return self.wants(trial)

    def wants(self, trial: Trial) -> bool:
        """Answer by the last look: native stays as long as any environment of its cell does."""
        cell = cell_of(trial)
        native = trial.environment.name == NATIVE
        names = self._arms.get(cell, set()) if native else {trial.environment.name}
        return not names or any(
            trial.block < self._left_at.get((cell, name), trial.block + 1) for name in names
        )

    def look(self) -> None:
        """Judge the measurements so far, and announce each arm that has stopped since the last look."""
        for stopped in self._stopping(self._campaign, self._outcomes, self._passed_over):
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


def spared_trials(campaign: Campaign, usable: Sequence[Trial], stopped: tuple[Stopped, ...]) -> int:
    """Number of these trials that are not needed, given what has stopped."""
    wanted = Wanted(campaign, usable, lambda *_: stopped, (), lambda _words, _spared: None)
    wanted.look()
    return sum(not wanted.wants(trial) for trial in usable)


def environments_of(trial: Trial) -> set[str]:
    """The measured environment and the neighbour's."""
    return {trial.environment.name, *([trial.neighbour.environment.name] if trial.neighbour else [])}


def cell_of(trial: Trial) -> Cell:
    """The cell in which it is compared."""
    return Cell(workload=trial.workload.name, layout=trial.setting)
