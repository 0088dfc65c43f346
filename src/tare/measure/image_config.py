# SPDX-License-Identifier: Apache-2.0
"""A campaign's commands as their image wants them to be run, alike in every arm.

The variables, directory and user are written into the campaign, so that a result shows them; no environment applies
them a second time, as it is given the files of the image alone.
"""

import os
from dataclasses import replace
from pathlib import Path

from tare.errors import InputError
from tare.host.privileges import ordinary_user
from tare.image.config import ImageConfig, home_of, resolved_user
from tare.image.store import Image
from tare.plan.campaign import Campaign
from tare.records import OptionValue, Workload

_KIND = "command"


def as_the_image_says(campaign: Campaign, image: Image) -> Campaign:
    """The campaign's own settings come first; ``InputError`` for a user that the image does not know."""
    config, user = ImageConfig.kept(image.manifest), campaign.user
    if not ordinary_user() and any(workload.kind == _KIND for workload in campaign.workloads):
        stated = _stated_user(config, image.root, is_needed=user is None)
        if stated is not None and user in {None, stated}:
            user, config = stated, _with_home(config, image.root)
    workloads = tuple(_configured(workload, config, image.root) for workload in campaign.workloads)
    return replace(campaign, workloads=workloads, user=user)


def _stated_user(config: ImageConfig, root: Path, *, is_needed: bool) -> str | None:
    """As a campaign has it; an image's unknown user is no error where the campaign states one."""
    try:
        stated = resolved_user(config.user, root)
    except InputError:
        if is_needed:
            raise
        return None
    return None if stated is None else str(stated)


def _with_home(config: ImageConfig, root: Path) -> ImageConfig:
    """With the stated user's ``HOME``, as container engines set it."""
    home = home_of(config.user, root)
    if home is None or "HOME" in config.variables:
        return config
    return replace(config, variables={**config.variables, "HOME": home})


def _configured(workload: Workload, config: ImageConfig, root: Path) -> Workload:
    if workload.kind != _KIND:
        return workload
    options: dict[str, OptionValue] = dict(workload.options)
    if config.variables:
        options["image_variables"] = [f"{name}={value}" for name, value in config.variables.items()]
    if config.directory is not None and os.path.lexists(root / config.directory.strip("/")):
        options["image_directory"] = config.directory
    return replace(workload, options=options)
