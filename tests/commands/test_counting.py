# SPDX-License-Identifier: Apache-2.0
"""``tare advise --count-calls`` counts each program's system calls once, natively."""

from pathlib import Path

import pytest
from tests.fake_campaign import FAKES, Listener, command_workload, fake_campaign, fake_request

from tare.commands.counting import count_calls
from tare.journal.calls import read_calls
from tare.journal.result import ResultFolder
from tare.measure import strace
from tare.pipeline import run_campaign
from tare.records import NATIVE, Cell

pytestmark = pytest.mark.usefixtures("fake_image")
COPY = ("dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=500")


@pytest.mark.skipif(not strace.is_installed(), reason="apt-get install strace")
def test_each_program_is_traced_once_natively_and_its_counts_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = tmp_path / "result"
    run_campaign(fake_request(fake_campaign(workload=command_workload(*COPY), blocks=1), result), Listener())
    count_calls(result, FAKES)
    said = capsys.readouterr().err
    if "may not trace" in said:
        pytest.skip(said)
    assert "system calls were counted of 1 workload" in said
    traced = read_calls(ResultFolder(result).explanation)
    assert traced is not None
    counts = traced.counts[Cell(workload="work", layout="1c1p1i")]
    assert list(counts) == [NATIVE]
    assert counts[NATIVE].made["read"] >= 500
    count_calls(result, FAKES)
    assert "counted" not in capsys.readouterr().err
