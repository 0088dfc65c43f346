# SPDX-License-Identifier: Apache-2.0
"""A calibration in words, as a table for a terminal, and as JSON; and how a report cites one."""

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.text import Text

from tare.drawing.table import ruled_table
from tare.drawing.words import moment
from tare.records import Calibration, Gate, Passing

NONE = "not calibrated on this host with this version: `tare calibrate` shows whether known truths are found here"
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


def json(calibration: Calibration) -> dict[str, Any]:
    """What ``tare calibrate --json`` prints, and the JSON of a result that cites the calibration."""
    return {
        "passed": calibration.passed,
        "complete": calibration.complete,
        "size": calibration.size,
        "estimator": calibration.estimator,
        "started_utc": calibration.started_utc,
        "ended_utc": calibration.ended_utc,
        "tare_version": calibration.tare_version,
        "image_digest": calibration.image_digest,
        "host_identity": calibration.host_identity,
        "host": dict(calibration.host),
        "measured": dict(calibration.measured),
        "repeated": list(calibration.repeated),
        "gates": [
            {
                "phase": gate.phase,
                "name": gate.name,
                "claim": gate.claim,
                "passing": gate.passing.name.lower(),
                "seen": gate.seen,
                "count": gate.count,
                "of": gate.of,
                "allowed": gate.allowed,
            }
            for gate in calibration.gates
        ],
    }
