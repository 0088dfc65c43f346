# SPDX-License-Identifier: Apache-2.0
"""Of results that were recorded once, Tare prints what it printed then; ``tests.golden.printed`` writes it anew."""

import difflib
from itertools import islice
from pathlib import Path

import pytest

from tests.golden.printed import names, printed, recorded

_SHOWN = 40


@pytest.mark.parametrize("name", names())
def test_what_is_printed_of_a_recorded_result_stays_as_it_is(name: str, tmp_path: Path) -> None:
    before, now = recorded(name), printed(name, tmp_path)
    assert now.keys() == before.keys()
    for file, text in now.items():
        lines = difflib.unified_diff(before[file].splitlines(), text.splitlines(), "recorded", "now", n=1)
        difference = "\n".join(line[:400] for line in islice(lines, _SHOWN))
        assert text == before[file], f"{name}/{file}:\n{difference}"
