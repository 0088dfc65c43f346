# SPDX-License-Identifier: Apache-2.0
"""What Tare prints of a recorded result: its JSON, all of its tables, its report.

    python -m tests.golden.printed [NAME ...]

writes them anew of the results below ``tests/golden/outputs``, after a change that is meant to be seen: read the
difference before you commit it. A folder there holds ``result.tar.xz``, the campaign and the journal of a result as
they were written, and what was printed of it.
"""

import contextlib
import io
import json
import lzma
import os
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from unittest.mock import patch

from tare.commands.show import print_analysis, print_answer
from tare.pipeline import analyse_result
from tare.records import Analysis
from tare.report.document import write_report

RESULTS = Path(__file__).parent / "outputs"
RECORDED = "result.tar.xz"
JSON, TABLES, REPORT = "show.json.xz", "tables.txt", "report.html.xz"
_DIGITS = 10
"""Of a number in JSON: processors of another kind add up in another order."""
_WIDTH = "200"
_FOLDER = "result"


def names() -> list[str]:
    return sorted(path.parent.name for path in RESULTS.glob(f"*/{RECORDED}"))


def printed(name: str, folder: Path) -> Mapping[str, str]:
    """File name → its text, of a result that is unpacked below ``folder``."""
    _unpack(RESULTS / name / RECORDED, folder / _FOLDER)
    with contextlib.chdir(folder), patch.dict(os.environ, {"COLUMNS": _WIDTH}, clear=True):
        analysis = analyse_result(Path(_FOLDER))
        write_report(analysis, Path("report.html"))
        return {
            JSON: _rounded(_shown(analysis, as_json=True)),
            TABLES: _shown(analysis, as_json=False),
            REPORT: Path("report.html").read_text(encoding="utf-8"),
        }


def _unpack(packed: Path, folder: Path) -> None:
    """By hand: Python 3.12 warns of an extraction without a filter, and 3.11.2 knows no filters."""
    with tarfile.open(packed) as archive:
        for member in archive:
            if (opened := archive.extractfile(member)) is not None:
                (folder / member.name).parent.mkdir(parents=True, exist_ok=True)
                (folder / member.name).write_bytes(opened.read())


def recorded(name: str) -> Mapping[str, str]:
    """The same as it was written down."""
    return {file: _content(RESULTS / name / file) for file in (JSON, TABLES, REPORT)}


def write_down(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for file, text in printed(name, Path(folder)).items():
            content = text.encode()
            (RESULTS / name / file).write_bytes(lzma.compress(content) if file.endswith(".xz") else content)


def _shown(analysis: Analysis, *, as_json: bool) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        print_analysis(analysis, as_json=as_json, show_all=True)
        if not as_json:
            print_answer(analysis, Path("report.html"))
    return shown.getvalue()


def _rounded(text: str) -> str:
    shown = json.loads(text, parse_float=lambda number: float(f"{float(number):.{_DIGITS}g}"))
    return json.dumps(shown, indent=1, ensure_ascii=False)


def _content(path: Path) -> str:
    content = path.read_bytes()
    return (lzma.decompress(content) if path.suffix == ".xz" else content).decode()


if __name__ == "__main__":
    for chosen in sys.argv[1:] or names():
        write_down(chosen)
