# SPDX-License-Identifier: Apache-2.0
"""``tare report``: a result's report as one HTML file."""

from pathlib import Path

from tare.commands.show import measured_result
from tare.errors import ExitCode


def run_report(result: Path, output: Path | None, view: str | None = None) -> ExitCode:
    """Write ``output``, by default ``RESULT/report.html``, and print where it is.

    With a ``view`` write that table or figure of a paper alone, by default ``RESULT/VIEW.html``; ``list`` prints which
    there are. ``JournalError`` if a file is in a folder that others could have prepared.
    """
    from tare.commands.published import LIST, own_views, print_views, write_view
    from tare.journal.result import ResultFolder, require_own
    from tare.report.document import write_report

    if view == LIST:
        print_views(measured_result(result), LIST, as_json=False)
        return ExitCode.DONE
    if output is None:
        require_own(ResultFolder(result))
    path = output or ResultFolder(result).report
    analysis = measured_result(result)
    if view is None:
        write_report(analysis, path, own_views(analysis))
    else:
        path = output or path.with_name(f"{view.lower().replace(':', '-')}.html")
        write_view(analysis, view, path)
    print(path)
    return ExitCode.DONE
