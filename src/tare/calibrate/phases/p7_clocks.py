# SPDX-License-Identifier: Apache-2.0
"""P7: clocks in the nodes that go wrong on purpose, and many that do not."""

from collections.abc import Iterator, Sequence

from tare.calibrate.bench import WORK, PhaseSetting, Run, campaign
from tare.calibrate.evidence import Evidence
from tare.calibrate.gates import Named
from tare.calibrate.phases.phase import Phase
from tare.records import Environment, Gate, Outcome, Status, Workload

RUN = "clocks"
PLANTS = {
    "fast": ("fast 3%", "a clock that is 3 % fast"),
    "slow": ("slow 3%", "a clock that is 3 % slow"),
    "step": ("step 50ms", "a step of 50 ms"),
    "inverted": ("cpu 150%", "more CPU time than wall time"),
}
"""Environment → setting of the fake's clock, and the name of the fault."""
_CLEAN = "honest"
_RUN_S = "0.45"
"""The fake's clock steps 0.3 s after the start."""


def runs(setting: PhaseSetting) -> tuple[Run, ...]:
    """Every fault once in each block, and several honest clocks; the nodes are fakes, the clock watch is real."""
    plants = tuple(
        Environment(name=name, technology="fake", options={"clock": clock})
        for name, (clock, _) in PLANTS.items()
    )
    clean = tuple(
        Environment(name=f"{_CLEAN}-{number}", technology="fake", options={"clock": "honest"})
        for number in range(1, setting.size.clean_clocks + 1)
    )
    workload = Workload(name=WORK, kind="command", options={"argv": ["sleep", _RUN_S]})
    asked = campaign(RUN, workload, setting.size.clock_blocks, (*plants, *clean))
    return (Run(name=RUN, campaign=asked),)


def judge(evidence: Evidence) -> tuple[Gate, ...]:
    """Check that all faults are found and no honest clock is accused."""
    return tuple(_gates(evidence.outcomes(RUN)))


def _gates(outcomes: Sequence[Outcome]) -> Iterator[Gate]:
    for name, (_, words) in PLANTS.items():
        own = [outcome for outcome in outcomes if outcome.trial.environment.name == name]
        missed = sum(not accused(outcome) for outcome in own)
        yield _all_or_none(Named("P7", name, f"{words} stays unnoticed"), missed, len(own))
    clean = [outcome for outcome in outcomes if outcome.trial.environment.name not in PLANTS]
    wrong = sum(accused(outcome) for outcome in clean)
    yield _all_or_none(Named("P7", "clean", "an honest clock is accused"), wrong, len(clean))


def _all_or_none(named: Named, count: int, of: int) -> Gate:
    return named.counted(count, of, 0, " runs") if of else named.not_run("no run was made")


def accused(outcome: Outcome) -> bool:
    """Whether this trial's clocks were found to be wrong."""
    return bool(outcome.clock_fault or outcome.timer_inversions) or outcome.status is Status.INVALID


CLOCKS = Phase(name="P7", title="wrong clocks", runs=runs, judge=judge)
