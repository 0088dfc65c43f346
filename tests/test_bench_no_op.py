# SPDX-License-Identifier: Apache-2.0
"""The no-op check says "within" only of an interval that lies within, and uses each resource as often as it says."""

import subprocess
from pathlib import Path

import pytest
from bench.no_op import COUNTS, build, said, shown

from tare.records import Estimate


def estimate(low: float | None, high: float | None) -> Estimate:
    return Estimate(point=0.0, low=low, high=high, level=0.99, n=10)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (-0.0009, 0.0009, "within ±0.1%"),
        (0.0002, 0.0008, "within ±0.1%"),
        (-0.0009, 0.0011, "resolves ±0.10%"),
        (-0.002, 0.002, "resolves ±0.20%; ±0.1% takes about 12,000 rounds, 4 min 0 s"),
        (0.0012, 0.002, "NOT within ±0.1%"),
        (-0.002, -0.001, "NOT within ±0.1%"),
        (None, None, "too few blocks for 99%"),
    ],
)
def test_within_is_said_of_an_interval_that_lies_within_alone(
    low: float | None, high: float | None, words: str
) -> None:
    line = said(estimate(low, high), rounds=300, took_s=60.0)
    assert line.endswith(words) or f"{words};" in line
    assert shown(estimate(low, high)) == (": within" in line)


def test_each_resource_is_used_once_a_turn_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    program = build(tmp_path)
    for resource in COUNTS:
        done = subprocess.run(
            [program, resource, "3"],
            input=b"go\n" * 4,
            capture_output=True,
            cwd=tmp_path,
            check=True,
            timeout=20,
        )
        assert [line.split()[0] for line in done.stdout.splitlines()] == [b"slice"] * 4
    refused = subprocess.run([program, "heat", "3"], capture_output=True, check=False, timeout=20)
    assert (refused.returncode, refused.stdout) == (2, b"")
