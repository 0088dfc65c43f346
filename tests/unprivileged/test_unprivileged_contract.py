# SPDX-License-Identifier: Apache-2.0
"""What every environment owes, tried for real by an ordinary user."""

from pathlib import Path

import pytest
from tests.contract.contract_nodes import made_devices
from tests.real_environments import of_a_user, skip_unless_usable
from tests.unprivileged.ordinary_user import AS_ROOT, PYTHON, OrdinaryUser

from tare.environments import PROVIDERS
from tare.nodes.unprivileged import AlsoUnprivileged
from tare.nodes.unprivileged.members import members

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
TECHNOLOGIES = [name for name, provider in PROVIDERS.items() if isinstance(provider, AlsoUnprivileged)]
pytestmark = AS_ROOT


@pytest.mark.parametrize("technology", TECHNOLOGIES)
@pytest.mark.usefixtures("image", "machine")
def test_an_ordinary_users_nodes_keep_the_contract(technology: str, user: OrdinaryUser) -> None:
    skip_unless_usable(of_a_user(technology).probe(), technology)
    plain = [
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(REPOSITORY),
        "-c",
        str(REPOSITORY / "pyproject.toml"),
    ]
    argv = [
        PYTHON,
        "-m",
        "pytest",
        *plain,
        f"--basetemp={user.home}/pytest",
        str(HERE / "contract_of_a_user.py"),
    ]
    with made_devices() as devices:
        named = {"TECHNOLOGY": technology, "DEVICES": str(devices), "PYTHONPATH": str(REPOSITORY)}
        done = user.run(*argv, timeout_s=250, **named)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " passed" in done.stdout


def test_no_process_is_taken_for_that_of_a_node_that_was_never_made() -> None:
    assert members("tare-never-made-0") == []
