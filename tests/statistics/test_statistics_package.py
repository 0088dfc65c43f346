# SPDX-License-Identifier: Apache-2.0
"""What a statistician finds at the front door, and that nobody pays for it who does not ask."""

import subprocess
import sys

import pytest

from tare import statistics


@pytest.mark.parametrize("name", statistics.__all__)
def test_each_name_of_the_package_is_there(name: str) -> None:
    assert getattr(statistics, name) is not None


def test_another_name_is_not() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        statistics.nothing  # noqa: B018


def test_the_records_and_the_numbers_of_blocks_load_no_numpy() -> None:
    script = "import sys, tare.records, tare.statistics.blocks; print('numpy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "False"


def test_the_examples_of_a_statistician_run() -> None:
    values = [0.02, 0.03, 0.05, 0.01, 0.04, 0.06, 0.02]
    assert statistics.hodges_lehmann(values).point == pytest.approx(0.03, abs=0.005)
    assert (
        statistics.difference_p(statistics.Differences(tuple(values)), statistics.Reach.at_once(7)) == 2**-6
    )
    assert statistics.holm([0.01, 0.04]).tolist() == [0.02, 0.04]
