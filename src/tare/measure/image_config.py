# SPDX-License-Identifier: Apache-2.0
"""A campaign's commands as their image wants them to be run, alike in every arm.

The variables, directory and user are written into the campaign, so that a result shows them; no environment applies
them a second time, as it is given the files of the image alone.
"""

import os
from dataclasses import replace
from pathlib import Path

from tare.host.privileges import ordinary_user
from tare.image.config import ImageConfig, resolved_user
from tare.image.store import Image
from tare.plan.campaign import Campaign
from tare.records import OptionValue, Workload

_KIND = "command"


def as_the_image_says(campaign: Campaign, image: Image) -> Campaign:
    """The campaign's own settings come first; ``InputError`` for a user that the image does not know."""
    config = ImageConfig.kept(image.manifest)
    workloads = tuple(_configured(workload, config, image.root) for workload in campaign.workloads)
    user = campaign.user
    if user is None and not ordinary_user() and any(workload.kind == _KIND for workload in workloads):
        stated = resolved_user(config.user, image.root)
        user = None if stated is None else str(stated)
    return replace(campaign, workloads=workloads, user=user)


def _configured(workload: Workload, config: ImageConfig, root: Path) -> Workload:
    if workload.kind != _KIND:
        return workload
    options: dict[str, OptionValue] = dict(workload.options)
    if config.variables:
        options["image_variables"] = [f"{name}={value}" for name, value in config.variables.items()]
    if config.directory is not None and os.path.lexists(root / config.directory.strip("/")):
        options["image_directory"] = config.directory
    return replace(workload, options=options)
