# SPDX-License-Identifier: Apache-2.0
"""Whether an image's MPI can be started as a campaign's workloads want it, known before the first trial."""

import os
from collections.abc import Iterator, Mapping

from tare.errors import InputError
from tare.host.privileges import ordinary_user
from tare.image.elf import Files
from tare.image.mpi import Launch, obstacle
from tare.image.store import Image
from tare.measure.context import MINIMAL_VARIABLES
from tare.measure.mpi_facts import launcher_version
from tare.plan.campaign import Campaign
from tare.plan.definition import shape_of
from tare.plan.written import parse_bind
from tare.records import MpiLauncher, User, Workload
from tare.workloads import KINDS
from tare.workloads.kind import Job, WorkloadKind
from tare.workloads.mpi import LAUNCHER, is_by_image
from tare.workloads.part_used import part_used


def require_launches(campaign: Campaign, image: Image, kinds: Mapping[str, WorkloadKind] = KINDS) -> None:
    """Raise ``InputError`` for the first workload whose launch cannot work in the image."""
    files = Files(image.root, tuple(parse_bind(bind).path for bind in campaign.binds))
    for workload, job in _launched(campaign, kinds):
        if (why := obstacle(files, _launch(job))) is not None:
            raise InputError(f"{workload.name} cannot be started by MPI in the image {image.name}: {why}")


def require_launcher(launcher: MpiLauncher, user: User | None) -> None:
    """Raise ``HostError`` if the site's launcher is not here, ``InputError`` if it would turn away the processes."""
    if launcher is MpiLauncher.TARE:
        return
    launcher_version(launcher)
    if launcher is MpiLauncher.SRUN and user is not None and not ordinary_user():
        raise InputError(
            "srun's PMIx serves only processes with the number of the user who called srun, and the commands run as "
            f'{user}: run Tare as that user, or as root with user = "root", or take mpi_launcher = "mpirun" or "tare"'
        )


def _launched(campaign: Campaign, kinds: Mapping[str, WorkloadKind]) -> Iterator[tuple[Workload, Job]]:
    """The workloads that mpirun starts, each once, with one of its jobs."""
    for workload, setting in {
        (workload.name, setting.levels): (workload, setting) for workload, setting in campaign.cells
    }.values():
        kind = kinds[workload.kind]
        options = kind.options_model.model_validate(dict(workload.options))
        job = kind.job(options, part_used(options, shape_of(setting.layout, setting.limits)))
        if job.argv[0] == LAUNCHER:
            yield workload, job


def _launch(job: Job) -> Launch:
    program = job.program or job.argv[-1]
    if "/" in program:
        program = os.path.normpath(f"{job.directory or '/'}/{program}" if program[0] != "/" else program)
    variables = {**MINIMAL_VARIABLES, **job.image_variables, **job.variables}
    return Launch(program=program, variables=variables, by_image=is_by_image(job.argv))
