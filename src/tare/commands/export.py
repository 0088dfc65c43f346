# SPDX-License-Identifier: Apache-2.0
"""``tare export``: a result for other programs, papers and people who want to run it again."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tare.commands.export_figures import FIGURES, write_figures
from tare.commands.export_trace import TRACES, is_asked, write_trace
from tare.commands.imported import any_imported, imported_comparison
from tare.commands.show import measured_result
from tare.errors import ExitCode, InputError, OutputError
from tare.journal.result import CAMPAIGN_FILE, ResultFolder, journal_files
from tare.plan.problems import nearest

if TYPE_CHECKING:
    from tare.records import Analysis
    from tare.report.exports import TextTable

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
FORMATS = (*dict.fromkeys(_FORMATS.values()), *FIGURES, *TRACES)
_OF_RESULTS = ("archive", *FIGURES)
_OF_VERDICTS = ("markdown", "latex")
_README = """This is a result of Tare, a tool that measures what containers and virtual machines cost.

Show it:    tare show .
Repeat it:  tare run campaign.json --output again

It was measured with Tare {version}, the image {image} ({digest}) and the seed {seed}.
image.json describes that image.
"""


def run_export(results: Sequence[Path], output: Path, table: str, kind: str | None) -> ExitCode:
    """Write ``output`` and print its name; the format follows from its name unless ``kind`` names it.

    One result of Tare, a trace of the profiler, or what ``tare compare`` takes from other tools. Raises ``InputError``
    for an unknown format or table, or an existing file; ``OutputError`` if it cannot be written.
    """
    if is_asked(kind, results):
        write_trace(results, output, kind)
        print(output)
        return ExitCode.DONE
    chosen = kind or _by_name(output)
    if chosen not in FORMATS:
        raise InputError(f"--format: {chosen!r} is none of {', '.join(FORMATS)}{nearest(chosen, FORMATS)}")
    if table not in TABLES:
        raise InputError(f"--table: {table!r} is none of {', '.join(TABLES)}{nearest(table, TABLES)}")
    if table == "samples" and chosen in _OF_VERDICTS:
        raise InputError(f"--table samples: {chosen} is for the verdicts; write .csv or .parquet")
    imported = any_imported(results)
    if not imported and len(results) > 1:
        raise InputError("export one result of Tare at a time; tare compare sets several against each other")
    if imported and chosen in _OF_RESULTS:
        raise InputError(f"--format: {chosen} is for results of Tare, which {results[0]} is not")
    if chosen in FIGURES:
        write_figures(measured_result(results[0]), output, chosen)
    else:
        content = _imported(results, table, chosen) if imported else _content(results[0], table, chosen)
        _write(output, content)
    print(output)
    return ExitCode.DONE


def _write(output: Path, content: bytes) -> None:
    try:
        with output.open("xb") as opened:
            opened.write(content)
    except FileExistsError:
        raise InputError(f"{output} is there already; choose another name, or remove it") from None
    except OSError as error:
        raise OutputError(f"cannot write {output}: {error.strerror}") from error


def _by_name(output: Path) -> str:
    if output.suffix.removeprefix(".") in FIGURES:
        kind = output.suffix.removeprefix(".")
        raise InputError(
            f"{output}: figures are several files; name their folder: --format {kind} -o {output.stem}"
        )
    ending = next((ending for ending in _FORMATS if output.name.endswith(ending)), None)
    if ending is None:
        raise InputError(
            f"{output}: its name shows no format; end it with {', '.join(_FORMATS)}, or use --format"
        )
    return _FORMATS[ending]


def _content(result: Path, table: str, kind: str) -> bytes:
    from tare.report import exports

    analysis = measured_result(result)
    if kind == "archive":
        return _archive(analysis, ResultFolder(result))
    if kind == "json":
        from tare.report.machine import to_json

        return _json(to_json(analysis))
    if table == "samples":
        return _table(list(exports.sample_rows(analysis)), kind)
    if kind in _OF_VERDICTS:
        return _text_table(exports.verdict_table(analysis), kind)
    return _table(exports.verdict_rows(analysis), kind)


def _imported(inputs: Sequence[Path], table: str, kind: str) -> bytes:
    from tare.report import imported_exports as exports

    comparison = imported_comparison(inputs)
    if kind == "json":
        from tare.report.imported import imported_json

        return _json(imported_json(comparison))
    if table == "samples":
        return _table(exports.value_rows(comparison), kind)
    if not comparison.differences:
        raise InputError("no two arms of it can be compared; write the values with --table samples")
    if kind in _OF_VERDICTS:
        return _text_table(exports.difference_table(comparison), kind)
    return _table(exports.difference_rows(comparison), kind)


def _json(value: Mapping[str, object]) -> bytes:
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode()


def _text_table(table: "TextTable", kind: str) -> bytes:
    from tare.report.exports import to_latex, to_markdown

    return (to_markdown if kind == "markdown" else to_latex)(table).encode()


def _table(rows: Sequence[Mapping[str, object]], kind: str) -> bytes:
    from tare.report.exports import to_csv

    return _parquet(rows) if kind == "parquet" else to_csv(rows).encode()


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
    from tare.publication.archive import image_facts, json_bytes, packed

    last = analysis.sessions[-1]
    readme = _README.format(
        version=last.tare_version, image=last.image_name, digest=last.image_digest, seed=last.seed
    )
    files = {
        "README.txt": readme.encode(),
        "image.json": json_bytes(image_facts(last.image_name, last.image_digest)),
        CAMPAIGN_FILE: (folder.path / CAMPAIGN_FILE).read_bytes(),
        **{f"journal/{file.name}": file.read_bytes() for file in journal_files(folder.journal)},
    }
    if folder.calibration.is_file():
        files[folder.calibration.name] = folder.calibration.read_bytes()
    return packed(folder.path.resolve().name, files)
