# SPDX-License-Identifier: Apache-2.0
"""plant: work of a stated size, more of it when that is planted, and a transfer that arrives whole."""

import subprocess
from pathlib import Path

import pytest

MULTIPLIER, INCREMENT = 6364136223846793005, 1442695040888963407


def run(programs: Path, *argv: object, planted: str | None = None) -> subprocess.CompletedProcess[bytes]:
    variables = {} if planted is None else {"TARE_PLANT": planted}
    command = [str(programs / "plant"), *map(str, argv)]
    return subprocess.run(command, env=variables, capture_output=True, check=False, timeout=20)


def worked(iterations: int) -> bytes:
    state, total = 1, 0.0
    for _ in range(iterations):
        state = (state * MULTIPLIER + INCREMENT) % 2**64
        total += state >> 33
    return f"worked {iterations} iterations: {state} {total:.0f}\n".encode()


@pytest.mark.parametrize(
    ("planted", "iterations"),
    [(None, 200), ("0", 200), ("0.05", 210), ("-0.5", 100), ("-1", 0), ("0.000000001", 200)],
)
def test_it_does_as_much_more_work_as_was_planted(
    programs: Path, planted: str | None, iterations: int
) -> None:
    done = run(programs, "work", 200, planted=planted)
    assert (done.returncode, done.stdout) == (0, worked(iterations))


@pytest.mark.parametrize("size_byte", [1, 65536, 65537, 3_000_001])
def test_every_byte_of_a_transfer_arrives(programs: Path, size_byte: int) -> None:
    done = run(programs, "transfer", size_byte)
    whole, rest = divmod(size_byte, 65536)
    checksum = whole * sum(range(256)) * 256 + sum(place % 256 for place in range(rest))
    assert done.stdout == f"transferred {size_byte} byte: {checksum}\n".encode()
    assert done.returncode == 0


@pytest.mark.parametrize("planted", ["", "x", "-1.01", "nan", "inf", "1001", "0.05 "])
def test_it_refuses_to_plant_what_is_no_share(programs: Path, planted: str) -> None:
    done = run(programs, "work", 5, planted=planted)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"TARE_PLANT" in done.stderr


@pytest.mark.parametrize(
    "argv", [(), ("work",), ("work", "0"), ("work", "-1"), ("work", "1e3"), ("rest", "3"), ("work", "3", "4")]
)
def test_it_says_how_it_is_used(programs: Path, argv: tuple[str, ...]) -> None:
    done = run(programs, *argv)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"plant: write: ")
