# SPDX-License-Identifier: Apache-2.0
"""``tare export``: a result for other programs, papers and people who want to run it again."""

import gzip
import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tare.commands.show import measured_result
from tare.errors import ExitCode, InputError, OutputError
from tare.journal.result import CAMPAIGN_FILE, ResultFolder, journal_files
from tare.plan.problems import nearest

if TYPE_CHECKING:
    from tare.records import Analysis

TABLES = ("verdicts", "samples")
_FORMATS = {
    ".csv": "csv",
    ".parquet": "parquet",
    ".md": "markdown",
    ".tex": "latex",
    ".json": "json",
    ".tar.gz": "archive",
    ".tgz": "archive",
}
"""Ending of a file's name → its format."""
FORMATS = tuple(dict.fromkeys(_FORMATS.values()))
_OF_VERDICTS = ("markdown", "latex")
_README = """This is a result of Tare, a tool that measures what containers and virtual machines cost.

Show it:    tare show .
Repeat it:  tare run campaign.json --output again

It was measured with Tare {version}, the image {image} ({digest}) and the seed {seed}.
image.json describes that image.
"""


def run_export(result: Path, output: Path, table: str, kind: str | None) -> ExitCode:
    """Write ``output`` and print its name; the format follows from its name unless ``kind`` names it.

    Raises ``InputError`` for an unknown format or table, or an existing file; ``OutputError`` if it cannot be written.
    """
    chosen = kind or _by_name(output)
    if chosen not in FORMATS:
        raise InputError(f"--format: {chosen!r} is none of {', '.join(FORMATS)}{nearest(chosen, FORMATS)}")
    if table not in TABLES:
        raise InputError(f"--table: {table!r} is none of {', '.join(TABLES)}{nearest(table, TABLES)}")
    if table == "samples" and chosen in _OF_VERDICTS:
        raise InputError(f"--table samples: {chosen} is for the verdicts; write .csv or .parquet")
    content = _content(measured_result(result), ResultFolder(result), table, chosen)
    try:
        with output.open("xb") as opened:
            opened.write(content)
    except FileExistsError:
        raise InputError(f"{output} is there already; choose another name, or remove it") from None
    except OSError as error:
        raise OutputError(f"cannot write {output}: {error.strerror}") from error
    print(output)
    return ExitCode.DONE


def _by_name(output: Path) -> str:
    ending = next((ending for ending in _FORMATS if output.name.endswith(ending)), None)
    if ending is None:
        raise InputError(
            f"{output}: its name shows no format; end it with {', '.join(_FORMATS)}, or use --format"
        )
    return _FORMATS[ending]


def _content(analysis: "Analysis", folder: ResultFolder, table: str, kind: str) -> bytes:
    from tare.report import exports

    if kind == "archive":
        return _archive(analysis, folder)
    if kind == "json":
        from tare.report.machine import to_json

        return (json.dumps(to_json(analysis), indent=2, allow_nan=False) + "\n").encode()
    if kind == "markdown":
        return exports.to_markdown(analysis).encode()
    if kind == "latex":
        return exports.to_latex(analysis).encode()
    rows = list(exports.sample_rows(analysis)) if table == "samples" else exports.verdict_rows(analysis)
    return _parquet(rows) if kind == "parquet" else exports.to_csv(rows).encode()


def _parquet(rows: Sequence[Mapping[str, object]]) -> bytes:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError(
            "Parquet takes the extra \"large\": pip install 'tare[large]'; or write .csv"
        ) from None
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist([dict(row) for row in rows]), sink)
    return bytes(sink.getvalue().to_pybytes())


def _archive(analysis: "Analysis", folder: ResultFolder) -> bytes:
    """The campaign and the journal byte for byte, and what describes the image; the same every time."""
    last = analysis.sessions[-1]
    readme = _README.format(
        version=last.tare_version, image=last.image_name, digest=last.image_digest, seed=last.seed
    )
    files = {
        "README.txt": readme.encode(),
        "image.json": _image(last.image_name, last.image_digest),
        CAMPAIGN_FILE: (folder.path / CAMPAIGN_FILE).read_bytes(),
        **{f"journal/{file.name}": file.read_bytes() for file in journal_files(folder.journal)},
    }
    if folder.calibration.is_file():
        files[folder.calibration.name] = folder.calibration.read_bytes()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in sorted(files.items()):
            member = tarfile.TarInfo(f"{folder.path.resolve().name}/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), mtime=0)


def _image(name: str, digest: str) -> bytes:
    """The manifest of the image, if this host still has it."""
    from tare.errors import TareError
    from tare.image import find_image

    try:
        image = find_image(name)
    except TareError:
        image = None
    same = image is not None and image.digest == digest
    known = dict(image.manifest) if image is not None and same else {"digest": digest, "name": name}
    return (json.dumps(known, indent=1, sort_keys=True) + "\n").encode()
