# SPDX-License-Identifier: Apache-2.0
"""Whatever names the exit codes names the ones of the list, each once."""

import re

from tare.cli.options import EXIT_CODES
from tare.errors import ExitCode
from tests.conftest import REPOSITORY

ALL = sorted(ExitCode)


def test_the_help_names_every_exit_code() -> None:
    assert list(map(int, re.findall(r"\b\d+\b", EXIT_CODES))) == ALL


def test_the_tutorial_has_a_row_for_every_exit_code() -> None:
    text = (REPOSITORY / "docs" / "tutorial.md").read_text()
    _, _, after = text.partition("end with one of these exit codes:\n")
    table, _, _ = after.strip().partition("\n\n")
    assert list(map(int, re.findall(r"^\| (\d+) \|", table, re.MULTILINE))) == ALL


def test_other_documents_speak_of_exit_codes_that_there_are() -> None:
    texts = [path.read_text() for path in (REPOSITORY / "docs").glob("*.md")]
    named = {int(code) for text in texts for code in re.findall(r"ends? with exit code (\d+)", text)}
    assert named
    assert named <= set(ALL)
