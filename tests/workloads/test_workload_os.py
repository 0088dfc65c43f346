# SPDX-License-Identifier: Apache-2.0
"""The operations of an operating system: the usual two, any others by name, and the points of their curves."""

import re
from dataclasses import replace

import pytest
from pydantic import ValidationError
from tests.workloads.recorded import SHAPE, recorded

from tare.errors import WrongOutput
from tare.records import Workload
from tare.workloads import primary_metrics
from tare.workloads.kind import Options, Output
from tare.workloads.operations import OS, OsOptions

SWITCHES = {"pieces": ["context-switch"], "ring": [96, 2], "working_set": ["64 KiB", "0 B"]}


def options(**chosen: object) -> Options:
    return OS.options_model.model_validate(chosen)


def everything() -> Output:
    return recorded("os", "everything")


def names(**chosen: object) -> list[str]:
    return [piece.name for piece in OS.pieces(options(**chosen))]


def test_the_usual_operations_are_two_and_all_are_taken_by_one_word() -> None:
    assert names() == ["system-calls", "process-start"]
    assert set(names(pieces="all")) == {
        name for piece in OsOptions.known for name in names(pieces=[piece.name])
    }
    assert len(names(pieces="all")) == 32


def test_a_context_switch_is_a_point_for_each_ring_and_working_set() -> None:
    assert names(**SWITCHES) == [
        "context-switch:2:0",
        "context-switch:2:65536",
        "context-switch:96:0",
        "context-switch:96:65536",
    ]
    last = OS.pieces(options(**SWITCHES))[-1]
    assert [(at.name, at.value, at.unit) for at in last.coordinates] == [
        ("ring", 96, None),
        ("working_set", 65536, "B"),
    ]
    assert names(pieces=["file-delete"]) == ["file-delete:0", "file-delete:10240"]


def test_a_kept_campaign_reads_its_points_again() -> None:
    kept = options(**SWITCHES).model_dump(mode="json", exclude_none=True)
    assert kept["ring"] == ["96", "2"]
    assert OS.pieces(options(**kept)) == OS.pieces(options(**SWITCHES))


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"ring": [2]}, 'add pieces = \\["context-switch"\\]'),
        ({"pieces": ["pipe"], "working_set": ["0 B"]}, 'add pieces = \\["context-switch"\\]'),
        ({**SWITCHES, "ring": [2, 2]}, "stands there twice"),
        ({**SWITCHES, "ring": [97]}, "97 processes is not from 1 to 96"),
        ({**SWITCHES, "ring": [True]}, "valid string"),
        ({**SWITCHES, "ring": ["-1"]}, "match pattern"),
        ({**SWITCHES, "ring": [2, "02"]}, "stands there twice"),
        ({**SWITCHES, "ring": [0]}, "0 processes is not from 1 to 96"),
        ({**SWITCHES, "working_set": ["65 KiB"]}, "no multiple of 4 B up to 64 KiB"),
        ({**SWITCHES, "working_set": ["6 B"]}, "no multiple of 4 B up to 64 KiB"),
        ({**SWITCHES, "working_set": ["much"]}, "is not a size"),
        ({"pieces": ["vfork"]}, "there is no piece 'vfork'"),
        ({"pieces": []}, "at least 1 item"),
    ],
)
def test_points_that_cannot_be_are_refused(chosen: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        options(**chosen)


def test_every_operation_of_a_recorded_run_gives_the_time_of_its_unit() -> None:
    samples = OS.samples(options(pieces="all"), everything())
    assert {sample.name for sample in samples} == {piece.metric for piece in OsOptions.known}
    assert all(sample.unit == "s" and sample.value > 0 for sample in samples)
    switches = {sample.coordinates: sample.value for sample in samples if sample.name == "context switch"}
    assert len(switches) == 9


def test_a_curve_is_judged_by_the_mean_of_its_points_and_an_operation_without_one_by_itself() -> None:
    wanted = {"pieces": ["pipe", "context-switch", "file-create"]}
    workload = Workload(name="os", kind="os", options=wanted)
    assert primary_metrics(workload) == (
        "pipe round trip",
        "context switch, all points",
        "file creation, all points",
    )
    assert [(each.metric, dict(each.bounds)) for each in OS.ranges(options(**wanted))] == [
        ("context switch", {"ring": (None, None), "working_set": (None, None)}),
        ("file creation", {"size": (None, None)}),
    ]


def test_a_run_that_a_refusal_ended_is_cut() -> None:
    refused = recorded("os", "refused")
    assert "gave no huge pages" in refused.stderr
    with pytest.raises(WrongOutput, match="cut"):
        OS.samples(options(pieces=["page-fault", "huge-page-fault"]), refused)


def test_a_point_that_was_not_asked_for_is_wrong_output() -> None:
    text, made = re.subn(
        r"^context-switch:2:0 ", "context-switch:3:0 ", everything().stdout, flags=re.MULTILINE
    )
    assert made
    with pytest.raises(WrongOutput, match="was not asked for"):
        OS.samples(options(pieces="all"), replace(everything(), stdout=text))


def test_the_program_is_asked_for_points_by_numbers_behind_names() -> None:
    argv = OS.job(options(**SWITCHES), SHAPE).argv
    assert argv[:4] == ("/opt/tare/bin/slices", "--rounds", "15", "--once")
    assert argv[4:6] == ("context-switch:2:0", "30000")
    assert argv[-2:] == ("context-switch:96:65536", "15000")
