# SPDX-License-Identifier: Apache-2.0
"""``tare report``: a result's report as one HTML file."""

from pathlib import Path


def run_report(result: Path, output: Path | None) -> int:
    """Write ``output``, by default ``RESULT/report.html``, and print where it is."""
    from tare.pipeline import analyse_result
    from tare.report.document import write_report

    path = output or result / "report.html"
    write_report(analyse_result(result), path)
    print(path)
    return 0
