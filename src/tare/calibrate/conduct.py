# SPDX-License-Identifier: Apache-2.0
"""A calibration from the first phase to the last: run missing campaigns, judge, repeat failed stages once."""

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from tare import __version__
from tare.calibrate.bench import Bench, PhaseSetting, Run, campaign
from tare.calibrate.evidence import Evidence
from tare.calibrate.judged import DEFAULT, ESTIMATORS
from tare.calibrate.phases import STAGES, p0_noise, p6_quota
from tare.calibrate.phases.phase import Phase
from tare.calibrate.sizes import Size
from tare.errors import HostError
from tare.host.facts import host_identity
from tare.host.own_files import read_plain
from tare.journal.reader import read_journal
from tare.journal.result import ResultFolder
from tare.journal.whole import write_whole
from tare.measure.campaign import Audience, Request, measure_campaign
from tare.records import Calibration, Gate, Outcome, Passing, Session, Status

_LENGTH = "length"
_FIRST_ITERATIONS = 20_000_000
_LENGTH_BLOCKS = 4
_AGAIN = "-again"
_MEASURED = "measured.json"


class Teller(Audience, Protocol):
    """Audience of a calibration and of each of its runs."""

    def phase(self, phases: Sequence[Phase], again: bool) -> None:
        """Receive the phases whose runs begin."""
        ...

    def judged(self, gates: Sequence[Gate]) -> None:
        """Receive the gates of a stage, after any repeat."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationRequest:
    """The estimator to calibrate, the thoroughness, and the folder for the journals."""

    size: Size
    folder: Path
    bench: Bench = field(default_factory=Bench)
    estimator: str = DEFAULT
    image_name: str = "default"
    stages: tuple[tuple[Phase, ...], ...] = STAGES


class Conductor:
    """Runs the stages; its findings so far are available at any time."""

    def __init__(self, asked: CalibrationRequest, teller: Teller) -> None:
        self._asked, self._teller = asked, teller
        self._rounds: dict[str, tuple[tuple[Outcome, ...], ...]] = {}
        self._measured: dict[str, float] = {}
        self._obstacles: dict[str, str] = {}
        self._gates: list[Gate] = []
        self._repeated: list[str] = []
        self._session: Session | None = None
        self._started_utc = _now()
        self._complete = False

    def run(self) -> Calibration:
        """Run all stages; raises what ``measure_campaign`` raises, and leaves journals from which it can continue."""
        iterations = self._length()
        setting = PhaseSetting(bench=self._asked.bench, size=self._asked.size, iterations=iterations)
        for stage in self._asked.stages:
            self._stage(stage, setting)
        self._complete = True
        return self.found()

    def found(self) -> Calibration:
        """The findings so far."""
        host = self._session.host if self._session else {}
        return Calibration(
            started_utc=self._started_utc,
            ended_utc=_now(),
            tare_version=__version__,
            image_digest=self._session.image_digest if self._session else "",
            host_identity=host_identity(host),
            host=host,
            size=self._asked.size.name,
            estimator=self._asked.estimator,
            gates=tuple(self._gates),
            repeated=tuple(self._repeated),
            complete=self._complete,
            folder=self._asked.folder.name,
            measured=dict(self._measured),
        )

    def _stage(self, stage: tuple[Phase, ...], setting: PhaseSetting) -> None:
        first = self._perform(stage, setting, again=False)
        gates = self._judge(stage)
        if first and self._asked.estimator == DEFAULT and _failed(gates):
            self._perform(stage, setting, again=True)
            gates = self._judge(stage)
            self._repeated += [phase.name for phase in stage]
        self._gates += gates
        self._teller.judged(gates)

    def _perform(self, stage: tuple[Phase, ...], setting: PhaseSetting, *, again: bool) -> bool:
        """Make the runs of a stage; return whether there were any."""
        runs = [run for phase in stage for run in phase.runs(setting)]
        for phase in stage:
            if why := phase.obstacle():
                self._obstacles[phase.name] = why
        if not runs or any(phase.name in self._obstacles for phase in stage):
            return False
        self._teller.phase(stage, again)
        self._look_at_host(stage)
        for run in runs:
            outcomes = self._outcomes(run, f"{run.name}{_AGAIN if again else ''}")
            self._rounds[run.name] = (*self._rounds.get(run.name, ()), outcomes)
        if any(phase is p0_noise.NOISE for phase in stage):
            self._measured |= p0_noise.measured(self._evidence())
        return True

    def _look_at_host(self, stage: tuple[Phase, ...]) -> None:
        """Measure how idle the host is just before the quotas; kept for later judgements."""
        if not any(phase is p6_quota.QUOTA_PHASE for phase in stage):
            return
        kept = self._asked.folder / _MEASURED
        try:
            measured = {str(name): float(value) for name, value in json.loads(read_plain(kept)).items()}
        except (OSError, ValueError, AttributeError):
            measured = dict(p6_quota.measured())
            write_whole(kept, json.dumps(measured))
        self._measured |= measured

    def _judge(self, stage: tuple[Phase, ...]) -> list[Gate]:
        evidence = self._evidence()
        return [gate for phase in stage for gate in phase.judge(evidence)]

    def _evidence(self) -> Evidence:
        return Evidence(
            size=self._asked.size,
            estimator=ESTIMATORS[self._asked.estimator],
            headline=self._asked.bench.headline,
            rounds=self._rounds,
            measured=self._measured,
            obstacles=self._obstacles,
        )

    def _outcomes(self, run: Run, name: str) -> tuple[Outcome, ...]:
        """Outcomes of the run, after running its missing trials."""
        folder = ResultFolder(self._asked.folder / name)
        journal = read_journal(folder.journal)
        providers = self._asked.bench.providers(run.drift, run.starts_before + len(journal.outcomes))
        measure_campaign(
            Request(
                campaign=run.campaign,
                folder=folder,
                image_name=self._asked.image_name,
                providers=providers,
            ),
            self._teller,
        )
        completed = read_journal(folder.journal)
        self._session = completed.sessions[-1]
        return completed.outcomes

    def _length(self) -> int:
        """Number of iterations that fill the intended length of a run."""
        asked = self._asked
        if not asked.bench.real:
            return 1
        workload = asked.bench.work(_FIRST_ITERATIONS)
        run = Run(name=_LENGTH, campaign=campaign(_LENGTH, workload, _LENGTH_BLOCKS))
        return iterations_for(asked.size.run_s, self._outcomes(run, _LENGTH))


def iterations_for(run_s: float, outcomes: Sequence[Outcome]) -> int:
    """Iterations for ``run_s``, from the CPU time of the first ones, or their wall time where CPU time is not counted.

    Rounded to two digits. ``HostError`` when no run ended well.
    """
    ended = [outcome for outcome in outcomes if outcome.status is Status.OK]
    if not ended:
        reason = next((outcome.reason for outcome in outcomes if outcome.reason), "nothing was run")
        raise HostError(f"no run of native ended well: {reason}; see `tare doctor`")
    took_s = statistics.median(_took_s(outcome) for outcome in ended)
    wanted = _FIRST_ITERATIONS * run_s / took_s
    return int(float(f"{wanted:.2g}"))


def _took_s(outcome: Outcome) -> float:
    return outcome.cpu_s or outcome.instances[0].clocks.wall_s


def _failed(gates: Sequence[Gate]) -> bool:
    return any(gate.passing is Passing.FAILED for gate in gates)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
