# SPDX-License-Identifier: Apache-2.0
"""Another host for tests: an sshd on the loopback, and the folder where it keeps Tare's things."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.environments.far_example import PROVIDER, far_spec, leftovers
from tests.environments.loopback_sshd import SSHD, Sshd, running_sshd

from tare.image.store import Image
from tare.nodes.provider import NodeSpec


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    if SSHD is None:
        pytest.skip("no sshd: apt-get install openssh-server")
    if os.geteuid() != 0:
        pytest.skip("the nodes behind it need root for mounts and cgroups")
    with running_sshd(tmp_path_factory.mktemp("ssh") / "sshd") as result:
        yield result


@pytest.fixture(scope="session")
def far(sshd: Sshd, image: Image) -> Path:
    """The other host's state folder, with the image in it."""
    folder = sshd.folder.parent / "far"
    provider = PROVIDER.configured(sshd.reach(folder))
    assert provider.probe().usable
    provider.prepare(image.root, image.digest)
    return folder


@pytest.fixture
def spec_on_far(sshd: Sshd, far: Path, image: Image, state: Path) -> Iterator[NodeSpec]:
    """A node to start there, of which nothing may be left afterwards."""
    made = far_spec(sshd.reach(far), image, state)
    yield made
    left = leftovers(far, made.name)
    PROVIDER.stop(made)
    assert left == []
