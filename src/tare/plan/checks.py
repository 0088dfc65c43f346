# SPDX-License-Identifier: Apache-2.0
"""What only the whole campaign can get wrong."""

from collections.abc import Mapping

from tare.errors import TareError
from tare.plan.definition import Campaign, shape_of
from tare.plan.problems import Problem, printable
from tare.records import NetworkKind
from tare.workloads.kind import WorkloadKind

_MOST_TRIALS = 100_000


def whole_problems(campaign: Campaign, kinds: Mapping[str, WorkloadKind]) -> list[Problem]:
    """Find what is wrong between parts that are each valid."""
    problems = []
    names = [str(layout) for layout in campaign.layouts]
    if len(set(names)) < len(names):
        problems.append(Problem(("layouts",), "a layout stands there twice; keep each once"))
    quota, most = campaign.limits.cpu_quota, max(layout.processors for layout in campaign.layouts)
    if quota is not None and quota > most:
        text = f"{quota:g} limits nothing: the largest node has {most} processors; give less or leave it out"
        problems.append(Problem(("limits", "cpu_quota"), text))
    trials = campaign.blocks * len(names) * len(campaign.workloads) * (len(campaign.environments) + 2)
    if trials > _MOST_TRIALS:
        problems.append(
            Problem(("blocks",), f"makes {trials} trials, but {_MOST_TRIALS} are the most allowed")
        )
    problems += _unconnected(campaign)
    return problems or _unfit_workloads(campaign, kinds)


def _unconnected(campaign: Campaign) -> list[Problem]:
    """Find environments whose nodes could not reach each other, though an instance spans them."""
    spanning = next((layout for layout in campaign.layouts if layout.cooperative), None)
    if spanning is None:
        return []
    return [
        Problem(
            ("environment", position), f"{environment.name} has no network, and in {spanning} nodes cooperate"
        )
        for position, environment in enumerate(campaign.environments)
        if environment.network is NetworkKind.NONE
    ]


def _unfit_workloads(campaign: Campaign, kinds: Mapping[str, WorkloadKind]) -> list[Problem]:
    problems = []
    for position, workload in enumerate(campaign.workloads):
        kind = kinds[workload.kind]
        options = kind.options_model.model_validate(dict(workload.options))
        for layout in campaign.layouts:
            try:
                kind.job(options, shape_of(layout, campaign.limits))
            except TareError as error:
                problems.append(
                    Problem(("workload", position), f"in layout {layout}: {printable(str(error))}")
                )
    return problems
