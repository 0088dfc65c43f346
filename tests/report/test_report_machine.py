# SPDX-License-Identifier: Apache-2.0
import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tare.records import Word
from tare.report.machine import to_json
from tests.report.report_example import example, several_cells

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "json.md"
ESTIMATE = {"point", "low", "high", "level", "n", "unit"}
FREE_KEYS = {"host"}


def objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for key, inner in value.items():
            if key not in FREE_KEYS:
                yield from objects(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from objects(inner)


def test_the_object_is_plain_json_and_names_its_schema() -> None:
    document = to_json(several_cells())
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["schema"] == 1


def test_every_key_is_documented() -> None:
    documented = set(re.findall(r"`(\w+)`", DOCUMENTATION.read_text(encoding="utf-8")))
    keys = {key for each in objects(to_json(several_cells())) for key in each}
    assert keys
    assert keys <= documented


def test_every_figure_has_unit_count_and_interval() -> None:
    document = to_json(example())
    for verdict in document["verdicts"] + document["controls"]:
        for key in ("typical", "mean", "spike_rate", "native_spike_rate", "native_median", "noise_floor"):
            assert set(verdict[key]) == ESTIMATE
            assert verdict[key]["unit"]
            assert verdict[key]["n"] > 0


def test_each_verdict_and_each_value_of_its_blocks_is_there() -> None:
    analysis = example()
    document = to_json(analysis)["verdicts"]
    assert len(document) == len(analysis.verdicts)
    for ours, theirs in zip(analysis.verdicts, document, strict=True):
        assert theirs["sentence"] == ours.sentence
        assert theirs["typical"]["point"] == ours.overhead.typical.point
        assert [each["environment"] for each in theirs["blocks"]] == [
            block.environment for block in ours.overhead.summary.blocks
        ]


def test_why_a_claim_is_of_the_typical_run_alone_is_a_fact_of_its_own() -> None:
    analysis = example()
    for ours, theirs in zip(analysis.verdicts, to_json(analysis)["verdicts"], strict=True):
        assert ("typically" in ours.sentence) == (theirs["qualification"] is not None)
    slower = next(each for each in analysis.verdicts if each.word is Word.SLOWER)
    twice = replace(slower.overhead.mean, point=10.0, low=5.0, high=15.0)
    beyond = replace(slower, overhead=replace(slower.overhead, mean=twice))
    qualification = to_json(replace(analysis, verdicts=(beyond,)))["verdicts"][0]["qualification"]
    assert (qualification["mean"]["point"], qualification["mean"]["unit"]) == (10.0, "1")
    assert qualification["slow"] is None


def test_a_missing_interval_is_null_and_not_zero() -> None:
    document = to_json(example(blocks=4))["verdicts"][0]
    assert document["typical"]["low"] is None
    assert document["typical"]["high"] is None
    assert document["typical"]["n"] == 4


def test_a_number_that_is_none_becomes_null() -> None:
    analysis = example()
    overhead = replace(analysis.controls[0], native_median=math.nan, spike_rate=math.inf)
    document = to_json(replace(analysis, controls=(overhead,)))["controls"][0]
    assert document["native_median"]["point"] is None
    assert document["spike_rate"]["point"] is None


def test_each_control_has_its_p_value_among_all_of_them() -> None:
    analysis = example()
    document = [each["native_p"] for each in to_json(analysis)["controls"]]
    assert document == [each.native_p for each in analysis.controls]
    assert all(0 <= each <= 1 for each in document)


def test_losses_and_skips_keep_their_reasons() -> None:
    document = to_json(example())
    counts = {"planned": 70, "ok": 67, "failed": 2, "invalid": 1, "cut_by_budget": False, "spared": 0}
    assert document["trials"] == counts
    assert {each["status"] for each in document["lost"]} == {"failed", "invalid"}
    assert all(each["reason"] for each in document["lost"])
    podman = {"environment": "podman", "reason": "podman is not installed", "remedy": "apt install podman"}
    assert document["skipped"] == [podman | {"blocks": None}]


def test_outcomes_that_are_left_out_are_listed_by_their_trials() -> None:
    assert to_json(example())["repeated_trials"] == []
    document = to_json(replace(example(), repeated_trials=("b000-x", "b000-x")))
    assert document["repeated_trials"] == ["b000-x", "b000-x"]


def test_instances_are_told_apart_where_there_are_several() -> None:
    assert to_json(example())["instances"] == []
    document = to_json(several_cells())["instances"]
    assert {each["instance"] for each in document} == {0, 1}
    assert all(each["minimum"] <= each["median"]["point"] <= each["maximum"] for each in document)
