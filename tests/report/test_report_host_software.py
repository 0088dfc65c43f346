# SPDX-License-Identifier: Apache-2.0
"""The host's own build beside an image, in every output."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from tare.records import HOST_FILES, Analysis, Estimate, HostShare, Software, SoftwarePart
from tare.report import host_software
from tare.report.shape import printed
from tests.report.answer_example import quick
from tests.report.test_report_brief import brief

PARTS = (
    SoftwarePart(label="C library", host="libc.so.6 2.36", image="libc.so.6 2.41", same=False),
    SoftwarePart(label="libm", host="libm.so.6", image="libm.so.6", same=True),
)


def estimate(low: float, high: float) -> Estimate:
    return Estimate(point=(low + high) / 2, low=low, high=high, level=0.95, n=10)


@pytest.fixture
def analysis() -> Analysis:
    plain = quick(environments=("lxc", "docker"))
    outcomes = tuple(
        replace(
            outcome,
            trial=replace(
                outcome.trial, environment=replace(outcome.trial.environment, technology=HOST_FILES)
            ),
        )
        if outcome.trial.environment.name == "lxc"
        else outcome
        for outcome in plain.outcomes
    )
    sessions = tuple(
        replace(session, software=(Software(workload="x", program="app", parts=PARTS),))
        for session in plain.sessions
    )
    summary = plain.verdicts[0].overhead.summary
    share = HostShare(
        cell=summary.cell,
        metric=summary.metric,
        host="lxc",
        environment="docker",
        total=estimate(0.121, 0.130),
        software=estimate(0.118, 0.126),
        container=estimate(0.001, 0.005),
    )
    return replace(plain, outcomes=outcomes, sessions=sessions, host_shares=(share,))


def test_the_answer_names_what_differs_and_both_costs_together(analysis: Analysis) -> None:
    lines = brief(analysis)
    assert len(lines) <= 6
    (host,) = [line for line in lines if " lxc: " in line]
    (docker,) = [line for line in lines if " docker: " in line]
    assert "differs from the image in C library" in host
    assert "+12.1 to +13.0 % against the host's build" in docker


def test_the_tables_take_software_and_container_apart(analysis: Analysis) -> None:
    stream = io.StringIO()
    host_software.table(analysis, Console(file=stream, width=300), show_all=False)
    said = stream.getvalue()
    assert "software +11.8 to +12.6 %, container +0.10 to +0.50 % (n = 10)" in said
    assert "C library: host libc.so.6 2.36; image libc.so.6 2.41" in said
    assert "libm: the same: libm.so.6" in said


def test_the_json_has_the_shares_and_the_parts(analysis: Analysis) -> None:
    said = printed(host_software.HostSoftwareJson, analysis)
    assert said["host_shares"][0]["software"]["n"] == 10
    assert [part["same"] for part in said["software"][0]["parts"]] == [False, True]


def test_a_result_without_the_hosts_files_says_nothing_of_them() -> None:
    stream = io.StringIO()
    host_software.table(quick(), Console(file=stream), show_all=True)
    assert stream.getvalue() == ""
