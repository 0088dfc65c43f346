# SPDX-License-Identifier: Apache-2.0
"""The table of requirements names tests that exist."""

import re

from tests.conftest import REPOSITORY

TABLE = (REPOSITORY / "docs" / "method.md").read_text().partition("## Requirements")[2].partition("\n## ")[0]
ROW = re.compile(r"^\| R(\d+) \| (.+) \| (yes|in part|no) \| (.*)\|$", re.MULTILINE)


def test_every_requirement_stands_once_with_an_answer() -> None:
    assert [int(number) for number, *_ in ROW.findall(TABLE)] == list(range(1, 37))


def test_what_is_met_is_shown_and_what_shows_it_exists() -> None:
    defined = {
        name
        for path in (REPOSITORY / "tests").rglob("*.py")
        for name in re.findall(r"^ *def (test_\w+)", path.read_text(), re.MULTILINE)
    }
    named = set(re.findall(r"`(test_\w+)`", TABLE))
    assert len(named) > 20
    assert named - defined == set()
    assert all(shown.strip() for _, _, met, shown in ROW.findall(TABLE) if met != "no")
