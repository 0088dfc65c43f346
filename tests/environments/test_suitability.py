# SPDX-License-Identifier: Apache-2.0
"""The table of what technologies are like has one row each, and says what their providers do."""

import pytest

from tare.analyze.advice import unsuitable
from tare.environments import PROVIDERS
from tare.environments.suitability import SUITABILITY, suitability_of
from tare.nodes.provider import Shared
from tare.nodes.unprivileged import AlsoUnprivileged
from tare.records import Environment
from tare.records.advice import Isolation, Need, Required

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
    machine = Environment(name="d", technology="docker", options={"runtime": "kata-qemu"})
    assert suitability_of(machine).own_kernel
    far = Environment(name="s", technology="ssh", options={"below": "podman"})
    assert suitability_of(far) == SUITABILITY["podman"]
    assert suitability_of(Environment(name="s", technology="ssh")).root is None


@pytest.mark.parametrize("runtime", ["nvidia", "youki"])
def test_a_docker_runtime_like_runc_is_like_docker_and_gives_devices(runtime: str) -> None:
    docker = Environment(name="d", technology="docker", options={"runtime": runtime})
    assert suitability_of(docker) == SUITABILITY["docker"]
    assert PROVIDERS["docker"].refuse_devices(docker.options) is None


def test_a_docker_runtime_of_another_name_is_not_known_to_have_a_kernel_of_its_own() -> None:
    row = suitability_of(Environment(name="d", technology="docker", options={"runtime": "mine"}))
    assert (row.own_kernel, row.isolation, row.gpu) == (None, None, None)
    assert row.images == SUITABILITY["docker"].images
    for need in (Need.OWN_KERNEL, Need.GPU):
        assert (unsuitable(row, Required(need=need)) or "").startswith("not known")


@pytest.mark.parametrize("name", sorted(PROVIDERS.keys() - DEPENDING - {"native", "host", "fake"}))
def test_files_alone_are_what_nodes_with_the_hosts_name_have(name: str) -> None:
    isolation = SUITABILITY[name].isolation
    assert (isolation is Isolation.FILES) is (name == "chroot" or Shared.HOST_NAME in PROVIDERS[name].shares)
