# SPDX-License-Identifier: Apache-2.0
"""What the pages about ``custom`` and ``ssh`` show is right, and they explain every option."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tare.environments import PROVIDERS, UNSUPPORTED
from tare.environments.custom_commands import _PLACEHOLDERS

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = {
    "apptainer": DOCS / "apptainer.md",
    "custom": DOCS / "custom-environment.md",
    "ssh": DOCS / "ssh.md",
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


def test_what_is_not_supported_is_no_environment_and_is_explained() -> None:
    text = PAGES["apptainer"].read_text().lower()
    assert not set(UNSUPPORTED) & set(PROVIDERS)
    assert [name for name in UNSUPPORTED if name not in text] == []


def test_every_placeholder_is_explained_and_no_other() -> None:
    section = PAGES["custom"].read_text().split("## Placeholders")[1].split("\n\nA word")[0]
    assert set(re.findall(r"`\{(\w+)\}`", section)) == set().union(*_PLACEHOLDERS.values())
