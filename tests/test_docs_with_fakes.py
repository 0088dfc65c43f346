# SPDX-License-Identifier: Apache-2.0
"""Documents whose commands measure nothing but fakes: they run beside other tests."""

import os
from pathlib import Path

import pytest

from tare.image.store import Image
from tests.test_docs import DOCUMENTS, WITH_FAKES, run_shown, shell_blocks


@pytest.mark.root
@pytest.mark.timeout(280)
@pytest.mark.skipif(os.geteuid() != 0, reason="the commands are shown to root")
@pytest.mark.parametrize(
    "document", [each for each in DOCUMENTS if each.name in WITH_FAKES], ids=lambda path: path.name
)
def test_the_shown_commands_run(document: Path, image: Image, tmp_path: Path) -> None:
    text = "".join(shell_blocks(document))
    assert "tare weigh" not in text.replace("tare weigh --help", "")
    assert text.count('technology = "') == text.count('technology = "fake"')
    run_shown(document, image, tmp_path)
