# SPDX-License-Identifier: Apache-2.0
import os
from pathlib import Path

import pytest

from tests.submission.scheduler_commands import Commands


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return Commands(tmp_path)
