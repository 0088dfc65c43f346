# SPDX-License-Identifier: Apache-2.0
"""Calibrations, each stored as a file, and the newest one for a host and a version."""

import json
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from tare import __version__
from tare.errors import JournalError
from tare.host.facts import host_facts, host_identity
from tare.host.own_files import read_plain
from tare.host.paths import calibrations_directory
from tare.journal.result import ResultFolder
from tare.journal.whole import write_whole
from tare.records import SCHEMA, Calibration


@cache
def _adapter() -> TypeAdapter[Calibration]:
    """Built on demand, as few results have a calibration."""
    return TypeAdapter(Calibration)


def encode_calibration(calibration: Calibration) -> str:
    """The calibration as JSON, with its schema."""
    body = _adapter().dump_python(calibration, mode="json")
    return json.dumps({"schema": SCHEMA, "passed": calibration.passed, **body}, indent=1) + "\n"


def keep_calibration(directory: Path, calibration: Calibration) -> Path:
    """Write it atomically; ``JournalError`` if that is not possible."""
    stamp = "".join(letter for letter in calibration.ended_utc if letter.isalnum())
    return write_calibration(directory / f"{stamp}.json", calibration)


def write_calibration(path: Path, calibration: Calibration) -> Path:
    """Write it to a given file, as ``keep_calibration`` does."""
    try:
        write_whole(path, encode_calibration(calibration))
    except OSError as error:
        raise JournalError(f"cannot keep the calibration in {path.parent}: {error.strerror}") from error
    return path


def read_calibration(path: Path) -> Calibration | None:
    """``None`` if it is missing or this version cannot read it: it is only cited, and no result depends on it."""
    try:
        document = json.loads(read_plain(path))
        fields = {name: value for name, value in document.items() if name not in {"schema", "passed"}}
        return _adapter().validate_python(fields, strict=False) if document["schema"] == SCHEMA else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, ValidationError):
        return None


def newest_calibration(directory: Path, host_identity: str, version: str) -> Calibration | None:
    """The most recently ended calibration of this host with this version of Tare."""
    kept = (read_calibration(path) for path in directory.glob("*.json"))
    fitting = [
        calibration
        for calibration in kept
        if calibration is not None
        and (calibration.host_identity, calibration.tare_version) == (host_identity, version)
    ]
    return max(fitting, key=lambda calibration: calibration.ended_utc, default=None)


def cite_calibration(folder: ResultFolder) -> None:
    """Copy the newest calibration of the present host by this version into the result folder.

    The report is then the same wherever it is drawn.
    """
    fitting = newest_calibration(calibrations_directory(), host_identity(host_facts()), __version__)
    if fitting is not None and folder.exists():
        write_calibration(folder.calibration, fitting)
