# SPDX-License-Identifier: Apache-2.0
"""``tare show``: print a result's tables, or its JSON."""

import json
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tare.collection import without_collection
from tare.commands.imported import any_imported, show_imports
from tare.commands.profiled import is_profile, show_profile
from tare.commands.submitted import jobs_said
from tare.errors import ExitCode, InputError, JournalError
from tare.journal.result import ResultFolder

if TYPE_CHECKING:
    from tare.records import Analysis, Treatment

_LEFT_OUT = {
    "OPENBLAS_NUM_THREADS": "1",  # its threads wait busily between sums so small that one thread is as fast
    "PYDANTIC_DISABLE_PLUGINS": "__all__",  # looking for plugins, it reads the metadata of every installed package
}
"""Switches off what pays only in a longer-lived process."""


@contextmanager
def _lightly() -> Iterator[None]:
    """Apply ``_LEFT_OUT`` where the user has set nothing; load numpy within, as OpenBLAS reads it then."""
    added = {name: value for name, value in _LEFT_OUT.items() if name not in os.environ}
    os.environ.update(added)
    try:
        with without_collection():
            yield
    finally:
        for name in added:
            del os.environ[name]


@_lightly()
def run_show(
    result: Path, as_json: bool, show_all: bool, treatment: str | None = None, view: str | None = None
) -> ExitCode:
    """Print to standard output; ``show_all`` adds the undecided rows to the tables, JSON always has all.

    With a ``treatment``, a paper's short name, print that paper's figures beside Tare's instead; with a ``view`` what a
    paper printed beside what this result shows of it. Raises ``InputError`` for an unknown name.
    """
    if treatment is not None and view is not None:
        raise InputError("--as and --treatment are two outputs; ask for one of them")
    named = _treatment(treatment) if treatment is not None else None
    if is_profile(result):
        return show_profile(result, as_json=as_json, show_all=show_all)
    jobs = None if as_json else jobs_said(ResultFolder(result))
    if jobs is not None and not ResultFolder(result).exists():
        print(jobs)  # the first job may have locked the result, and written nothing else
        return ExitCode.DONE
    if any_imported([result]):
        if named is not None or view is not None:
            raise InputError(f"--treatment and --as are for results of Tare, which {result} is not")
        return show_imports([result], as_json=as_json)
    analysis = measured_result(result)
    if view is not None:
        from tare.commands.published import print_views

        print_views(analysis, view, as_json=as_json)
    elif named is not None:
        _print_as_the_paper(analysis, named, as_json=as_json, show_all=show_all)
    else:
        print_analysis(analysis, as_json=as_json, show_all=show_all)
        if not as_json:
            print()
            print_answer(analysis, ResultFolder(result).report)
    if jobs is not None:
        print(jobs)
    return ExitCode.DONE


def measured_result(path: Path) -> "Analysis":
    """The analysis of a result; ``JournalError`` for a folder with a campaign of which nothing was measured."""
    from tare.pipeline import analyse_result

    analysis = analyse_result(path)
    if not analysis.sessions:
        raise JournalError(
            f"{path} holds a campaign and no measurement: nothing was run yet, or its journal was removed; "
            f"tare run {shlex.quote(str(path))} measures it"
        )
    return analysis


def print_answer(analysis: "Analysis", report: Path) -> None:
    """Print the verdicts, the cause, the next step and the report's name: the last that a reader sees."""
    from tare.commands.console import PlainConsole
    from tare.report.brief import print_brief

    print_brief(analysis, report, PlainConsole())


def _treatment(name: str) -> "Treatment":
    from tare.records import Treatment

    try:
        return Treatment(name.lower())
    except ValueError as error:
        known = ", ".join(Treatment)
        raise InputError(f"--treatment {name}: there is no such paper; choose one of {known}") from error


def _print_as_the_paper(
    analysis: "Analysis", treatment: "Treatment", *, as_json: bool, show_all: bool
) -> None:
    from tare.analyze import all_replications
    from tare.commands.console import PlainConsole
    from tare.report import integrity, replication

    treated = all_replications(analysis, treatment)
    if as_json:
        shown = replication.json(treated, treatment, analysis.integrity)
        print(json.dumps(shown, indent=2, allow_nan=False))
    else:
        console = PlainConsole()
        integrity.table(analysis, console)
        replication.table(treated, treatment, console, show_all=show_all)


def print_analysis(analysis: "Analysis", *, as_json: bool, show_all: bool) -> None:
    """Print the output of ``run_show`` for an existing analysis."""
    if as_json:
        from tare.report.machine import to_json

        print(json.dumps(to_json(analysis), indent=2, allow_nan=False))
        return
    from tare.commands.console import PlainConsole
    from tare.report.table import print_tables

    print_tables(analysis, PlainConsole(), show_all=show_all)
