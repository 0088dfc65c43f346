# SPDX-License-Identifier: Apache-2.0
"""``tare calibrate``: plant known truths on this host, and check that Tare finds them."""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tare.calibrate.conduct import CalibrationRequest, Conductor
from tare.calibrate.judged import DEFAULT, ESTIMATORS
from tare.calibrate.phases.phase import Phase
from tare.calibrate.sizes import FULL, QUICK
from tare.commands.audience import Progress
from tare.commands.console import PlainConsole
from tare.commands.images_made import image_to_use
from tare.commands.run import new_folder
from tare.errors import ExitCode, InputError
from tare.foreign import one_line
from tare.host.paths import calibrations_directory
from tare.journal.calibrations import keep_calibration, write_calibration
from tare.plan.budget import BudgetPlan
from tare.plan.problems import nearest
from tare.records import Calibration, Gate, Outcome, Passing, Status
from tare.report import calibration as report
from tare.report.shape import printed

_LINE_EVERY_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrateOptions:
    """Options from the command line."""

    quick: bool
    output: Path | None
    estimator: str
    image_name: str
    as_json: bool


def run_calibrate(options: CalibrateOptions) -> ExitCode:
    """Calibrate, print the table, keep the artefact; exit code 1 when a gate failed."""
    if options.estimator not in ESTIMATORS:
        raise InputError(
            f"--estimator: {options.estimator!r} is none of {', '.join(ESTIMATORS)}"
            f"{nearest(options.estimator, ESTIMATORS)}"
        )
    folder = options.output or new_folder("calibration")
    asked = CalibrationRequest(
        size=QUICK if options.quick else FULL,
        folder=folder,
        estimator=options.estimator,
        image_name=image_to_use(options.image_name),
    )
    return conduct(asked, as_json=options.as_json)


def conduct(asked: CalibrationRequest, *, as_json: bool) -> ExitCode:
    """Run the calibration with live progress; an interrupt ends it with the results so far."""
    teller = CalibrationProgress()
    conductor = Conductor(asked, teller)
    try:
        calibration = conductor.run()
    except KeyboardInterrupt:
        teller.finish()
        _show(conductor.found(), as_json=as_json)
        print(f"interrupted; continue with: {_again(asked)}", file=sys.stderr)
        return ExitCode.INTERRUPTED
    teller.finish()
    _show(calibration, as_json=as_json)
    _keep(calibration, asked)
    return ExitCode.DONE if calibration.passed else ExitCode.FELL_SHORT


def _again(asked: CalibrationRequest) -> str:
    quick = " --quick" if asked.size is QUICK else ""
    return f"tare calibrate{quick} --output {asked.folder}"


def _show(calibration: Calibration, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(printed(report.PrintedCalibration, calibration), indent=2, allow_nan=False))
        return
    report.table(calibration.gates, PlainConsole())
    print(f"\n{report.ending(calibration)}")


def _keep(calibration: Calibration, asked: CalibrationRequest) -> None:
    """Keep it beside the journals, and where reports look for it if it is about the shipped estimator."""
    write_calibration(asked.folder / f"calibration-{calibration.estimator}.json", calibration)
    if calibration.estimator != DEFAULT:
        print("a broken estimator was calibrated: no report will cite this", file=sys.stderr)
        return
    kept = keep_calibration(calibrations_directory(), calibration)
    print(f"kept: {kept}; reports of this host cite it from now on", file=sys.stderr)


class CalibrationProgress(Progress):
    """Progress phase by phase: a self-updating line on a terminal, an occasional line elsewhere."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self._next_line = 0.0

    def plans(self, plan: BudgetPlan) -> None:
        self._left, self._ended, self._expected_s = plan.left_trials, 0, plan.expected_s
        self._begun = time.monotonic()

    def phase(self, phases: Sequence[Phase], again: bool) -> None:
        repeated = ", again: a gate failed, and both runs decide together" if again else ""
        self.says(f"{'; '.join(f'{phase.name} {phase.title}' for phase in phases)}{repeated}")

    def judged(self, gates: Sequence[Gate]) -> None:
        for gate in gates:
            allowed = "" if gate.allowed is None else f" (at most {gate.allowed})"
            mark = {Passing.PASSED: "+", Passing.FAILED: "!"}.get(gate.passing, " ")
            self.says(f"  {mark} {gate.passing}: {gate.claim}: {gate.seen}{allowed}")

    def ended(self, outcome: Outcome) -> None:
        self._ended += 1
        if outcome.status is Status.FAILED:
            self.says(f"{outcome.trial.identity} {outcome.status}: {one_line(str(outcome.reason))}")
        elif not self._terminal and time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + _LINE_EVERY_S
            self.says(f"[{self._ended}/{self._left}] {outcome.trial.identity}{self._remaining()}")
