# SPDX-License-Identifier: Apache-2.0
"""A provider that is ready, or a skip with the way out, and state folders that have what guests boot from."""

import os
from pathlib import Path

import pytest
from tests.real_environments import lend_guest_parts

from tare.environments.qemu import Qemu
from tare.image.store import Image


@pytest.fixture
def guest_state(state: Path) -> Path:
    lend_guest_parts(state)
    return state


@pytest.fixture
def provider(image: Image, guest_state: Path) -> Qemu:  # noqa: ARG001 - before the probe
    if os.geteuid() != 0:
        pytest.skip("needs root for mounts and cgroups")
    qemu = Qemu({"accelerator": "tcg"})
    probe = qemu.probe()
    if not probe.usable:
        pytest.skip(f"qemu: {probe.reason}; {probe.remedy}")
    qemu.prepare(image.root, image.digest)
    return qemu
