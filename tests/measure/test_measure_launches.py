# SPDX-License-Identifier: Apache-2.0
"""A launch that cannot work is refused before anything is run."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.fake_campaign import command_workload, fake_campaign

from tare.errors import InputError
from tare.image.store import Image
from tare.measure.launches import require_launches
from tare.plan.campaign import Campaign
from tare.records import OptionValue, Workload


@pytest.fixture
def mpich(tmp_path: Path) -> Image:
    (tmp_path / "opt/mpich").mkdir(parents=True)
    (tmp_path / "opt/mpich/mpirun").write_bytes(b"\x7fELF HYDRA_LAUNCHER")
    return Image("mpich", tmp_path, "sha256:0")


def campaign(**options: OptionValue) -> Campaign:
    solver = command_workload("solver")
    return fake_campaign(workload=replace(solver, options={**solver.options, **options}))


def test_a_launch_by_tare_of_another_mpi_is_refused_by_the_workloads_name(mpich: Image) -> None:
    with pytest.raises(
        InputError, match=r"work cannot be started by MPI in the image mpich: .*--launcher image"
    ):
        require_launches(campaign(mpi=True, image_variables=["PATH=/opt/mpich"]), mpich)


def test_the_images_own_launch_is_not_refused_and_its_path_is_searched(mpich: Image) -> None:
    require_launches(campaign(mpi=True, launcher="image", image_variables=["PATH=/opt/mpich"]), mpich)
    with pytest.raises(InputError, match="no mpirun on its PATH"):
        require_launches(campaign(mpi=True, launcher="image"), mpich)


def test_what_no_mpirun_starts_needs_none(mpich: Image) -> None:
    require_launches(campaign(), mpich)


def test_a_benchmark_of_tares_own_needs_open_mpi_as_well(mpich: Image) -> None:
    npb = Workload(name="cg", kind="npb", options={"problem_class": "S"})
    with pytest.raises(InputError, match="cg cannot be started by MPI"):
        require_launches(fake_campaign(workload=npb), mpich)
