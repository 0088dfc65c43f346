# SPDX-License-Identifier: Apache-2.0
"""An MPI program of the user's own in the image, of any MPI: its options and its launch."""

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field, model_validator

from tare.workloads import mpi, mpi_job
from tare.workloads.kind import Job, Shape


class ProgramOptions(mpi_job.MpiOptions):
    """Which program, and by what it is started."""

    program: Annotated[str, Field(pattern=r"^/[^\x00]+$")]
    """Its path in the image, such as ``/opt/imb/IMB-MPI1``."""
    launcher: mpi.Launcher = "tare"
    """As for ``command``."""

    @model_validator(mode="after")
    def _check_launcher(self) -> Self:
        if self.launcher == "image" and (self.profile or self.single_copy != "natural"):
            raise ValueError(
                'launcher = "image" goes without profile and single_copy, which images have for Open MPI alone; '
                "docs/mpi.md says why"
            )
        return self


def job_of(
    options: ProgramOptions, shape: Shape, arguments: tuple[str, ...], files: Mapping[str, str] | None = None
) -> Job:
    """The job of one process for each processor; ``InputError`` where the image's launcher would have to span nodes."""
    by_image = options.launcher == "image"
    launch = mpi.launch_by_image(shape) if by_image else mpi_job.launch(options, shape)
    return Job(
        argv=(*launch, options.program, *arguments),
        program=options.program,
        files=files or {},
        variables=mpi.BY_IMAGE if by_image else {},
        collect=mpi_job.collected(options),
        preflight=mpi.preflight_by_image(shape) if by_image else mpi.preflight(shape),
    )
