# SPDX-License-Identifier: Apache-2.0
"""The campaign as a record, with the form in which a result folder keeps it."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from pydantic import TypeAdapter, ValidationError

from tare.environments import PROVIDERS
from tare.environments.provider import TOOLS_DIRECTORY, Provider
from tare.errors import CampaignError
from tare.plan.problems import printable
from tare.records import SCHEMA, Environment, Layout, Limits, Workload
from tare.workloads import KINDS
from tare.workloads.kind import Shape, Span, WorkloadKind

_DAMAGED = "the file is damaged or of another version; start a new result folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """A valid campaign; everything that may be left out of a file has its value here."""

    name: str
    environments: tuple[Environment, ...]
    """Without native, which is always there."""
    layouts: tuple[Layout, ...]
    workloads: tuple[Workload, ...]
    limits: Limits
    blocks: int
    margin: float
    """Overheads within plus or minus this fraction count as none."""
    budget_s: float | None
    seed: int | None
    """``None``: the runner draws one and logs it."""
    binds: tuple[str, ...] = ()
    """Directories of the host shown in every node at the same path: ``/path:ro`` or ``/path:rw``."""

    def to_json(self) -> dict[str, Any]:
        """Return the canonical form; ``from_json`` makes an equal campaign of it."""
        return {"schema": SCHEMA} | dataclasses.asdict(self)

    @classmethod
    def from_json(
        cls,
        data: object,
        where: str = "campaign.json",
        *,
        providers: Mapping[str, Provider] = PROVIDERS,
        kinds: Mapping[str, WorkloadKind] = KINDS,
    ) -> Self:
        """Undo ``to_json``; ``CampaignError`` names ``where`` if the data is damaged or of another schema."""
        name = printable(where)
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise CampaignError(f"{name}: is not a campaign of schema {SCHEMA}; start a new result folder")
        try:
            fields = {key: value for key, value in data.items() if key != "schema"}
            campaign = TypeAdapter(cls).validate_python(fields)
            _check_kept(campaign, providers, kinds)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = printable(".".join(str(part) for part in first["loc"]))
            raise CampaignError(f"{name}: {key}: {first['msg']}; {_DAMAGED}") from None
        except ValueError as error:
            raise CampaignError(f"{name}: {printable(str(error))}; {_DAMAGED}") from None
        return campaign


def _check_kept(
    campaign: Campaign, providers: Mapping[str, Provider], kinds: Mapping[str, WorkloadKind]
) -> None:
    """``ValueError`` for what the rest of this version could not work with."""
    for layout in campaign.layouts:
        Layout.parse(str(layout))
    for environment in campaign.environments:
        if environment.technology not in providers:
            raise ValueError(f"this version has no technology {environment.technology!r}")
    for workload in campaign.workloads:
        if workload.kind not in kinds:
            raise ValueError(f"this version has no workload {workload.kind!r}")
        kinds[workload.kind].options_model.model_validate(dict(workload.options))
    if not (campaign.layouts and campaign.workloads and campaign.blocks > 0 < campaign.margin):
        raise ValueError("layouts, workloads, blocks or the margin are missing")


def shape_of(
    layout: Layout, limits: Limits, instance: int = 0, tools_directory: str = TOOLS_DIRECTORY
) -> Shape:
    """Give one instance its equal share of the layout's processors and memory."""
    hosts = tuple(f"node-{number}" for number in range(layout.nodes // layout.instances))
    return Shape(
        processors=layout.ranks,
        memory_byte=limits.memory_byte // layout.instances,
        instance=instance,
        tools_directory=tools_directory,
        span=Span(hosts=hosts, subnet="198.18.0.0/16") if layout.cooperative else None,
    )
