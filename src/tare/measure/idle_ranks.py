# SPDX-License-Identifier: Apache-2.0
"""Whether waiting MPI processes yield their processor: decided for each block, equally for all its arms.

On a quiet host MPI runs as installed, and spins: yielding costs a system call each time, which a seccomp filter or a
sandbox makes expensive. Where others use the processors, a spinning process takes them from the one it waits for.
"""

from collections.abc import Mapping, Sequence

from tare.records import Outcome
from tare.workloads.kind import Job

FACT = "waiting MPI processes"
YIELD, SPIN = "yield their processor: it is shared", "spin, as installed"
_SETTING = "mpi_yield_when_idle"


class IdleRanks:
    """Decides by the host's load in the previous block, and for the first block by the look before the start."""

    def __init__(self, outcomes: Sequence[Outcome] = (), *, busy: bool = False) -> None:
        """``outcomes`` grows as trials end; ``busy``: the result of the look before the start of this session."""
        self._outcomes, self._begun, self._busy = outcomes, len(outcomes), busy
        self._decided: dict[int, bool] = {}

    def yield_in(self, block: int) -> bool:
        """The same answer for all trials of a block, including a block that an earlier session began."""
        if block not in self._decided:
            self._decided[block] = self._as_begun(block, busy=self._busy_before(block))
        return self._decided[block]

    def _as_begun(self, block: int, *, busy: bool) -> bool:
        """As the block began; oversubscribed layouts always yield, so a spinning trial is the better evidence."""
        facts = {outcome.facts.get(FACT) for outcome in self._outcomes if outcome.trial.block == block}
        if SPIN in facts:
            return False
        return busy or YIELD in facts

    def _busy_before(self, block: int) -> bool:
        """Whether the last block of this session was busy, whatever its number."""
        earlier = [outcome for outcome in self._outcomes[self._begun :] if outcome.trial.block != block]
        if not earlier:
            return self._busy
        last = [outcome for outcome in earlier if outcome.trial.block == earlier[-1].trial.block]
        return any(outcome.load is not None and outcome.load.busy for outcome in last)


def idle_ranks_fact(job: Job) -> Mapping[str, str]:
    """The command's setting as a fact; empty without MPI."""
    by_site = next((word for word in job.argv if word.startswith(f"OMPI_MCA_{_SETTING}=")), None)
    if by_site is not None:
        value = by_site.partition("=")[2]
    elif _SETTING in job.argv:
        value = job.argv[job.argv.index(_SETTING) + 1]
    else:
        return {}
    return {FACT: YIELD if value == "1" else SPIN}
