# SPDX-License-Identifier: Apache-2.0
"""A state folder that has what guests boot from, and the image."""

import os
from pathlib import Path

import pytest
from tests.real_environments import KEPT, lend_guest_parts

from tare.environments import PROVIDERS
from tare.image.store import Image

OPTIONS = {"accelerator": "tcg"}


@pytest.fixture
def guest_state(state: Path, image: Image) -> Path:
    """Of a host where libvirt can start guests; what libvirt knows of QEMU is kept from test to test."""
    if os.geteuid() != 0:
        pytest.skip("needs root for mounts and cgroups")
    lend_guest_parts(state)
    for name in ("images", "libvirt"):
        (KEPT / name).mkdir(parents=True, exist_ok=True)
        (state / name).symlink_to(KEPT / name)
    provider = PROVIDERS["libvirt"].configured(OPTIONS)
    probe = provider.probe()
    if not probe.usable:
        pytest.skip(f"libvirt: {probe.reason}; {probe.remedy}")
    provider.prepare(image.root, image.digest)
    return state
