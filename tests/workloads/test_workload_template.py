# SPDX-License-Identifier: Apache-2.0
"""The template of docs/add-a-workload.md is a whole workload that keeps the contract."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.contract.workload_contract import check_broken, check_expected, check_job, check_recording
from tests.workloads.recorded import SHAPE

from tare.workloads.kind import Options, Output, WorkloadKind

PAGE = (Path(__file__).parents[2] / "docs" / "add-a-workload.md").read_text()


def block(language: str) -> str:
    (value,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(value)


@pytest.fixture
def kind() -> WorkloadKind:
    names: dict[str, Any] = {"__name__": "template"}
    exec(compile(block("python"), "add-a-workload.md", "exec"), names)  # noqa: S102 - our own page
    made: WorkloadKind = names["Sysbench"]()
    return made


@pytest.fixture
def options(kind: WorkloadKind) -> Options:
    return kind.options_model()


def test_the_template_s_job_can_be_run_in_any_node(kind: WorkloadKind, options: Options) -> None:
    job = kind.job(options, SHAPE)
    check_job(job)
    check_expected(kind, options, SHAPE)
    assert "--threads=2" in job.argv


def test_the_template_reads_the_output_on_the_page(kind: WorkloadKind, options: Options) -> None:
    output = Output(stdout=block("text"), stderr="", files={})
    check_recording(kind, options, output)
    check_broken(kind, options, output, kind.job(options, SHAPE))
    assert kind.facts(options, output) == {"sysbench version": "1.0.20"}
    (sample,) = kind.samples(options, output)
    assert sample.value > 100
