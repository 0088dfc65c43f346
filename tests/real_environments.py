# SPDX-License-Identifier: Apache-2.0
"""Real environments for tests: usable and knowing the image, or skipped with the reason and the way out."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tare.environments import PROVIDERS, apptainer_sif, sarus_image
from tare.host.paths import state_directory
from tare.image.store import Image
from tare.nodes.provider import Probe, Provider
from tare.records import OptionValue
from tests.conftest import REPOSITORY

VARIANTS: Mapping[str, tuple[str, Mapping[str, OptionValue]]] = {
    "qemu-emulated": ("qemu", {"devices": "emulated"}),
    "udocker-R1": ("udocker", {"mode": "R1"}),
}
"""What counts as an environment of its own, beside the technologies as they are by default."""
OF_A_USER: Mapping[str, Mapping[str, OptionValue]] = {
    "apptainer": {"form": "sandbox"},
    "udocker": {"mode": "R1"},
}
"""Options for an ordinary user's contract: a SIF's root is read-only, and its FUSE device closed on some hosts
(``test_unprivileged_sif``); udocker's PRoot is in no package."""
BROUGHT = {"custom", "libvirt", "ssh", "virtualbox", "vmware", "xen"}
"""They run where the user says, in what he brings, and have tests of their own."""
QUICKLY = ("-comp", "zstd", "-Xcompression-level", "1")
"""How tests compress a SIF: by gzip, as Apptainer's users have it, the default image takes half a minute."""
SIFS = REPOSITORY / "build" / "sifs"
LOADED = REPOSITORY / "build" / "sarus"
"""What Sarus has loaded, from one test to the next."""
_FAULT = re.compile(r"\b[A-Z]\w*Error: ")
KEPT = state_directory()
"""Where the set-up has put what machines boot from, before any test chose a state folder of its own."""


def ready_provider(request: pytest.FixtureRequest, image: Image) -> Provider:
    """The provider of the technology, or of the variant of one, ``request.param``."""
    technology, options = VARIANTS.get(request.param, (request.param, {}))
    provider = PROVIDERS[technology].configured(options) if options else PROVIDERS[technology]
    if request.param == "docker":
        request.getfixturevalue("docker_daemon")
    if technology == "apptainer":
        make_sifs_quickly(request.getfixturevalue("monkeypatch"))
    if technology == "sarus":
        request.getfixturevalue("monkeypatch").setattr(sarus_image, "sarus_directory", lambda: LOADED)
    skip_unless_usable(provider.probe(), request.param)
    provider.prepare(image.root, image.digest)
    return provider


def of_a_user(technology: str) -> Provider:
    """The provider as an ordinary user's contract tries it."""
    return PROVIDERS[technology].configured(OF_A_USER.get(technology, {}))


def make_sifs_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep them from one test to the next, and apart from those that are measured."""
    SIFS.parent.mkdir(exist_ok=True)
    monkeypatch.setattr(apptainer_sif, "COMPRESSION", QUICKLY)
    monkeypatch.setattr(apptainer_sif, "sifs_directory", lambda: SIFS)


def skip_unless_usable(probe: Probe, name: str) -> None:
    """Skip with the reason and the way out; an exception of Python for a reason is a fault of Tare, and fails."""
    if not probe.usable:
        assert not _FAULT.search(probe.reason), f"{name}: {probe.reason}"
        pytest.skip(f"{name}: {probe.reason}; {probe.remedy}")


def lend_guest_parts(state: Path) -> None:
    """Let a test's own state folder have the kernels and disks of guests that are there: making them takes seconds."""
    state.mkdir(parents=True, exist_ok=True)
    for name in ("kernels", "disks"):
        (KEPT / name).mkdir(parents=True, exist_ok=True)
        (state / name).symlink_to(KEPT / name)
    (state / "kvm.json").symlink_to(KEPT / "kvm.json")
