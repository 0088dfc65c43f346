# SPDX-License-Identifier: Apache-2.0
"""The amounts that a calibration runs: in half an hour, or in five minutes with a coarser sieve."""

from dataclasses import dataclass

EXPERIMENT_BLOCKS = 10
"""Blocks per experiment; the blocks of P1 are cut into disjoint experiments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Blocks of each phase; at least three arms run in each block."""

    name: str
    noise_blocks: int
    truth_blocks: int
    redrawn_campaigns: int
    """Number of campaigns drawn from the measured blocks, not run."""
    drift_blocks: int
    sequential_blocks: int
    """Blocks of native alone before the blocks of native that play the environment."""
    link_blocks: int
    quota_blocks: int
    clock_blocks: int
    clean_clocks: int
    """Honest clocks in each block."""
    boot_blocks: int
    iterations: int
    """Runs of the command within each start of P8."""
    cpu_bias: float
    """The 99 % interval of the no-op's overhead in CPU time must lie inside plus or minus this."""
    run_s: float = 0.1
    """CPU time to which the work of one run is tuned."""


FULL = Size(
    name="full",
    noise_blocks=34,
    truth_blocks=600,
    redrawn_campaigns=5000,
    drift_blocks=34,
    sequential_blocks=25,
    link_blocks=60,
    quota_blocks=40,
    clock_blocks=20,
    clean_clocks=5,
    boot_blocks=40,
    iterations=5,
    cpu_bias=0.005,
)
QUICK = Size(
    name="quick",
    noise_blocks=10,
    truth_blocks=120,
    redrawn_campaigns=2000,
    drift_blocks=12,
    sequential_blocks=10,
    link_blocks=10,
    quota_blocks=10,
    clock_blocks=4,
    clean_clocks=5,
    boot_blocks=12,
    iterations=5,
    cpu_bias=0.01,
)
