# SPDX-License-Identifier: Apache-2.0
"""Whether all nodes fit at the same time."""

from pathlib import Path

import pytest

from tare.errors import HostError
from tare.host.memory import lacking_memory

GIBIBYTE = 1 << 30
MEMINFO = "MemTotal:        8131620 kB\nMemFree:          312345 kB\nMemAvailable:    4194304 kB\n"


@pytest.fixture
def meminfo(tmp_path: Path) -> Path:
    path = tmp_path / "meminfo"
    path.write_text(MEMINFO)
    return path


def test_what_fits_exactly_is_not_refused(meminfo: Path) -> None:
    assert lacking_memory(4, GIBIBYTE, meminfo) is None


def test_what_does_not_fit_is_said_with_both_sizes(meminfo: Path) -> None:
    words = lacking_memory(5, GIBIBYTE, meminfo)
    assert words is not None
    assert "5 nodes of 1 GiB at the same time need 5 GiB, and this host has 4 GiB available" in words


def test_a_host_that_does_not_tell_is_an_error(meminfo: Path) -> None:
    meminfo.write_text("MemTotal: 1 kB\n")
    with pytest.raises(HostError, match="does not tell the available memory"):
        lacking_memory(1, 1, meminfo)
