# SPDX-License-Identifier: Apache-2.0
import os
from pathlib import Path

import pytest

from tests.image.stand_ins import BWRAP, MMDEBSTRAP, write_program


@pytest.fixture
def stand_ins(tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in front of PATH with a mmdebstrap and a bwrap that take no time; yields it."""
    folder = tmp_path / "stand-ins"
    folder.mkdir()
    write_program(folder / "mmdebstrap", MMDEBSTRAP.replace("$COUNT", str(tmp_path / "count")))
    write_program(folder / "bwrap", BWRAP.replace("$COMPILED", str(tmp_path / "compiled")))
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    assert state.parent == tmp_path
    return folder
