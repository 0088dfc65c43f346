# SPDX-License-Identifier: Apache-2.0
"""What a provider says of its options' values stands in the campaign's error, with file, line and key."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tare.errors import CampaignError
from tare.plan.campaign import load_campaign
from tare.records import OptionValue
from tests.plan.plan_example import GOOD, KINDS, MEMORY_BYTE, PROCESSORS, PROVIDERS, StubProvider


class Particular(StubProvider):
    """A bottle whose cork must be tight."""

    def check_options(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        if "cork" not in options:
            return {"cork": "is missing"}
        return {} if options["cork"] == "tight" else {"cork": f"must be tight, but is {options['cork']!r}"}

    def check_spanning(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        return {} if "stoppers" in options else {"stoppers": "are missing"}


def complaint(tmp_path: Path, text: str) -> str:
    (tmp_path / "file.toml").write_text(text)
    providers = {**PROVIDERS, "bottle": Particular("bottle", PROVIDERS["bottle"].option_names)}
    with pytest.raises(CampaignError) as raised:
        load_campaign(
            tmp_path / "file.toml",
            host_processors=PROCESSORS,
            host_memory_byte=MEMORY_BYTE,
            providers=providers,
            kinds=KINDS,
        )
    return str(raised.value).replace(f"{tmp_path}/", "")


def test_a_wrong_value_is_said_with_its_line(tmp_path: Path) -> None:
    line = GOOD.splitlines().index('cork = "tight"') + 1
    said = complaint(tmp_path, GOOD.replace('cork = "tight"', 'cork = "lo\\tose"'))
    assert said == f"file.toml:{line}: environment[2].cork: must be tight, but is 'lo\\tose'"


def test_a_missing_option_is_said_with_its_tables_line(tmp_path: Path) -> None:
    line = GOOD.splitlines().index('name = "small-bottle"')
    said = complaint(tmp_path, GOOD.replace('cork = "tight"\n', ""))
    assert said == f"file.toml:{line - 1}: environment[2].cork: is missing"


def test_values_are_judged_only_when_the_names_and_types_are_right(tmp_path: Path) -> None:
    said = complaint(tmp_path, GOOD.replace('cork = "tight"', 'crok = "loose"'))
    assert "environment[2].crok: bottle has no such option" in said
    assert "environment[2].cork" not in said


def test_what_only_an_instance_over_several_nodes_needs_is_said_where_there_is_one(tmp_path: Path) -> None:
    without = GOOD.replace('stoppers = ["red", "blue"]\n', "")
    spanning = without.replace('"1c2p2i"]', '"2c1p1i"]')
    assert "environment[2].stoppers: are missing: in 2c1p1i nodes cooperate" in complaint(tmp_path, spanning)
    assert "stoppers" not in complaint(tmp_path, without.replace('cork = "tight"', 'cork = "loose"'))
