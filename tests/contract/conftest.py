# SPDX-License-Identifier: Apache-2.0
"""Every real environment of the list, as the contract's tests get it."""

from pathlib import Path

import pytest
from tests.contract.contract_nodes import make_spec
from tests.real_environments import ready_provider

from tare.environments import PROVIDERS
from tare.environments.provider import NodeSpec, Provider
from tare.image.store import Image

REAL = [name for name in PROVIDERS if name not in {"fake", "custom", "ssh"}]


@pytest.fixture(params=REAL)
def provider(request: pytest.FixtureRequest, image: Image) -> Provider:
    return ready_provider(request, image)


@pytest.fixture
def spec(provider: Provider, image: Image, state: Path) -> NodeSpec:
    return make_spec(provider, image, state)
