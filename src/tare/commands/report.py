# SPDX-License-Identifier: Apache-2.0
"""``tare report``: a result's report as one HTML file."""

from pathlib import Path

from tare.commands.show import measured_result
from tare.errors import ExitCode


def run_report(result: Path, output: Path | None) -> ExitCode:
    """Write ``output``, by default ``RESULT/report.html``, and print where it is.

    ``JournalError`` if that is in a folder that others could have prepared.
    """
    from tare.journal.result import ResultFolder, require_own
    from tare.report.document import write_report

    if output is None:
        require_own(ResultFolder(result))
    path = output or ResultFolder(result).report
    write_report(measured_result(result), path)
    print(path)
    return ExitCode.DONE
