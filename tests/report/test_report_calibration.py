# SPDX-License-Identifier: Apache-2.0
"""How a calibration is told and cited."""

import io
import json
from dataclasses import replace

from rich.console import Console

from tare.records import Calibration
from tare.report import calibration as report
from tare.report import shape
from tare.report.calibration import NONE, citation, ending
from tests.calibrate.example import CALIBRATION, FAILED, SKIPPED


def with_gate(*gates: object) -> Calibration:
    return replace(CALIBRATION, gates=(*CALIBRATION.gates, *gates))  # type: ignore[arg-type]


def test_a_passed_calibration_is_cited_with_its_counts() -> None:
    assert citation(CALIBRATION) == (
        "calibrated on this host on 2026-03-01: 2/60 false positives, 58/60 covered"
    )
    quick = citation(replace(CALIBRATION, size="quick"))
    assert quick.startswith("calibrated on this host on 2026-03-01 (quick): ")


def test_what_could_not_be_judged_is_cited_too() -> None:
    assert citation(with_gate(SKIPPED)).endswith("58/60 covered; not judged in full: P6")


def test_a_calibration_that_failed_is_never_cited_as_passed() -> None:
    assert citation(with_gate(FAILED)) == "the calibration on this host on 2026-03-01 failed P7 step"
    partly = replace(CALIBRATION, complete=False)
    assert citation(partly) == "the calibration on this host on 2026-03-01 was not completed"


def test_that_there_is_none_is_said() -> None:
    assert citation(None) == NONE


def test_the_table_has_every_gate_with_its_count_and_limit() -> None:
    stream = io.StringIO()
    report.table(with_gate(FAILED, SKIPPED).gates, Console(file=stream, width=100, highlight=False))
    text = " ".join(stream.getvalue().split())
    assert "2 of 60 ≤ 7 passed" in text
    assert "1 of 20 runs ≤ 0 failed" in text
    assert "not attributable: pressure was" in text
    assert text.endswith("not run") or "not run" in text


def test_the_last_line_says_whether_it_passed() -> None:
    assert ending(CALIBRATION).startswith("calibration passed: 2 of 2 gates passed (full, aligned-ranks,")
    assert ending(with_gate(FAILED)).startswith("calibration FAILED: 2 of 3 gates passed")
    assert "1 could not be judged here" in ending(with_gate(SKIPPED))
    assert ending(replace(CALIBRATION, complete=False)).startswith("not complete: ")
    again = ending(replace(CALIBRATION, repeated=("P1", "P2")))
    assert "run twice and judged together: P1, P2" in again


def test_the_json_holds_every_gate_and_no_nan() -> None:
    document = json.loads(
        json.dumps(shape.printed(report.PrintedCalibration, with_gate(FAILED)), allow_nan=False)
    )
    assert document["passed"] is False
    assert [gate["passing"] for gate in document["gates"]] == ["passed", "passed", "failed"]
    assert document["gates"][0]["count"] == 2
