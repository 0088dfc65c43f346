# SPDX-License-Identifier: Apache-2.0
"""What ``tare weigh`` makes of the command line."""

from dataclasses import replace
from pathlib import Path

import pytest

from tare.commands import weigh
from tare.commands.weigh import WeighOptions, run_weigh
from tare.errors import InputError
from tare.measure.campaign import Request

ASKED = WeighOptions(
    command=("solver", "input"),
    environments=("fake",),
    binds=(),
    layout=None,
    network=None,
    mpi=False,
    threads=1,
    profile=False,
    whole=False,
    turns=False,
    blocks=None,
    budget=None,
    seed=None,
)


@pytest.mark.parametrize("asked", [replace(ASKED, profile=True), replace(ASKED, threads=2)])
def test_what_only_an_mpi_program_has_needs_mpi(tmp_path: Path, asked: WeighOptions) -> None:
    with pytest.raises(InputError, match="add --mpi"):
        run_weigh(asked, tmp_path / "result", "default", as_json=False)


def test_an_mpi_program_gets_its_threads_and_the_profiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Request] = []

    def run(request: Request, *, as_json: bool) -> int:
        seen.append(request)
        return int(as_json)

    monkeypatch.setattr(weigh, "run_and_show", run)
    run_weigh(
        replace(ASKED, mpi=True, threads=2, profile=True), tmp_path / "result", "default", as_json=False
    )
    (workload,) = seen[0].campaign.workloads
    assert workload.options == {
        "argv": ["solver", "input"],
        "mpi": True,
        "threads": 2,
        "profile": True,
        "turns": False,
    }
