# SPDX-License-Identifier: Apache-2.0
"""Every real environment of the list, as the contract's tests get it."""

from pathlib import Path

import pytest
from tests.contract.contract_nodes import make_spec
from tests.real_environments import BROUGHT, VARIANTS, lend_guest_parts, ready_provider

from tare.environments import PROVIDERS
from tare.image.store import Image
from tare.nodes.provider import NodeSpec, Provider

REAL = [*(name for name in PROVIDERS if name not in {"fake", *BROUGHT}), *VARIANTS]


@pytest.fixture
def state(state: Path) -> Path:
    lend_guest_parts(state)
    return state


@pytest.fixture(params=REAL)
def provider(request: pytest.FixtureRequest, image: Image, state: Path) -> Provider:  # noqa: ARG001 - before the probe
    return ready_provider(request, image)


@pytest.fixture
def spec(provider: Provider, image: Image, state: Path) -> NodeSpec:
    return make_spec(provider, image, state)
