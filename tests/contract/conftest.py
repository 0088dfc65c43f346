# SPDX-License-Identifier: Apache-2.0
"""Every real environment of the list, as the contract's tests get it."""

from pathlib import Path

import pytest
from tests.contract.contract_nodes import make_spec
from tests.real_environments import BROUGHT, QUICKLY, VARIANTS, lend_guest_parts, lend_sifs, ready_provider

from tare.environments import PROVIDERS, apptainer_sif
from tare.image.store import Image
from tare.nodes.provider import NodeSpec, Provider

REAL = [*(name for name in PROVIDERS if name not in {"fake", *BROUGHT}), *VARIANTS]


@pytest.fixture
def state(state: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    lend_guest_parts(state)
    lend_sifs(state)
    monkeypatch.setattr(apptainer_sif, "COMPRESSION", QUICKLY)
    return state


@pytest.fixture(params=REAL)
def provider(request: pytest.FixtureRequest, image: Image, state: Path) -> Provider:  # noqa: ARG001 - before the probe
    return ready_provider(request, image)


@pytest.fixture
def spec(provider: Provider, image: Image, state: Path) -> NodeSpec:
    return make_spec(provider, image, state)
