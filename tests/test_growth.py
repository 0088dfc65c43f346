# SPDX-License-Identifier: Apache-2.0
"""An analysis takes as many steps as there are trials, and not their square: steps are counted, not timed."""

import math
import sys
from pathlib import Path
from types import FrameType

from bench.fake_results import write_result

from tare.pipeline import analyse_result


def steps(result: Path) -> int:
    """How often a function is called, or a generator goes on, while the result is analysed."""
    counted = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal counted
        counted += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        analyse_result(result)
    finally:
        sys.setprofile(None)
    return counted


def test_four_times_the_blocks_take_four_times_the_steps(tmp_path: Path) -> None:
    few, many = 40, 160
    for blocks in (few, many):
        write_result(tmp_path / str(blocks), blocks, environments=1)
    analyse_result(tmp_path / str(few))  # what is loaded and kept for all is not of the first result
    exponent = math.log(steps(tmp_path / str(many)) / steps(tmp_path / str(few))) / math.log(many / few)
    assert 0.5 < exponent < 1.05
