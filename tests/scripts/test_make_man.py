# SPDX-License-Identifier: Apache-2.0
"""The manual pages say what the help says, and roff reads them without a warning."""

import shutil
import subprocess

import pytest
from scripts.make_man import _plain, pages


def test_every_command_has_a_page_with_its_options() -> None:
    made = pages()
    assert {"tare.1", "tare-weigh.1", "tare-image-import.1", "tare-compare.1"} <= set(made)
    weigh = made["tare-weigh.1"]
    assert ".B \\-\\-variable NAME=A,B,C" in weigh
    assert ".SH EXIT STATUS" in weigh


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
@pytest.mark.parametrize("name", ["tare.1", "tare-weigh.1"])
def test_a_page_is_read_without_a_warning(name: str) -> None:
    done = subprocess.run(
        ["groff", "-ww", "-man", "-Tascii", "-z"],
        input=pages()[name],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_no_text_is_taken_for_a_request_of_roffs() -> None:
    assert _plain(".SH x") == "\\&.SH x"
    assert _plain("'a\\b") == "\\&'a\\eb"
