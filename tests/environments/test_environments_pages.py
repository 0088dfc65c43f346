# SPDX-License-Identifier: Apache-2.0
"""What the pages about ``custom`` and others show is right, and they explain every option."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tare.environments import PROVIDERS, UNSUPPORTED
from tare.environments.custom_commands import _PLACEHOLDERS
from tare.nodes.devices import KINDS

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = {
    "apptainer": DOCS / "apptainer.md",
    "custom": DOCS / "custom-environment.md",
    "udocker": DOCS / "udocker.md",
    "libvirt": DOCS / "libvirt.md",
    "xen": DOCS / "xen.md",
    "vmware": DOCS / "vmware.md",
    "virtualbox": DOCS / "virtualbox.md",
}


def tables(technology: str) -> list[dict[str, Any]]:
    """The options of every environment that the page shows."""
    blocks = re.findall(r"^```toml\n(.*?)^```", PAGES[technology].read_text(), re.MULTILINE | re.DOTALL)
    result = [table for block in blocks for table in tomllib.loads(block)["environment"]]
    assert {table.pop("technology") for table in result} == {technology}
    return [{key: value for key, value in table.items() if key != "name"} for table in result]


@pytest.mark.parametrize("technology", PAGES)
def test_every_environment_that_is_shown_is_right(technology: str) -> None:
    shown = tables(technology)
    assert len(shown) >= 2
    for options in shown:
        assert set(options) <= set(PROVIDERS[technology].option_names)
        assert PROVIDERS[technology].check_options(options) == {}


@pytest.mark.parametrize("technology", PAGES)
def test_every_option_is_explained(technology: str) -> None:
    text = PAGES[technology].read_text()
    missing = [name for name in PROVIDERS[technology].option_names if not re.search(rf"\| `{name}\b", text)]
    assert missing == []


def test_the_page_of_devices_says_of_every_technology_whether_it_gets_any() -> None:
    section = (DOCS / "devices.md").read_text().split("## How each technology gets them")[1].split("##")[0]
    rows = re.findall(r"(?m)^\| (`.+`) \| (.+) \|$", section)
    said = {name: text for names, text in rows for name in re.findall(r"`([a-z-]+)`", names)}
    assert set(said) == set(PROVIDERS)
    for name, text in said.items():
        why = PROVIDERS[name].refuse_devices({})
        assert text.startswith("refused: ") == (why is not None), name


def test_the_page_of_devices_explains_every_kind() -> None:
    section = (DOCS / "devices.md").read_text().split("## Ask for them")[1].split("\n## ")[0]
    assert set(re.findall(r"(?m)^\| `([a-z]+)` \| ", section)) == set(KINDS)


def test_a_toolkits_flags_can_be_the_users_own_as_the_page_says() -> None:
    for flags in ("--gpus all", "--device nvidia.com/gpu=all"):
        assert PROVIDERS["docker"].check_options({"arguments": flags}) == {}
    assert PROVIDERS["docker"].refuse_devices({"runtime": "runsc"}) is not None


def test_what_is_not_supported_is_no_environment_and_is_explained() -> None:
    text = PAGES["apptainer"].read_text().lower()
    assert not set(UNSUPPORTED) & set(PROVIDERS)
    assert [name for name in UNSUPPORTED if name not in text] == []


def test_every_placeholder_is_explained_and_no_other() -> None:
    section = PAGES["custom"].read_text().split("## Placeholders")[1].split("\n\nA word")[0]
    assert set(re.findall(r"`\{(\w+)\}`", section)) == set().union(*_PLACEHOLDERS.values())
