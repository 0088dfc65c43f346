# SPDX-License-Identifier: Apache-2.0
"""The template of docs/add-an-environment.md is a whole environment that keeps the contract, for real."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.contract import test_environment_contract, test_environment_endings
from tests.contract.contract_nodes import make_spec
from tests.real_environments import skip_unless_usable

from tare.environments import PROVIDERS
from tare.image.store import Image
from tare.nodes.provider import NodeSpec, Provider

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = (REPOSITORY / "docs" / "add-an-environment.md").read_text()
(TEMPLATE,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
AS_ROOT = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups"),
]


def template() -> Provider:
    names: dict[str, Any] = {"__name__": "template"}
    exec(compile(TEMPLATE, "add-an-environment.md", "exec"), names)  # noqa: S102 - our own page
    made: Provider = names["Unshare"]()
    return made


def test_the_template_satisfies_the_strict_type_checker_as_a_provider(tmp_path: Path) -> None:
    claim = "\n\ndef given() -> Provider:\n    return Unshare()\n"
    (tmp_path / "template.py").write_text(TEMPLATE + claim)
    argv = [sys.executable, "-m", "mypy", "--strict", str(tmp_path / "template.py")]
    done = subprocess.run(argv, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("action", ["check", "format --check"])
def test_the_template_satisfies_the_linter(action: str) -> None:
    place = "src/tare/environments/unshare.py"
    argv = [sys.executable, "-m", "ruff", *action.split(), "--stdin-filename", place, "-"]
    done = subprocess.run(
        argv, cwd=REPOSITORY, input=TEMPLATE, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout


def test_the_page_tells_every_duty() -> None:
    duties = {
        name for name, _ in inspect.getmembers(Provider, inspect.isfunction) if not name.startswith("_")
    }
    assert {"probe", "start", "prefix", "stop"} <= duties
    assert all(f"`{duty}`" in PAGE for duty in duties)


@pytest.fixture
def provider(image: Image, monkeypatch: pytest.MonkeyPatch) -> Provider:
    """The template, where the contract's tests expect a provider of the list."""
    result = template()
    skip_unless_usable(result.probe(), "unshare")
    result.prepare(image.root, image.digest)
    monkeypatch.setattr("tare.measure.clean.PROVIDERS", {**PROVIDERS, "unshare": result})
    return result


@pytest.fixture
def spec(provider: Provider, image: Image, state: Path) -> NodeSpec:
    return make_spec(provider, image, state)


CONTRACT = {
    name: function
    for contract in (test_environment_contract, test_environment_endings)
    for name, function in inspect.getmembers(contract, inspect.isfunction)
    if name.startswith("test_") and "provider" in inspect.signature(function).parameters
}
for mark in AS_ROOT:
    CONTRACT = {name: mark(function) for name, function in CONTRACT.items()}
globals().update(CONTRACT)


def test_the_whole_contract_is_held_to_the_template() -> None:
    assert len(CONTRACT) >= 20
    assert all(globals()[name] is function for name, function in CONTRACT.items())
