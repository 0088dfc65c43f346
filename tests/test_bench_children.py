# SPDX-License-Identifier: Apache-2.0
"""What benchmarks say of processes of their own is those processes' own, and of the journal's lines."""

from pathlib import Path

import pytest
from bench import ingest
from bench.children import took

from tare.journal.result import ResultFolder
from tests.conftest import REPOSITORY


def test_a_childs_peak_of_memory_is_not_that_of_its_parent() -> None:
    parents = b"x" * (200 << 20)
    lines, own = took(REPOSITORY, "import sys; print(sys.argv[1])", "word")
    assert lines == ["word"]
    assert 1 << 20 < own.peak_byte < len(parents) / 2
    assert 0 < own.cpu_s < 5


def test_columns_that_differ_from_the_journals_lines_are_not_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest.write_result(tmp_path, 10, 2)
    digests = iter(["joined", "joined", "condensed", "lines"])
    monkeypatch.setattr(ingest, "digest", lambda *_: next(digests))
    assert not ingest.all_alike({"now": REPOSITORY}, tmp_path)
    monkeypatch.undo()
    assert ingest.all_alike({"now": REPOSITORY}, tmp_path)
    assert (ResultFolder(tmp_path).derived / "state.json").is_file()
