# SPDX-License-Identifier: Apache-2.0
"""Whether an image's MPI can be started as a campaign's workloads want it, known before the first trial."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tare.errors import InputError
from tare.image.mpi import Launch, obstacle
from tare.image.store import Image
from tare.measure.context import MINIMAL_VARIABLES
from tare.plan.campaign import Campaign
from tare.plan.definition import shape_of
from tare.plan.written import parse_bind
from tare.records import Workload
from tare.workloads import KINDS
from tare.workloads.kind import Job, WorkloadKind
from tare.workloads.mpi import LAUNCHER, is_by_image


def require_launches(campaign: Campaign, image: Image, kinds: Mapping[str, WorkloadKind] = KINDS) -> None:
    """Raise ``InputError`` for the first workload whose launch cannot work in the image."""
    for workload, launch in _launches(campaign, kinds):
        if (why := obstacle(image.root, launch)) is not None:
            raise InputError(f"{workload.name} cannot be started by MPI in the image {image.name}: {why}")


def _launches(campaign: Campaign, kinds: Mapping[str, WorkloadKind]) -> Iterator[tuple[Workload, Launch]]:
    """The different launches by mpirun."""
    cells = {workload.name: (workload, setting) for workload, setting in campaign.cells}
    for workload, setting in cells.values():
        kind = kinds[workload.kind]
        options = kind.options_model.model_validate(dict(workload.options))
        job = kind.job(options, shape_of(setting.layout, setting.limits))
        if job.argv[0] == LAUNCHER:
            yield (
                workload,
                Launch(
                    program=job.program or job.argv[-1],
                    host_file=_bound(job, campaign.binds),
                    variables={**MINIMAL_VARIABLES, **job.variables},
                    by_image=is_by_image(job.argv),
                ),
            )


def _bound(job: Job, binds: Sequence[str]) -> Path | None:
    """The program's file on this host, if it is in a directory that the campaign shows to its commands."""
    if job.program is None or "/" not in job.program:
        return None
    place = Path(os.path.normpath(Path(job.directory or "/", job.program)))
    return place if any(place.is_relative_to(parse_bind(bind).path) for bind in binds) else None
