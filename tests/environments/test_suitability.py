# SPDX-License-Identifier: Apache-2.0
"""The table of what technologies are like has one row each, and says what their providers do."""

import pytest

from tare.environments import PROVIDERS
from tare.environments.suitability import SUITABILITY, suitability_of
from tare.nodes.unprivileged import AlsoUnprivileged
from tare.records import Environment
from tare.records.advice import Isolation

DEPENDING = {"custom", "ssh"}
"""What they are like is said by their options."""
IMAGES = {"oci", "sif", "squashfs", "directory", "disk"}


def test_every_technology_has_its_row_and_nothing_else_has() -> None:
    assert list(SUITABILITY) == list(PROVIDERS)


@pytest.mark.parametrize("name", sorted(PROVIDERS.keys() - DEPENDING))
def test_a_row_says_what_the_provider_does(name: str) -> None:
    row, provider = SUITABILITY[name], PROVIDERS[name]
    assert row.own_kernel is provider.own_kernel
    assert row.gpu is (provider.refuse_devices({}) is None)
    assert row.root is not (isinstance(provider, AlsoUnprivileged) or name == "fake")
    assert (row.isolation is not None and row.isolation >= Isolation.SANDBOX) is row.own_kernel
    assert set(row.images) <= IMAGES


def test_options_change_what_a_technology_is_like() -> None:
    sandbox = Environment(name="d", technology="docker", options={"runtime": "runsc"})
    assert suitability_of(sandbox).own_kernel
    assert suitability_of(sandbox).isolation is Isolation.SANDBOX
    far = Environment(name="s", technology="ssh", options={"below": "podman"})
    assert suitability_of(far) == SUITABILITY["podman"]
    assert suitability_of(Environment(name="s", technology="ssh")).root is None
