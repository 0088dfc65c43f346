# SPDX-License-Identifier: Apache-2.0
"""A result's journal, read as records, or from columns beside it where it is large."""

from importlib.util import find_spec

from tare.errors import JournalError
from tare.journal.reader import Joining, Journal, read_journal
from tare.journal.result import ResultFolder, derived_folder

LARGE_JOURNAL_BYTE = 256 * 1024 * 1024
"""About thirty thousand trials with their signals, or two million samples; larger journals are read as columns."""


def read_result(folder: ResultFolder, joining: Joining | None = None) -> Journal:
    """Give the same outcomes either way; with ``joining`` the outcomes of a large journal have joined samples.

    ``JournalError`` as ``read_journal``, when the columns cannot be written, or pyarrow is missing.
    """
    if folder.journal_byte < LARGE_JOURNAL_BYTE:
        return read_journal(folder.journal)
    if find_spec("pyarrow") is None:
        raise JournalError(
            f"{folder.path} is large, and reading it takes the extra \"large\": pip install 'tare[large]'"
        )
    from tare.journal.columns import UNFIT, condensed  # noqa: PLC0415 - loads pyarrow, which few results need

    try:
        with derived_folder(folder) as directory:
            return condensed(folder.journal, directory).journal(joining)
    except UNFIT:
        return read_journal(folder.journal)
