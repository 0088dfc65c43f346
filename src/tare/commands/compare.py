# SPDX-License-Identifier: Apache-2.0
"""``tare compare``: results against each other, across hosts, dates, images and versions."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tare.commands.imported import any_imported, compare_imports
from tare.commands.show import measured_result
from tare.errors import ExitCode, InputError

if TYPE_CHECKING:
    from tare.records import Analysis


def run_compare(results: Sequence[Path], as_json: bool, verbose: bool) -> ExitCode:
    """Print the comparison with the first result; ``CANNOT`` if nothing can be compared.

    Raises ``InputError`` for fewer than two results, or for two that share measurements. Files of other tools are
    compared by their arms, of which one file may hold several.
    """
    if any_imported(results):
        return compare_imports(results, as_json=as_json, verbose=verbose)
    if len(results) < 2:  # noqa: PLR2004 - a comparison has two sides
        raise InputError("name at least two result folders, the reference first")
    from tare.analyze import compare_results
    from tare.commands.console import PlainConsole
    from tare.report.across_results import comparison_json, print_comparison

    analyses = [measured_result(path) for path in results]
    refuse_shared(analyses)
    comparison = compare_results(analyses)
    if as_json:
        print(json.dumps(comparison_json(comparison), indent=2, allow_nan=False))
    else:
        print_comparison(comparison, PlainConsole(), verbose=verbose)
    return ExitCode.DONE if comparison.changes else ExitCode.CANNOT


def refuse_shared(analyses: Sequence["Analysis"]) -> None:
    """``InputError`` if two results hold the same session: they would not be independent."""
    owner: dict[str, str] = {}
    for analysis in analyses:
        for session in analysis.sessions:
            if session.identity in owner:
                raise InputError(
                    f"{owner[session.identity]} and {analysis.result} hold the same measurements; leave one of them out"
                )
        owner |= {session.identity: analysis.result for session in analysis.sessions}
