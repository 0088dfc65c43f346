# SPDX-License-Identifier: Apache-2.0
from collections.abc import Iterator

import pytest
from tests.slurm.cluster import Cluster, lacking, running_cluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A real Slurm of a controller and four nodes."""
    if why := lacking():
        pytest.skip(why)
    with running_cluster() as up:
        yield up
