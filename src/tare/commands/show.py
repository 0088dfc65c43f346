# SPDX-License-Identifier: Apache-2.0
"""``tare show``: a result's tables, or its JSON."""

import json
import sys
from pathlib import Path

from tare.records import Analysis


def run_show(result: Path, as_json: bool, show_all: bool) -> int:
    """Print to standard output; ``show_all`` adds the undecided rows to the tables, JSON always has all."""
    from tare.pipeline import analyse_result

    print_analysis(analyse_result(result), as_json=as_json, show_all=show_all)
    return 0


def print_analysis(analysis: Analysis, *, as_json: bool, show_all: bool) -> None:
    """Print what ``run_show`` prints, of an analysis that is at hand."""
    if as_json:
        from tare.report.machine import to_json

        print(json.dumps(to_json(analysis), indent=2, allow_nan=False))
        return
    from rich.console import Console

    from tare.report.table import print_tables

    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal that has no minus sign still gets its table
    print_tables(analysis, Console(file=sys.stdout, highlight=False), show_all=show_all)
