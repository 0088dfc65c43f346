# SPDX-License-Identifier: Apache-2.0
"""Real environments for tests: usable and knowing the image, or skipped with the reason and the way out."""

import pytest

from tare.environments import PROVIDERS
from tare.environments.provider import Provider
from tare.image.store import Image


def ready_provider(request: pytest.FixtureRequest, image: Image) -> Provider:
    """The provider of the technology ``request.param``."""
    found = PROVIDERS[request.param]
    if request.param == "docker":
        request.getfixturevalue("docker_daemon")
    probe = found.probe()
    if not probe.usable:
        pytest.skip(f"{request.param}: {probe.reason}; {probe.remedy}")
    found.prepare(image.root, image.digest)
    return found
