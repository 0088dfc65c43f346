# SPDX-License-Identifier: Apache-2.0
"""docs/campaign.md and the code say the same."""

import json
import re
from pathlib import Path

import pytest
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from tare.environments import PROVIDERS
from tare.plan.blocks import BlocksTable, DecisionTable, PrecisionTable
from tare.plan.campaign import load_campaign, preset_names
from tare.plan.entries import FAR
from tare.plan.schema import (
    CampaignTable,
    EnvironmentTable,
    ExcludeTable,
    FactorTable,
    LimitsTable,
    NeighbourTable,
    SharingTable,
    WorkloadTable,
)
from tare.workloads import KINDS

DOCUMENTS = Path(__file__).parents[2] / "docs"
TEXT = (DOCUMENTS / "campaign.md").read_text()
EXAMPLES = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
SIGNAL_EXAMPLES = re.findall(r"```toml\n(.*?)```", (DOCUMENTS / "signals.md").read_text(), re.DOTALL)
SHARING_EXAMPLES = re.findall(r"```toml\n(.*?)```", (DOCUMENTS / "sharing.md").read_text(), re.DOTALL)
COLLECTIVE_EXAMPLES = re.findall(r"```toml\n(.*?)```", (DOCUMENTS / "collective.md").read_text(), re.DOTALL)
ROWS = [[cell.strip() for cell in row.strip("|").split(" | ")] for row in re.findall(r"(?m)^\|.*\|$", TEXT)]
OPTIONS = {(row[0].strip("`"), row[1].strip("`")): row[3].strip("`") for row in ROWS if len(row) == 4}


@pytest.mark.parametrize("example", [*EXAMPLES, *SHARING_EXAMPLES, *SIGNAL_EXAMPLES, *COLLECTIVE_EXAMPLES])
def test_an_example_is_a_valid_campaign(tmp_path: Path, example: str) -> None:
    path = tmp_path / "example.toml"
    path.write_text(example)
    campaign = load_campaign(path, host_processors=1, host_memory_byte=16 * 1024**3)
    assert f'name = "{campaign.name}"' in example


def test_there_are_examples() -> None:
    assert (len(EXAMPLES), len(SHARING_EXAMPLES), len(SIGNAL_EXAMPLES)) == (4, 2, 1)


@pytest.mark.parametrize(
    "table",
    [
        CampaignTable,
        BlocksTable,
        DecisionTable,
        PrecisionTable,
        LimitsTable,
        ExcludeTable,
        EnvironmentTable,
        FactorTable,
        WorkloadTable,
        SharingTable,
        NeighbourTable,
    ],
    ids=lambda table: table.__name__,
)
def test_every_key_is_explained(table: type[BaseModel]) -> None:
    for key in table.model_fields:
        assert re.search(rf"`(\[+)?{key}(\]+)?`|\b{key} = ", TEXT), key


def test_every_option_of_every_kind_is_explained_with_its_default() -> None:
    for name, kind in KINDS.items():
        for option, field in kind.options_model.model_fields.items():
            document = OPTIONS[name, option]
            default = field.get_default(call_default_factory=True)
            if default is PydanticUndefined:
                assert document == "required"
            elif default is not None:
                assert document == json.dumps(default)


def test_no_option_is_explained_that_is_not_there() -> None:
    assert {(kind, option) for kind, option in OPTIONS if kind in KINDS} == {
        (name, option) for name, kind in KINDS.items() for option in kind.options_model.model_fields
    }


def test_every_technology_and_its_options_are_explained_and_no_others() -> None:
    section = TEXT.split("### Environments")[1].split("###")[0]
    rows = re.findall(r"(?m)^\| `([a-z-]+)` \| (?:`(\w+)` )?\| (.+) \|$", section.split("| technology |")[1])
    result = {(technology, option) for technology, option, meaning in rows if meaning}
    written = {name: provider for name, provider in PROVIDERS.items() if name != FAR}
    named = {(name, option) for name, provider in written.items() for option in provider.option_names}
    assert result == named | {(name, "") for name in PROVIDERS}


def test_every_preset_is_named() -> None:
    presets = TEXT.split("## Presets")[1].split("##")[0]
    assert set(re.findall(r"(?m)^\| `([a-z0-9-]+)`", presets)) == set(preset_names())
