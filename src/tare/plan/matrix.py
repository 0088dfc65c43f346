# SPDX-License-Identifier: Apache-2.0
"""What a paper's preset asks for, to tell what a result has of the paper's own points."""

from functools import cache

from tare.plan.campaign import as_written
from tare.records.published import PresetCell, PresetMatrix


@cache
def preset_matrix(name: str) -> PresetMatrix:
    """Of a preset; ``CampaignError`` for a name that is none."""
    campaign = as_written(name)
    return PresetMatrix(
        environments=campaign.environments,
        cells=tuple(
            PresetCell(workload=workload, layout=setting.layout, limits=setting.limits)
            for workload, setting in campaign.cells
        ),
    )
