# SPDX-License-Identifier: Apache-2.0
"""Software and container taken apart, against the host's own build."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.analyze.verdict_example import around, verdict_of

from tare.analyze import host_shares, rankings
from tare.records import Estimate, HostShare


def shares(host: float, docker: float, spread: float = 0.002) -> HostShare:
    judged = [verdict_of(around(host, spread), "host"), verdict_of(around(docker, spread), "docker")]
    (share,) = host_shares(rankings(judged), {"host"})
    return share


def within(estimate: Estimate, truth: float) -> bool:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low - 1e-9 <= truth <= estimate.high + 1e-9


@pytest.mark.parametrize("host", [-0.2, 0.0, 0.15])
@pytest.mark.parametrize("docker", [-0.05, 0.01, 0.3])
def test_each_share_covers_its_part_whichever_is_faster(host: float, docker: float) -> None:
    share = shares(host, docker)
    assert within(share.total, float(np.expm1(docker - host)))
    assert within(share.software, float(np.expm1(-host)))
    assert within(share.container, float(np.expm1(docker)))


@given(some.floats(-0.5, 0.5), some.floats(-0.5, 0.5))
def test_software_and_container_multiply_to_the_total(host: float, docker: float) -> None:
    share = shares(host, docker, spread=1e-6)
    product = (1 + share.software.point) * (1 + share.container.point) - 1
    assert share.total.point == pytest.approx(product, abs=1e-4)


def test_without_the_hosts_own_files_there_is_no_share() -> None:
    assert host_shares(rankings([verdict_of(around(0.1, 0.01), "docker")]), set()) == ()
