# SPDX-License-Identifier: Apache-2.0
"""What other tools measured, where a command takes a result: files, or folders with a file for each run."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tare.errors import ExitCode, InputError

if TYPE_CHECKING:
    from tare.records import ImportedComparison


def any_imported(inputs: Sequence[Path]) -> bool:
    """Whether they are of other tools; ``InputError`` if only some are, as there is nothing to compare them by."""
    from tare.imports.paths import is_imported

    imported = [is_imported(_named(path)[1]) for path in inputs]
    if any(imported) and not all(imported):
        own, other = inputs[imported.index(False)], inputs[imported.index(True)]
        raise InputError(
            f"{other} was not measured by Tare, {own} is not of another tool; compare results of one kind, or write "
            "Tare's own samples with tare export --table samples"
        )
    return any(imported)


def imported_comparison(inputs: Sequence[Path]) -> "ImportedComparison":
    """Read all and compare every arm with the first; ``InputError`` for what cannot be read."""
    from tare.analyze import compare_imported
    from tare.imports.files import read_source
    from tare.imports.series import arranged

    sources = [read_source(path, name) for name, path in map(_named, inputs)]
    return compare_imported(arranged(sources))


def compare_imports(inputs: Sequence[Path], *, as_json: bool, verbose: bool) -> ExitCode:
    """Print the comparison; ``CANNOT`` if nothing can be compared. ``InputError`` for a single arm."""
    comparison = imported_comparison(inputs)
    if len(comparison.arms) == 1:
        raise InputError(f"{inputs[0]} has a single arm; name a second file, or see it with tare show")
    _print(comparison, as_json=as_json, verbose=verbose)
    return ExitCode.DONE if comparison.differences else ExitCode.CANNOT


def show_imports(inputs: Sequence[Path], *, as_json: bool) -> ExitCode:
    """Print every figure."""
    _print(imported_comparison(inputs), as_json=as_json, verbose=True)
    return ExitCode.DONE


def _print(comparison: "ImportedComparison", *, as_json: bool, verbose: bool) -> None:
    from tare.commands.console import PlainConsole
    from tare.report.imported import imported_json, print_imported

    if as_json:
        print(json.dumps(imported_json(comparison), indent=2, allow_nan=False))
    else:
        print_imported(comparison, PlainConsole(), verbose=verbose)


def _named(path: Path) -> tuple[str, Path]:
    """``NAME=PATH`` in its parts; without a name for a path that is there as it is written."""
    name, equals, rest = str(path).partition("=")
    return (name, Path(rest)) if equals and name and rest and not path.exists() else ("", path)
