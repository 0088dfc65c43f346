# SPDX-License-Identifier: Apache-2.0
"""docs/json.md and docs/json.schema.json are what the program prints."""

import json
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from tests.calibrate.example import CALIBRATION
from tests.golden.printed import JSON, names, recorded
from tests.hostile.targets_imports import OUTPUTS
from tests.report.report_example import FIGURES, example

from scripts import describe_json
from tare.analyze import compare_imported, compare_results, replications
from tare.analyze.history import history as history_of
from tare.imports.files import read_source
from tare.imports.series import arranged
from tare.records import FailIf, Integrity, Treatment
from tare.report import across_results, calibration, history, replication, shape
from tare.report.imported import imported_json


@cache
def validator(of: str) -> Draft202012Validator:
    schema = json.loads((describe_json.DOCS / "json.schema.json").read_text(encoding="utf-8"))
    del schema["anyOf"]
    return Draft202012Validator(schema | {"$ref": f"#/$defs/{of}"})


def faults(of: str, document: object) -> list[str]:
    return [f"{fault.json_path}: {fault.message[:200]}" for fault in validator(of).iter_errors(document)]


def result(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(recorded(name)[JSON])
    return document


def test_both_files_are_as_the_program_makes_them() -> None:
    assert (describe_json.DOCS / "json.md").read_text(encoding="utf-8") == describe_json.page()
    assert (describe_json.DOCS / "json.schema.json").read_text(encoding="utf-8") == describe_json.schema()


def test_the_schema_is_one_by_the_standard() -> None:
    Draft202012Validator.check_schema(json.loads(describe_json.schema()))


@pytest.mark.parametrize("name", names())
def test_every_recorded_result_satisfies_the_schema(name: str) -> None:
    assert faults("PrintedResult", result(name)) == []


def test_the_other_printed_objects_satisfy_theirs() -> None:
    treated = replications([verdict.overhead for verdict in example().verdicts], Treatment.B17)
    document = replication.json(treated, Treatment.B17, Integrity())
    assert document["replications"]
    assert faults("PrintedReplications", document) == []
    assert faults("PrintedCalibration", shape.printed(calibration.PrintedCalibration, CALIBRATION)) == []
    results = [
        replace(example(blocks=blocks, figures=FIGURES[-2:]), result=f"of-{blocks}") for blocks in (8, 10)
    ]
    compared = across_results.comparison_json(compare_results(results))
    assert compared["changes"]
    assert faults("PrintedComparison", compared) == []
    condition = FailIf(text="overhead worse by 2%", threshold=0.02)
    dated = history.history_json(history_of(results, [condition]))
    assert dated["regressions"]
    assert faults("PrintedHistory", dated) == []
    read = arranged([read_source(OUTPUTS / "imports" / "phoronix" / "composite.xml")])
    imports = imported_json(compare_imported(read))
    assert imports["differences"]
    assert faults("PrintedImports", imports) == []
    keys = ("schema", "campaign", "explanations", "suspicions", "attributions", "interventions")
    assert faults("PrintedExplanations", {key: result("cause_found")[key] for key in keys}) == []


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda document: document.pop("margin"), "$"),
        (lambda document: document["verdicts"][0].update(word="slow"), "$.verdicts[0].word"),
        (
            lambda document: document["verdicts"][0]["typical"].update(point="0.05"),
            "$.verdicts[0].typical.point",
        ),
        (lambda document: document["sessions"][0].update(seed=0.5), "$.sessions[0].seed"),
    ],
)
def test_what_breaks_the_promise_is_refused(change: Any, place: str) -> None:
    document = deepcopy(result("cause_found"))
    change(document)
    assert [fault.split(": ")[0] for fault in faults("PrintedResult", document)] == [place]


def test_a_key_that_a_later_version_adds_is_no_fault() -> None:
    assert faults("PrintedResult", result("cause_found") | {"new": 1}) == []
