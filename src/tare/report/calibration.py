# SPDX-License-Identifier: Apache-2.0
"""A calibration in words, as a table for a terminal, and as JSON; and how a report cites one."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from tare.drawing.table import ruled_table
from tare.drawing.words import moment
from tare.records import Calibration, Gate, Passing
from tare.report.shape import ByName, JsonShape, Versioned, key

NONE = "not calibrated on this host with this version: `tare calibrate` shows whether known overheads are detected here"
_STYLE = {
    Passing.PASSED: "green",
    Passing.FAILED: "bold red",
    Passing.NOTED: "dim",
    Passing.NOT_RUN: "yellow",
}
_FALSE_POSITIVES = ("P1", "false positives, native again")
_COVERAGE = ("P1", "coverage, plus-5")


def citation(calibration: Calibration | None) -> str:
    """Such as "calibrated on this host on 2026-03-01: 2/60 false positives, 58/60 covered"."""
    if calibration is None:
        return NONE
    when = f"on this host on {calibration.ended_utc[:10]}"
    if not calibration.passed:
        failed = [f"{gate.phase} {gate.name}" for gate in calibration.gates if gate.passing is Passing.FAILED]
        what = f"failed {'; '.join(failed)}" if failed else "was not completed"
        return f"the calibration {when} {what}"
    quick = "" if calibration.size == "full" else f" ({calibration.size})"
    said = f"calibrated {when}{quick}: {', '.join(_figures(calibration))}"
    skipped = sorted({gate.phase for gate in calibration.gates if gate.passing is Passing.NOT_RUN})
    return f"{said}; not judged in full: {', '.join(skipped)}" if skipped else said


def _figures(calibration: Calibration) -> Iterator[str]:
    wrong, missed = calibration.gate(*_FALSE_POSITIVES), calibration.gate(*_COVERAGE)
    if wrong is not None and wrong.count is not None:
        yield f"{wrong.count}/{wrong.of} false positives"
    if missed is not None and missed.count is not None and missed.of is not None:
        yield f"{missed.of - missed.count}/{missed.of} covered"


def table(gates: tuple[Gate, ...], console: Console) -> None:
    """One row for each gate: what has to hold, what was seen, and how much is forgiven."""
    printed = ruled_table()
    printed.add_column("phase", no_wrap=True)
    printed.add_column("what is looked at", ratio=3, overflow="fold")
    printed.add_column("seen", ratio=3, overflow="fold")
    printed.add_column("allowed", justify="right", no_wrap=True)
    printed.add_column("", no_wrap=True)
    for gate in gates:
        allowed = "" if gate.allowed is None else f"≤ {gate.allowed}"
        passing = Text(gate.passing, style=_STYLE[gate.passing])
        printed.add_row(gate.phase, Text(gate.claim), Text(gate.seen), allowed, passing)
    console.print(printed)


def ending(calibration: Calibration) -> str:
    """The last line: whether it passed, and what did not."""
    failed = [gate for gate in calibration.gates if gate.passing is Passing.FAILED]
    skipped = [gate for gate in calibration.gates if gate.passing is Passing.NOT_RUN]
    judged = [gate for gate in calibration.gates if gate.passing in {Passing.PASSED, Passing.FAILED}]
    said = f"{len(judged) - len(failed)} of {len(judged)} gates passed"
    if skipped:
        said += f", {len(skipped)} could not be judged here"
    if calibration.repeated:
        said += f"; run twice and judged together: {', '.join(calibration.repeated)}"
    if not calibration.complete:
        return f"not complete: {said}"
    word = "passed" if calibration.passed else "FAILED"
    return f"calibration {word}: {said} ({calibration.size}, {calibration.estimator}, {moment(calibration.ended_utc)})"


class GateShape(JsonShape):
    """One claim about Tare, and what was seen."""

    phase: str = key("the phase, `P0` to `P8`")
    name: str = key("unique in its phase")
    claim: str = key("the requirement, in words")
    passing: ByName[Passing] = key("the outcome; noted: recorded without a requirement")
    seen: str = key("the figures, with their units and counts, or why there are none")
    count: int | None = key("how often something happened; `null`: the gate is not about a count")
    of: int | None = key("out of how many")
    allowed: int | None = key("the largest count that passes")


class CalibrationShape(JsonShape):
    """A calibration ([calibration.md](calibration.md) explains the gates)."""

    passed: bool = key("whether all judged gates passed")
    complete: bool = key("whether all phases were judged")
    size: str = key('how much was run: `"full"` or `"quick"`')
    estimator: str = key('what was calibrated: `"aligned-ranks"`, or the name of a broken one that must fail')
    started_utc: str = key("when it began")
    ended_utc: str = key("when it ended")
    tare_version: str = key("the version that measured it")
    image_digest: str = key("digest of the image that it ran")
    host_identity: str = key("a digest that identifies the host without revealing anything about it")
    host: dict[str, str] = key("the host's facts: label \N{RIGHTWARDS ARROW} text")
    measured: dict[str, float] = key(
        "figures of the host on which the phases relied: `fixed_share_...` (the share of a run that is no work), "
        "`noise_...` (standard deviation of the logarithms of runs), `pressure` and `steal` (shares of the time before "
        "P6)"
    )
    repeated: list[str] = key("phases that were run twice and judged together")
    gates: list[GateShape] = key("one object for each gate")


class PrintedCalibration(CalibrationShape, Versioned):
    """The object that `tare calibrate --json` prints."""
