# SPDX-License-Identifier: Apache-2.0
"""No function that needs a certain processor may take the place of one that runs on all."""

import subprocess
from pathlib import Path

from tests.conftest import BUILD

HOT = ("avx2", "avx512")


def objects() -> list[Path]:
    return [path for variant in HOT for path in BUILD.glob(f"npb/**/npb_*_{variant}.dir/**/*.o")]


def test_code_for_some_processors_shares_no_function_with_the_rest(programs: Path) -> None:
    """The linker keeps one copy of each weak symbol, and may keep the one that this processor cannot run."""
    assert programs.exists()
    paths = objects()
    assert {path.name for path in paths}
    for path in paths:
        symbols = subprocess.run(["nm", "-C", str(path)], capture_output=True, text=True, check=True).stdout
        assert not [line for line in symbols.splitlines() if line[17:18] in "WVu"], path
